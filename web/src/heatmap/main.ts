// The heatmap page: reads the profile, and shows the index or a file, as the address says.
import { el, fail } from "../shared/dom";
import { count } from "../shared/format";
import { visible } from "../shared/text";
import { onTheme, startTheme, theme, toggleTheme } from "../shared/theme";
import { readProfile, type Profile } from "./data";
import { FilePage } from "./filepage";
import { indexPage } from "./index";
import { go, onPlace, place, type Measure, type Place } from "./place";

const HOT = 0.35; // of the strength of the hottest line: what n and p stop at

const KEYS: [string, string][] = [
	["/", "search: files and functions, or text in a file"],
	["Enter", "in the search: next line that has it; Shift+Enter: the one before"],
	["j  k", "next, previous line with samples"],
	["n  p", "next, previous hot line"],
	["u", "to the caller that the line was reached from most"],
	["d", "to the function that the line called most"],
	["o  t", "heat by own, by total samples"],
	["h", "only lines with samples, or all"],
	["g", "all files"],
	["Backspace", "back"],
	["Esc", "let go of the line; leave the search; close this"],
	["m", "light, dark"],
	["?", "this help"],
];

class App {
	private readonly body = el("div", { class: "body" });
	private readonly search = el("input", { type: "search", id: "search", autocomplete: "off", spellcheck: "false", "aria-label": "Search" });
	private readonly controls = el("div", { class: "controls" });
	private readonly help = el("dialog", { class: "help", "aria-label": "Keys" });
	private page: FilePage | null = null;

	constructor(private readonly profile: Profile) {
		const one = profile.run.processes[0];
		const command = visible(one?.command ?? "");
		document.title = `${command ? `${command} - ` : ""}heatmap - tachyscope`;
		this.search.addEventListener("input", () => this.searched());
		this.search.addEventListener("keydown", (event) => this.searchKey(event));
		this.help.append(el("h2", {}, "Keys"), el("dl", {}, ...KEYS.flatMap(([keys, text]) => [el("dt", {}, ...keys.split("  ").map((k) => el("kbd", {}, k))), el("dd", {}, text)])),
			el("p", { class: "soft" }, "Own: the line itself was running. Total: it, or what it called; recursion counts once per stack. Counts are stacks of one thread; times are real time, with late and lost samples in."),
			el("button", { click: () => this.help.close() }, "Close"));
		const themeButton = el("button", { id: "theme", "aria-label": "Light or dark", title: "Light or dark (m)", click: toggleTheme });
		const icon = (): void => themeButton.replaceChildren(theme() === "dark" ? "☀" : "☾");
		onTheme(icon);
		icon();
		document.body.append(
			el("header", { class: "top" }, el("button", { class: "brand", title: "All files (g)", click: () => go({ file: null, line: 0 }) }, "tachyscope ", el("span", { class: "soft" }, "heatmap")),
				el("span", { class: "name soft command", title: command }, command), this.controls, this.search, themeButton,
				el("button", { "aria-label": "Keys", title: "Keys (?)", id: "help", click: () => this.help.showModal() }, "?")),
			this.body, this.help);
		document.addEventListener("keydown", (event) => this.key(event));
		addEventListener("resize", () => this.page?.redraw());
		onPlace((now, before) => this.moved(now, before));
		this.show();
	}

	private choice(label: string, values: [string, string, string][], now: string, then: (value: string) => void): HTMLElement {
		return el("div", { class: "choice", role: "group", "aria-label": label }, ...values.map(([value, text, about]) =>
			el("button", { "aria-pressed": value === now ? "true" : "false", "data-value": value, title: about, click: () => then(value) }, text)));
	}

