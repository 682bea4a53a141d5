// One file: its lines with their heat, what is known about it, and the inspector beside it.
import { el } from "../shared/dom";
import { count, percent, time } from "../shared/format";
import { visible, visibleCode } from "../shared/text";
import type { Profile, Source, View } from "./data";
import { heatColour, strength } from "./heat";
import { inspector } from "./inspector";
import { Minimap } from "./minimap";
import { cutBytes, linkTo, nameOf, sourceLines } from "./names";
import { go, place, type Measure } from "./place";
import { tokens, type Open, type Token } from "./python";
import { rowsOf, special, type Row } from "./rows";

const CHUNK = 200; // rows laid out together; chunks out of sight cost nothing
const AT_ONCE = 4000; // rows made before they come into sight, where the browser's own search finds them too
const ROW_PX = 20;

const STATE_TEXT: Record<Source["state"], string> = {
	shown: "",
	missing: "The file was not found where the program had it. The lines with samples are listed.",
	denied: "The file may not be read from here. The lines with samples are listed.",
	large: "The file is too large to be shown. The lines with samples are listed.",
	not_python: "Neither the name nor the first line of this file says that it is Python, so it is not shown. The lines with samples are listed.",
	unreadable: "The file could not be read. The lines with samples are listed.",
	other_root: "The process that ran this file has another root than the first process: its source was not read. The lines with samples are listed.",
	unread: "The source was not read. The lines with samples are listed.",
};

function notes(profile: Profile, file: number): HTMLElement[] {
	const f = profile.files[file]!;
	const source = profile.sources.get(file);
	const warnings: string[] = [];
	const remarks: string[] = [];
	if (!source) remarks.push(f.origin === "frozen" ? "A frozen module: it has no file. The lines with samples are listed." : "This code has no file. The lines with samples are listed.");
	else if (source.state !== "shown") warnings.push(STATE_TEXT[source.state]);
	if (source?.changed) warnings.push("The file was written to after the sampling began: it may not be what ran.");
	if (source?.beyond) warnings.push(`${count(source.beyond)} sampled ${source.beyond === 1 ? "line lies" : "lines lie"} behind the end of the file: it is not what ran.`);
	if (source?.state === "shown" && profile.replayed) remarks.push("From a recording: the source is what lies under this name where the recording was replayed.");
	if (source?.state === "shown" && !source.whole) remarks.push("Only the surroundings of lines with samples are here.");
	const note = (kind: string) => (text: string): HTMLElement => el("p", { class: kind, role: "note" }, text);
	return [...warnings.map(note("warning")), ...remarks.map(note("remark"))];
}

const tokenCache = new Map<number, Map<number, Token[]>>();

function tokensOf(profile: Profile, file: number): Map<number, Token[]> {
	let all = tokenCache.get(file);
	if (!all) {
		all = new Map();
		const open: Open = { quote: "" };
		let last = 0;
		for (const [number, text] of sourceLines(profile, file)) {
			if (number !== last + 1) open.quote = "";
			all.set(number, tokens(text, open));
			last = number;
		}
		tokenCache.set(file, all);
	}
	return all;
}

export class FilePage {
	readonly element: HTMLElement;
	private readonly code: HTMLElement;
	private readonly scroller: HTMLElement;
	private readonly side: HTMLElement;
	private readonly minimap: Minimap;
	private readonly rows: Row[];
	private readonly elements = new Map<number, HTMLElement>(); // by line number
	private readonly view: View;
	private readonly most: number;
	private readonly chunks: HTMLElement[] = [];
	private selected = 0;

	constructor(
		private readonly profile: Profile,
		readonly file: number,
	) {
		const { view: key, hot } = place();
		this.view = profile.view(key);
		this.rows = rowsOf(profile, this.view, file, hot);
		this.most = this.hottest();
		this.code = el("div", { class: "code", role: "table", "aria-label": "Source lines" });
		this.scroller = el("div", { class: "scroller", tabindex: 0 }, this.code);
		this.side = el("aside", { class: "side" });
		this.minimap = new Minimap(this.scroller, this.rows.map((row) => this.rowHeat(row)), place().measure);
		this.fill();
		this.code.addEventListener("click", (event) => this.click(event));
		this.element = el("main", { class: "file-page", id: "main" }, this.head(),
			el("div", { class: "panes" }, this.scroller, this.minimap.canvas, this.side));
	}

	private heatOf(line: number, measure: Measure = place().measure): number {
		if (line < 0) return 0;
		if (measure === "total") return this.view.lines.total[line]!;
		return this.view.lines.own[line]!;
	}

