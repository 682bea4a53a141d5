// The bars at the top: how it is drawn, which samples count, what is searched.
import { byId, el } from "../shared/dom";
import { count, percent, time } from "../shared/format";
import { visible } from "../shared/text";
import { type App, type Part } from "./app";
import { type Want, byState, byThread, isFullRange } from "./filter";
import { STATE, type Thread } from "./model";
import { STATE_NAMES } from "./state";

interface Option {
	label: string;
	title: string;
	on: () => boolean;
	pick: () => void;
}

// A group of buttons of which one is pressed; gives what brings it up to date.
function choice(box: HTMLElement, options: Option[]): () => void {
	const buttons = options.map((option) => el("button", { title: option.title, click: option.pick }, option.label));
	box.append(...buttons);
	return () => buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(options[i].on())));
}

function choices(app: App): () => void {
	const layout = (which: "icicle" | "flame"): Option => ({
		label: which === "icicle" ? "Icicle" : "Flame",
		title: `${which === "icicle" ? "Roots at the top" : "Roots at the bottom"} (f)`,
		on: () => app.state.layout === which,
		pick: () => {
			app.state.layout = which;
			app.update("shape");
		},
	});
	const direction = (which: "down" | "up", label: string, title: string): Option => ({
		label,
		title,
		on: () => app.state.direction === which && app.state.focus === null,
		pick: () => app.turn(which),
	});
	const by = (line: boolean): Option => ({
		label: line ? "By line" : "By function",
		title: "What a rectangle stands for (l)",
		on: () => app.state.byLine === line,
		pick: () => app.setByLine(line),
	});
	const updates = [
		choice(byId("layout"), [layout("icicle"), layout("flame")]),
		choice(byId("direction"), [
			direction("down", "Callees", "From the program's start to what ran (i)"),
			direction("up", "Inverted", "From what ran to who called it (i)"),
		]),
		choice(byId("by"), [by(false), by(true)]),
	];
	return () => updates.forEach((update) => update());
}

// ---- a comparison ---------------------------------------------------------------------------------------------------------

function compare(app: App): () => void {
	const box = byId("compare");
	if (!app.model.base) return () => {};
	box.hidden = false;
	const group = (label: string, options: Option[]): (() => void) => {
		const buttons = el("span", { class: "choice", role: "group", "aria-label": label });
		box.append(el("span", { class: "soft" }, label), buttons);
		return choice(buttons, options);
	};
	const option = (label: string, title: string, key: "changeOfOwn" | "widthOfBase" | "share", value: boolean, part: Part): Option => ({
		label,
		title,
		on: () => app.state[key] === value,
		pick: () => {
			app.state[key] = value;
			app.update(part, "look", "panel");
		},
	});
	const updates = [
		group("Colour", [
			option("Own", "By the change of own time", "changeOfOwn", true, "shape"),
			option("Total", "By the change of total time", "changeOfOwn", false, "shape"),
		]),
		group("Width", [
			option("This run", "Rectangles are as wide as in this run", "widthOfBase", false, "shape"),
			option("Base", "Rectangles are as wide as in the base: what is gone is seen", "widthOfBase", true, "shape"),
		]),
		group("Compare", [
			option("Real time", "Seconds with seconds", "share", false, "shape"),
			option("Share", "The base is scaled to the same total", "share", true, "shape"),
		]),
	];
	const { run, base } = app.model;
	const warn = (text: string): void => box.append(el("span", { class: "warning" }, text));
	if (run.mode !== base.mode) warn(`Modes differ: this run ${run.mode}, base ${base.mode}. Their times do not mean the same.`);
	const versions = (ofBase: boolean): string =>
		[...new Set(app.model.processes.filter((p) => p.base === ofBase).map((p) => p.python))].sort().join(", ");
	if (versions(false) !== versions(true))
		warn(`Python ${visible(versions(false))}, base ${visible(versions(true))}: names and lines may differ`);
	const sums = el("span", { class: "soft" });
	box.append(sums);
	return () => {
		updates.forEach((update) => update());
		const { all, baseAll } = app.weights;
		sums.textContent = `${time(all)} against ${time(baseAll)}${app.scale === 1 ? "" : ` (scaled by ${app.scale.toPrecision(3)})`}`;
	};
}

// ---- states ---------------------------------------------------------------------------------------------------------------

const NEXT: Record<Want, Want> = { any: "only", only: "without", without: "any" };

