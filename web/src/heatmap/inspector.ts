// What is known about one line: shares, who called it, what it called, and which part of it was running. Without a line:
// the functions of the file.
import { el } from "../shared/dom";
import { count, percent, time } from "../shared/format";
import { visible, visibleCode } from "../shared/text";
import type { Profile, View } from "./data";
import { cutBytes, linkTo, nameOf, sourceText, whereOf } from "./names";
import { place } from "./place";
import { special, type Row } from "./rows";

const MOST = 40; // of a list; the rest is counted

type Mark = (column: number, endColumn: number, endLine: number) => void;

function weight(n: number, whole: number, measure: string): HTMLElement {
	const fill = n > 0 && el("span", { class: "fill" });
	if (fill) fill.style.width = `${whole > 0 ? Math.min(100, (100 * n) / whole) : 0}%`;
	return el("span", { class: "weight", title: `${count(n)} samples` }, el("span", { class: `bar ${measure}` }, fill), el("span", { class: "number" }, count(n)));
}

function section(kind: string, title: string, about: string, items: HTMLElement[]): HTMLElement | null {
	if (items.length === 0) return null;
	const left = items.length - MOST;
	return el("section", { class: kind }, el("h3", { title: about }, title, el("span", { class: "soft count" }, count(items.length))),
		el("ul", {}, ...items.slice(0, MOST)), left > 0 && el("p", { class: "faint" }, `and ${count(left)} more`));
}

// The lines that called this one, or the function that begins here, and how often.
function callers(profile: Profile, view: View, row: Row): Map<number, number> {
	const found = new Map<number, number>();
	for (const call of row.functions.flatMap((f) => profile.callsOfFunction.get(f) ?? []))
		if (view.calls[call]! > 0) found.set(profile.callFrom[call]!, Math.max(found.get(profile.callFrom[call]!) ?? 0, view.calls[call]!));
	for (const caller of row.line < 0 ? [] : (profile.callersOfLine.get(row.line) ?? []))
		if (view.callers[caller]! > 0) found.set(profile.callerFrom[caller]!, Math.max(found.get(profile.callerFrom[caller]!) ?? 0, view.callers[caller]!));
	return found;
}

function callerItem(profile: Profile, line: number, n: number, whole: number): HTMLElement {
	const file = profile.files[profile.lineFile[line]!]!;
	return el("li", {}, linkTo({ file: file.path, line: profile.lineNumber[line]! }, weight(n, whole, "total"),
		el("span", { class: "name mono" }, profile.functionsOfLine(line).map((f) => nameOf(profile, f)).join(", ")),
		el("span", { class: "where name soft", title: visible(file.path) }, whereOf(profile, line)),
		el("span", { class: "name mono faint source" }, sourceText(profile, line).trim())));
}

function callItem(profile: Profile, func: number, n: number, whole: number): HTMLElement {
	const { file: at, line } = profile.functions[func]!;
	const file = profile.files[at]!;
	const what = [weight(n, whole, "total"), el("span", { class: "name mono" }, nameOf(profile, func))];
	if (file.origin === "marker") return el("li", {}, el("span", { class: "plain" }, ...what));
	return el("li", {}, linkTo({ file: file.path, line }, ...what,
		el("span", { class: "where name soft", title: visible(file.path) }, `${visible(file.short)}:${line}`)));
}

function instruction(opcode: string, base: string): HTMLElement | null {
	if (opcode === "") return null;
	return el("span", { class: "instruction" }, el("span", { class: `mono opcode ${opcode !== base ? "special" : ""}` }, visible(opcode)),
		opcode !== base && el("span", { class: "soft" }, "specialised from ", el("span", { class: "mono" }, visible(base))));
}

function spotItem(profile: Profile, view: View, spot: number, row: Row, mark: Mark): HTMLElement {
	const at = profile.spots[spot]!;
	const own = view.spots.own[spot]!;
	const total = view.spots.total[spot]!;
	const known = at.column >= 0 && row.text !== null;
	const text = known ? visibleCode(cutBytes(row.text!, at.column, at.endLine > row.number ? -1 : at.endColumn)[1]).trim() + (at.endLine > row.number ? " …" : "") : at.column >= 0 ? `columns ${at.column + 1} to ${at.endColumn}` : "the line as a whole";
	const measure = place().measure === "total" ? "total" : "own";
	return el("li", { class: "spot", tabindex: known ? 0 : undefined,
		mouseenter: () => known && mark(at.column, at.endColumn, at.endLine), mouseleave: () => mark(-1, -1, 0),
		focus: () => known && mark(at.column, at.endColumn, at.endLine), blur: () => mark(-1, -1, 0) },
		el("span", { class: "plain" }, weight(measure === "own" ? own : total, measure === "own" ? view.lines.own[row.line]! : view.lines.total[row.line]!, measure),
			el("span", { class: known ? "name mono source" : "faint" }, text), instruction(at.opcode, at.base)));
}