	private hottest(): number {
		const heat = place().measure === "total" ? this.view.lines.total : this.view.lines.own;
		if (place().scale === "run") return heat.reduce((most, n) => Math.max(most, n), 0);
		return this.rows.reduce((most, row) => Math.max(most, this.heatOf(row.line)), 0);
	}

	private rowHeat(row: Row): number {
		if (place().measure !== "special") return strength(this.heatOf(row.line), this.most);
		const [good, all] = row.line < 0 ? [0, 0] : special(this.profile, this.view, row.line);
		return all > 0 ? 0.15 + (0.85 * (all - good)) / all : 0;
	}

	private head(): HTMLElement {
		const f = this.profile.files[this.file]!;
		const own = this.view.files.own[this.file]!;
		const total = this.view.files.total[this.file]!;
		return el("div", { class: "file-head" },
			el("div", { class: "crumbs" }, linkTo({ file: null, line: 0 }, "All files"), el("span", { class: "faint" }, "/"),
				el("h1", { class: "name mono", title: visible(f.path) }, visible(f.path) || "(no name)")),
			el("div", { class: "sums soft" },
				el("span", {}, "own ", el("strong", {}, percent(own, this.view.nSamples)), ` ${time(1000 * this.view.files.ownUs[this.file]!)}`),
				el("span", {}, "total ", el("strong", {}, percent(total, this.view.nSamples)), ` ${time(1000 * this.view.files.totalUs[this.file]!)}`)),
			...notes(this.profile, this.file));
	}

	private fill(): void {
		if (this.rows.length === 0) this.code.append(el("p", { class: "nothing" }, "No line of this file has samples here."));
		const late = new IntersectionObserver((seen) => {
			for (const { target, isIntersecting } of seen) if (isIntersecting) this.fillChunk(Number((target as HTMLElement).dataset.chunk));
		}, { root: this.scroller, rootMargin: "1500px" });
		for (let from = 0; from < this.rows.length; from += CHUNK) {
			const height = Math.min(CHUNK, this.rows.length - from) * ROW_PX;
			const chunk = el("div", { class: "chunk", role: "rowgroup", "data-chunk": this.chunks.length });
			chunk.style.containIntrinsicSize = `auto ${height}px`;
			chunk.style.height = `${height}px`;
			this.chunks.push(chunk);
			this.code.append(chunk);
			if (from < AT_ONCE) this.fillChunk(this.chunks.length - 1);
			else late.observe(chunk);
		}
	}

	private fillChunk(at: number): void {
		const chunk = this.chunks[at]!;
		if (chunk.firstChild) return;
		chunk.append(...this.rows.slice(at * CHUNK, (at + 1) * CHUNK).map((row) => this.row(row)));
		const selected = this.elements.get(this.selected);
		if (selected && chunk.contains(selected)) selected.classList.add("selected");
	}

	private cell(measure: "own" | "total", line: number): HTMLElement {
		const n = this.heatOf(line, measure);
		return el("span", { class: `number cell ${measure}`, role: "cell", title: n > 0 ? `${count(n)} samples` : undefined },
			n > 0 ? percent(n, this.view.nSamples) : "");
	}

	private row(row: Row): HTMLElement {
		if (row.gap)
			return el("div", { class: "row gap faint", role: "row" }, el("span", { role: "cell" }, `⋯ ${count(row.number)} line${row.number === 1 ? "" : "s"}`));
		const text = el("span", { class: "text", role: "cell" });
		this.setText(text, row);
		const element = el("div", { class: "row", role: "row", "data-line": row.number, id: `L${row.number}` },
			el("span", { class: "no", role: "rowheader" }, row.number > 0 ? String(row.number) : "?"),
			this.cell("own", row.line), this.cell("total", row.line), text, this.links(row));
		const heat = this.rowHeat(row);
		if (heat > 0) element.style.setProperty("--heat", heatColour(place().measure, heat, 0.55));
		if (heat > 0) element.classList.add("warm");
		this.elements.set(row.number, element);
		return element;
	}

	private setText(text: HTMLElement, row: Row): void {
		if (row.text === null) {
			const names = this.profile.functionsOfLine(row.line).map((f) => nameOf(this.profile, f)).join(", ");
			text.replaceChildren(el("em", { class: "faint name" }, row.number > 0 ? `in ${names}` : `line unknown, in ${names}`));
			return;
		}
		text.replaceChildren(...(tokensOf(this.profile, this.file).get(row.number) ?? []).map((token) =>
			token.kind ? el("span", { class: `t-${token.kind}` }, visibleCode(token.text)) : visibleCode(token.text)));
	}