	private showControls(): void {
		const { profile } = this;
		const now = place();
		const measures: [string, string, string][] = [["own", "Own", "The line itself was running (o)"], ["total", "Total", "The line, or what it called (t)"]];
		if (profile.run.opcodes) measures.push(["special", "Unspecialised", "Lines whose instructions the interpreter had not specialised"]);
		const view = el("select", { id: "view", "aria-label": "Which samples", title: "Which samples count", change: () => go({ view: view.value }, true) });
		const groups: [string, string][] = [["all", ""], ["state", "State"], ["process", "Process"], ["thread", "Thread"]];
		for (const [kind, title] of groups) {
			const options = profile.views.filter((v) => v.kind === kind).map((v) =>
				el("option", { value: v.key, selected: v.key === profile.view(now.view).key }, `${visible(v.label)} · ${count(v.nSamples)}`));
			if (title === "") view.append(...options);
			else if (options.length > 0) view.append(el("optgroup", { label: title }, ...options));
		}
		this.controls.replaceChildren(this.choice("Heat by", measures, now.measure, (m) => go({ measure: m as Measure }, true)), view);
		if (now.file === null) return;
		this.controls.append(
			this.choice("Heat relative to", [["file", "File", "The hottest line of this file is the hottest"], ["run", "Run", "The hottest line of all files is the hottest"]], now.scale, (scale) => go({ scale: scale === "run" ? "run" : "file" }, true)),
			el("button", { id: "hot", "aria-pressed": now.hot ? "true" : "false", title: "Only lines with samples (h)", click: () => go({ hot: !now.hot }, true) }, "Hot only"));
	}

	private show(): void {
		const now = place();
		const file = now.file === null ? -1 : this.profile.fileByPath(now.file);
		this.showControls();
		this.search.placeholder = now.file === null ? "Search files, functions  /" : "Search in file  /";
		if (this.search.value !== now.query) this.search.value = now.query;
		if (file < 0 || this.profile.files[file]!.origin === "marker") {
			this.page = null;
			const lost = now.file !== null && el("p", { class: "warning" }, `This profile has no file ${visible(now.file)}.`);
			this.body.replaceChildren(...[lost, indexPage(this.profile)].filter((x): x is HTMLElement => !!x));
			return;
		}
		this.page = new FilePage(this.profile, file);
		this.body.replaceChildren(this.page.element);
		this.page.select(now.line);
		this.page.focus();
	}

	private moved(now: Place, before: Place): void {
		const same = { ...now, line: before.line, query: before.query };
		const another = JSON.stringify(same) !== JSON.stringify(before);
		if (this.page && !another) {
			if (this.search.value !== now.query) this.search.value = now.query;
			if (now.line !== before.line) this.page.select(now.line);
			return;
		}
		const keep = this.page && now.file === before.file ? this.page.element.querySelector(".scroller")?.scrollTop : undefined;
		const focused = document.activeElement;
		const again = focused instanceof HTMLElement && focused.closest(".controls, thead, .group-head") ? focused.dataset.value ?? focused.dataset.key ?? focused.dataset.group ?? focused.id : "";
		this.show();
		if (keep !== undefined && now.hot === before.hot) this.page?.element.querySelector(".scroller")?.scrollTo(0, keep);
		if (focused === this.search) this.search.focus();
		if (again) document.querySelector<HTMLElement>(`[data-value="${CSS.escape(again)}"], [data-key="${CSS.escape(again)}"], [data-group="${CSS.escape(again)}"], [id="${CSS.escape(again)}"]`)?.focus();
	}

	private searched(): void {
		go({ query: this.search.value }, true);
	}

	private searchKey(event: KeyboardEvent): void {
		if (event.key === "Enter" && this.page) {
			this.search.classList.toggle("none", !this.page.find(this.search.value, event.shiftKey ? -1 : 1));
		} else if (event.key === "Escape") {
			this.search.value = "";
			this.searched();
			this.search.blur();
		} else {
			this.search.classList.remove("none");
		}
	}

	private key(event: KeyboardEvent): void {
		const target = event.target as HTMLElement;
		if (event.ctrlKey || event.metaKey || event.altKey || this.help.open || target.matches("input, select, textarea")) return;
		const actions: Record<string, () => void> = {
			"/": () => this.search.select(),
			j: () => this.page?.step(1, 0),
			k: () => this.page?.step(-1, 0),
			n: () => this.page?.step(1, HOT),
			p: () => this.page?.step(-1, HOT),
			u: () => this.page?.follow("callers"),
			d: () => this.page?.follow("calls"),
			o: () => go({ measure: "own" }, true),
			t: () => go({ measure: "total" }, true),
			h: () => this.page && go({ hot: !place().hot }, true),
			g: () => go({ file: null, line: 0 }),
			m: toggleTheme,
			Backspace: () => history.back(),
			Escape: () => go({ line: 0 }, true),
			"?": () => this.help.showModal(),
		};
		const action = Object.hasOwn(actions, event.key) ? actions[event.key] : undefined;
		if (!action) return;
		event.preventDefault();
		action();
	}
}

startTheme();
readProfile()
	.then((profile) => new App(profile))
	.catch((error: unknown) => fail(`The profile cannot be shown: ${(error as Error).message}.`));