function spots(profile: Profile, view: View, row: Row, mark: Mark): HTMLElement | null {
	const heat = place().measure === "total" ? view.spots.total : view.spots.own;
	const list = (profile.spotsOfLine.get(row.line) ?? []).filter((s) => heat[s]! > 0).sort((a, b) => heat[b]! - heat[a]!);
	const title = profile.run.opcodes ? "Instructions" : "Parts of the line";
	const about = profile.run.opcodes ? "Which instruction was executing, as the interpreter had specialised it, and what it stands for" : "Which expression was executing";
	if (list.length === 1 && profile.spots[list[0]!]!.column < 0 && profile.spots[list[0]!]!.opcode === "") return null;
	const part = section("spots", title, about, list.map((s) => spotItem(profile, view, s, row, mark)));
	const [good, all] = special(profile, view, row.line);
	if (all > 0) part?.querySelector("h3")?.after(el("p", { class: "soft sentence" }, `${percent(good, all)} of ${count(all)} own samples in specialised instructions`));
	return part;
}

function pair(title: string, n: number, us: number, view: View, measure: string): HTMLElement {
	return el("div", { class: `pair ${measure}` }, el("span", { class: "soft" }, title), el("strong", {}, percent(n, view.nSamples)),
		el("span", { class: "soft" }, `${count(n)} samples`), el("span", { class: "soft" }, time(1000 * us)));
}

function functionsOfFile(profile: Profile, view: View, file: number): HTMLElement[] {
	const heat = place().measure === "total" ? view.functions.total : view.functions.own;
	const measure = place().measure === "total" ? "total" : "own";
	const list = profile.files[file]!.functions.filter((f) => view.functions.total[f]! > 0)
		.sort((a, b) => heat[b]! - heat[a]! || view.functions.total[b]! - view.functions.total[a]!);
	const items = list.map((f) => el("li", {}, linkTo({ file: profile.files[file]!.path, line: profile.functions[f]!.line },
		weight(heat[f]!, view.nSamples, measure), el("span", { class: "name mono" }, nameOf(profile, f)),
		el("span", { class: "where soft" }, `line ${profile.functions[f]!.line}`))));
	return [section("functions", "Functions", "Sampled functions of this file", items) ?? el("p", { class: "faint" }, "No function of this file has samples here."),
		el("p", { class: "faint hint" }, "Choose a line to see who called it, what it called and which part of it was running.")];
}

export function inspector(profile: Profile, view: View, file: number, row: Row | undefined, mark: Mark): HTMLElement[] {
	if (!row) return functionsOfFile(profile, view, file);
	const line = row.line;
	const names = [...new Set([...row.functions, ...(line < 0 ? [] : profile.functionsOfLine(line))])];
	const total = line < 0 ? 0 : view.lines.total[line]!;
	const from = [...callers(profile, view, row)].sort((a, b) => b[1] - a[1]);
	const calls = (line < 0 ? [] : (profile.callsOfLine.get(line) ?? [])).filter((c) => view.calls[c]! > 0).sort((a, b) => view.calls[b]! - view.calls[a]!);
	const whole = Math.max(total, from[0]?.[1] ?? 0);
	const parts = [
		el("header", {}, el("h2", {}, row.number > 0 ? `Line ${row.number}` : "Line unknown"),
			names.length > 0 && el("p", { class: "name mono soft" }, names.map((f) => nameOf(profile, f)).join(", "))),
		line >= 0 && total > 0 ? el("div", { class: "pairs" }, pair("Own", view.lines.own[line]!, view.lines.ownUs[line]!, view, "own"), pair("Total", total, view.lines.totalUs[line]!, view, "total"))
			: el("p", { class: "faint" }, "This line itself has no samples here."),
		section("callers", row.functions.length > 0 ? "Called from" : "Reached from", "Lines that were executing the call, with the samples in which they did", from.map(([at, n]) => callerItem(profile, at, n, whole))),
		section("calls", "Calls", "Functions that this line called, with the samples in which they ran or called others", calls.map((c) => callItem(profile, profile.callTo[c]!, view.calls[c]!, total))),
		line >= 0 ? spots(profile, view, row, mark) : null,
	];
	return parts.filter((part): part is HTMLElement => !!part);
}