	// How many lines called this one, and how many functions it called.
	private links(row: Row): HTMLElement {
		const callers = this.callers(row).length;
		const callees = row.line < 0 ? 0 : (this.profile.callsOfLine.get(row.line) ?? []).filter((c) => this.view.calls[c]! > 0).length;
		return el("span", { class: "links", role: "cell" },
			callers > 0 && el("button", { class: "jump up", title: "Callers", "aria-label": `${callers} callers` }, `▲${callers}`),
			callees > 0 && el("button", { class: "jump down", title: "Calls", "aria-label": `${callees} calls` }, `▼${callees}`));
	}

	private callers(row: Row): number[] {
		const lines = row.functions.flatMap((f) => this.profile.callsOfFunction.get(f) ?? []).filter((c) => this.view.calls[c]! > 0)
			.map((c) => this.profile.callFrom[c]!);
		const here = row.line < 0 ? [] : (this.profile.callersOfLine.get(row.line) ?? []).filter((c) => this.view.callers[c]! > 0)
			.map((c) => this.profile.callerFrom[c]!);
		return [...new Set([...lines, ...here])];
	}

	private click(event: MouseEvent): void {
		const target = event.target as HTMLElement;
		const row = target.closest<HTMLElement>(".row[data-line]");
		if (!row || getSelection()?.toString()) return;
		go({ line: Number(row.dataset.line) }, true);
		const jump = target.closest(".jump");
		if (jump) this.side.querySelector(jump.classList.contains("up") ? ".callers" : ".calls")?.scrollIntoView({ block: "nearest" });
	}

	// Shows part of a line as the one that is meant; column < 0: none.
	private mark(row: Row, column: number, endColumn: number, endLine: number): void {
		const text = this.elements.get(row.number)?.querySelector<HTMLElement>(".text");
		if (!text || row.text === null) return;
		if (column < 0) return this.setText(text, row);
		const [before, meant, after] = cutBytes(row.text, column, endLine > row.number ? -1 : endColumn);
		text.replaceChildren(visibleCode(before), el("mark", {}, visibleCode(meant)), visibleCode(after));
	}

	// After the page is in the document, and whenever another line is meant.
	select(line: number): void {
		this.elements.get(this.selected)?.classList.remove("selected");
		this.selected = line;
		const at = this.rows.findIndex((row) => !row.gap && row.number === line);
		if (at >= 0) this.fillChunk(Math.floor(at / CHUNK));
		const row = this.rows[at];
		const element = this.elements.get(line);
		element?.classList.add("selected");
		if (element) this.reveal(element);
		this.side.replaceChildren(...inspector(this.profile, this.view, this.file, row, (column, endColumn, endLine) =>
			row && this.mark(row, column, endColumn, endLine)));
		this.side.scrollTop = 0;
		this.minimap.draw();
	}

	private reveal(element: HTMLElement): void {
		const box = element.getBoundingClientRect();
		const frame = this.scroller.getBoundingClientRect();
		if (box.top < frame.top || box.bottom > frame.bottom) element.scrollIntoView({ block: "center" });
	}

	// The next line with samples (`least` of the heat of the hottest), up or down; wraps around.
	step(direction: 1 | -1, least: number): void {
		const found = this.rows.filter((row) => !row.gap && row.line >= 0 && this.heatOf(row.line) > 0 && this.rowHeat(row) >= least);
		if (found.length === 0) return;
		const from = this.selected;
		const ahead = direction > 0 ? found.find((r) => r.number > from) : [...found].reverse().find((r) => r.number < from);
		go({ line: (ahead ?? found[direction > 0 ? 0 : found.length - 1]!).number }, true);
	}

	// Lines that hold a text.
	find(query: string, direction: 1 | -1): boolean {
		const wanted = query.toLowerCase();
		const found = this.rows.filter((row) => !row.gap && (row.text ?? "").toLowerCase().includes(wanted));
		if (found.length === 0 || wanted === "") return false;
		const ahead = direction > 0 ? found.find((r) => r.number > this.selected) : [...found].reverse().find((r) => r.number < this.selected);
		go({ line: (ahead ?? found[direction > 0 ? 0 : found.length - 1]!).number }, true);
		return true;
	}

	follow(kind: "callers" | "calls"): void {
		this.side.querySelector<HTMLAnchorElement>(`.${kind} a`)?.click();
	}

	focus(): void {
		this.scroller.focus({ preventScroll: true });
	}

	redraw(): void {
		this.minimap.draw();
	}
}