export function cycleState(app: App, bit: number): void {
	const want = NEXT[app.state.filter.states.get(bit) ?? "any"];
	if (want === "any") app.state.filter.states.delete(bit);
	else app.state.filter.states.set(bit, want);
	app.update("filter");
}

function states(app: App): () => void {
	const known: Record<number, number> = { [STATE.cpu]: STATE.cpuKnown, [STATE.gil]: STATE.gilKnown };
	const shown = STATE_NAMES.filter(([bit]) => app.model.allStates & (known[bit] ?? bit));
	const buttons = shown.map(([bit, word, label]) => {
		const share = el("small");
		const button = el("button", { class: "state", "data-state": word, click: () => cycleState(app, bit) }, label, share);
		byId("states").append(button);
		return { bit, button, share, label };
	});
	return () => {
		const sums = byState(app.model, { ...app.state.filter, states: new Map() });
		const all = app.series.all.reduce((sum, value) => sum + value, 0);
		const whole = app.state.filter.states.size ? Math.max(...sums.values(), all) : app.whole;
		for (const { bit, button, share, label } of buttons) {
			const want = app.state.filter.states.get(bit) ?? "any";
			button.dataset.want = want;
			button.setAttribute("aria-pressed", String(want === "only"));
			button.title = `${label}: ${want === "any" ? "does not matter" : want === "only" ? "only such samples" : "only other samples"} (click to change)`;
			share.textContent = app.state.filter.states.size ? "" : percent(sums.get(bit) ?? 0, whole);
		}
	};
}

// ---- threads --------------------------------------------------------------------------------------------------------------

export function threadName(thread: Thread): string {
	const name = visible(thread.name) || (thread.main ? "main" : "thread");
	return thread.tid ? `${name} (${thread.tid})` : name;
}

function threadRow(app: App, index: number, share: string): HTMLElement {
	const { filter } = app.state;
	const box = el("input", {
		type: "checkbox",
		change: () => {
			filter.threads[index] = filter.threads[index] ? 0 : 1;
			app.update("filter");
		},
	});
	box.checked = filter.threads[index] === 1;
	const only = (event: Event): void => {
		event.preventDefault();
		filter.threads.fill(0);
		filter.threads[index] = 1;
		app.update("filter");
	};
	return el(
		"label",
		{ class: "thread", "data-thread": String(index) },
		box,
		el("span", { class: "name" }, threadName(app.model.threads[index])),
		el("span", { class: "number soft" }, share),
		el("button", { class: "only", click: only }, "only"),
	);
}

function processRow(app: App, process: number, members: number[]): HTMLElement {
	const { filter } = app.state;
	const told = app.model.processes[process];
	const box = el("input", {
		type: "checkbox",
		change: () => {
			const value = members.every((i) => filter.threads[i]) ? 0 : 1;
			for (const i of members) filter.threads[i] = value;
			app.update("filter");
		},
	});
	const n = members.filter((i) => filter.threads[i]).length;
	box.checked = n === members.length;
	box.indeterminate = n > 0 && n < members.length;
	const only = (event: Event): void => {
		event.preventDefault();
		filter.threads.fill(0);
		for (const i of members) filter.threads[i] = 1;
		app.update("filter");
	};
	return el(
		"label",
		{ class: "process", "data-process": String(process) },
		box,
		el("span", { class: "name", title: told ? visible(told.command) : "" }, `${told?.base ? "base " : ""}pid ${told?.pid ?? "?"} ${told ? visible(told.command) : ""}`),
		el("button", { class: "only", click: only }, "only"),
	);
}

function threads(app: App): () => void {
	const button = byId<HTMLButtonElement>("threads-open");
	const popup = byId("threads");
	const fill = (): void => {
		const sums = byThread(app.model, app.state.filter);
		const whole = sums.reduce((a, b) => a + b, 0);
		const rows: HTMLElement[] = [];
		app.model.processes.forEach((_, process) => {
			const members = [...app.model.threads.keys()].filter((i) => app.model.threads[i].process === process);
			if (!members.length) return;
			rows.push(processRow(app, process, members));
			members.sort((a, b) => sums[b] - sums[a]);
			rows.push(...members.map((i) => threadRow(app, i, percent(sums[i], whole))));
		});
		const all = (): void => {
			app.state.filter.threads.fill(1);
			app.update("filter");
		};
		popup.replaceChildren(el("div", { class: "actions" }, el("button", { id: "threads-all", click: all }, "All")), ...rows);
	};
	button.addEventListener("click", () => {
		popup.hidden = !popup.hidden;
		const at = button.getBoundingClientRect();
		popup.style.left = `${at.left}px`;
		popup.style.top = `${at.bottom + 4}px`;
		fill();
	});
	document.addEventListener("pointerdown", (event) => {
		const target = event.target as Node;
		if (!popup.contains(target) && !button.contains(target)) popup.hidden = true;
	});
	return () => {
		const { threads: shown } = app.state.filter;
		const n = shown.reduce((sum, one) => sum + one, 0);
		const what = shown.length === 1 ? "1 thread" : `${count(shown.length)} threads`;
		button.textContent = n === shown.length ? `${what} ▾` : `${count(n)} of ${what} ▾`;
		button.setAttribute("aria-pressed", String(n !== shown.length));
		if (!popup.hidden) fill();
	};
}

// ---- search ---------------------------------------------------------------------------------------------------------------

function searching(app: App): () => void {
	const query = byId<HTMLInputElement>("query");
	const regex = byId<HTMLButtonElement>("regex");
	const matched = byId("matched");
	let waiting = 0;
	query.addEventListener("input", () => {
		clearTimeout(waiting);
		waiting = window.setTimeout(() => {
			app.state.query = query.value;
			app.update("search");
		}, 80);
	});
	regex.addEventListener("click", () => {
		app.state.regex = !app.state.regex;
		app.update("search");
	});
	return () => {
		if (document.activeElement !== query || app.state.query === "") query.value = app.state.query;
		regex.setAttribute("aria-pressed", String(app.state.regex));
		const { matches } = app;
		query.classList.toggle("bad", !!matches?.error);
		matched.classList.toggle("found", !!matches && matches.n > 0);
		matched.title = matches?.error ?? "";
		if (!matches) matched.textContent = "";
		else if (matches.error) matched.textContent = "not a pattern";
		else matched.textContent = `${percent(app.matched.weight, app.whole)} in ${count(matches.n)} function${matches.n === 1 ? "" : "s"}`;
		if (matches && !matches.error)
			matched.title = `${count(app.matched.count)} samples, ${time(app.matched.weight)}, have one of ${count(matches.n)} matching functions in their stack`;
	};
}

// ---- the rest -------------------------------------------------------------------------------------------------------------

function head(app: App): () => void {
	const { model } = app;
	const { run } = model;
	const own = model.processes.filter((process) => !process.base);
	const title = own.map((process) => visible(process.command)).join(" · ");
	byId("title").textContent = title;
	byId("title").title = title;
	document.title = `${title.split("/").pop() ?? ""} - tachyscope`;
	const reached = run.duration_ns > 0 && run.ticks !== undefined ? ` at ${((run.ticks * 1e9) / run.duration_ns).toFixed(0)}/s` : "";
	byId("facts").textContent = `${count(run.n_samples)} samples in ${time(run.duration_ns)}${reached}, ${run.mode}`;
	if (run.lost || run.late)
		byId("warnings").append(
			el("span", { title: "Times are real time, so that lost and late samples do not shrink them" }, `${count(run.lost ?? 0)} lost, ${count(run.late ?? 0)} late`),
		);
	const focus = byId("focus");
	return () => {
		byId<HTMLButtonElement>("back").disabled = !app.hasPast;
		const key = app.state.focus;
		focus.hidden = key === null;
		if (key !== null)
			focus.replaceChildren(
				el("span", { class: "soft" }, "Sandwich of"),
				el("span", { class: "name" }, app.label(key)),
				el("span", { class: "soft mono name" }, app.shortPlace(key)),
				el("span", { class: "soft" }, "callers above, callees below"),
				el("button", { click: () => app.sandwich(null) }, "Close"),
			);
		const range = byId("range");
		const [from, upto] = app.state.filter.range;
		range.hidden = isFullRange(model, app.state.filter);
		range.textContent = `${time(from * model.bucketNs)} – ${time(upto * model.bucketNs)} (${time((upto - from) * model.bucketNs)})`;
	};
}

export function startToolbar(app: App): void {
	byId("back").addEventListener("click", () => app.back());
	byId("reset").addEventListener("click", () => app.reset());
	byId("panel-toggle").addEventListener("click", () => {
		app.state.panel = !app.state.panel;
		app.update("panel");
	});
	const updates = [choices(app), compare(app), states(app), threads(app), searching(app), head(app)];
	app.onChange(() => updates.forEach((update) => update()));
}
