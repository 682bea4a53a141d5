// What is known of the rectangle under the pointer: own and total, its change in a comparison, its hottest lines with
// their source, and the instructions where they were taken.
import { count, percent, signedTime, time } from "../shared/format";
import { el } from "../shared/dom";
import { visible, visibleCode } from "../shared/text";
import { type App } from "./app";
import { type ViewNode } from "./tree";

const LINES = 5;
const MEMBERS_MAX = 20000; // nodes looked through for lines

interface Part {
	own: number;
	total: number;
}

// Lines and opcodes of one rectangle: from its own nodes, not from all of the function.
function partsOf(app: App, node: ViewNode): { lines: Map<number, Part>; opcodes: Map<string, number> } {
	const { model, weights } = app;
	const lines = new Map<number, Part>();
	const opcodes = new Map<string, number>();
	for (let i = 0; i < Math.min(node.members.length, MEMBERS_MAX); i++) {
		const at = node.members[i];
		const frame = model.frame[at];
		const start = node.starts ? node.starts[i] : at;
		const upward = node.starts !== null;
		const total = !upward ? weights.total[at] : start < 0 ? weights.total[~start] : weights.own[start];
		const own = upward ? (start === at ? weights.own[at] : 0) : weights.own[at];
		const line = lines.get(model.frameLine[frame]) ?? { own: 0, total: 0 };
		line.own += own;
		line.total += total;
		lines.set(model.frameLine[frame], line);
		const opcode = model.frameOpcode?.[frame];
		if (opcode) {
			const base = model.frameBaseOpcode?.[frame];
			const name = base && base !== opcode ? `${opcode} (${base})` : opcode;
			opcodes.set(name, (opcodes.get(name) ?? 0) + (own || total));
		}
	}
	return { lines, opcodes };
}

function row(...cells: string[]): HTMLTableRowElement {
	return el("tr", {}, ...cells.map((cell, i) => el("td", { class: i ? "number" : "soft" }, cell)));
}

function numbers(app: App, node: ViewNode): HTMLTableElement {
	const whole = app.whole;
	const up = node.starts !== null;
	const body = el("tbody");
	body.append(row("total", percent(node.total, whole), time(node.total), `${count(node.count)} samples`));
	if (!up) body.append(row("own", percent(node.own, whole), time(node.own), `${count(node.ownCount)} samples`));
	const parent = node.parent;
	if (parent && parent.key >= 0 && parent.total > 0)
		body.append(row(up ? "of what it calls" : "of its caller", percent(node.total, parent.total), "", ""));
	if (app.model.base) {
		body.append(row("base", percent(node.base, app.weights.baseAll * app.scale), time(node.base), ""));
		const by = node.base > 0 ? percent(node.total - node.base, node.base) : "new";
		body.append(row("change", by, signedTime(node.total - node.base), "total"));
		if (!up) body.append(row("", "", signedTime(node.own - node.baseOwn), "own"));
	}
	return el("table", {}, body);
}

function sourceRows(app: App, node: ViewNode, lines: Map<number, Part>): HTMLElement | null {
	const fn = app.functionOf(node.key);
	const hottest = [...lines]
		.filter(([line]) => line > 0)
		.sort((a, b) => b[1].total - a[1].total)
		.slice(0, LINES)
		.sort((a, b) => a[0] - b[0]);
	if (!hottest.length || !app.model.file[fn]) return null;
	const rows = hottest.map(([line, part]) =>
		el(
			"tr",
			{},
			el("td", { class: "number" }, String(line)),
			el("td", { class: "number" }, percent(part.total, node.total)),
			el("td", { class: "name" }, visibleCode(app.sourceOf(fn, line) ?? "").trim() || "–"),
		),
	);
	return el("table", { class: "code" }, el("tbody", {}, ...rows));
}

function opcodeRow(node: ViewNode, opcodes: Map<string, number>): HTMLElement | null {
	if (!opcodes.size) return null;
	const top = [...opcodes].sort((a, b) => b[1] - a[1]).slice(0, 4);
	const text = top.map(([name, weight]) => `${visible(name)} ${percent(weight, node.total)}`).join(", ");
	return el("div", { class: "mono soft" }, text);
}

export function fillTooltip(app: App, tooltip: HTMLElement, node: ViewNode): void {
	const { lines, opcodes } = node.key >= 0 ? partsOf(app, node) : { lines: new Map(), opcodes: new Map() };
	tooltip.replaceChildren(
		el("b", { class: "name" }, app.label(node.key)),
		el("div", { class: "where name mono" }, app.place(node.key)),
		numbers(app, node),
	);
	const source = node.key >= 0 ? sourceRows(app, node, lines) : null;
	if (source) tooltip.append(source);
	const instructions = opcodeRow(node, opcodes);
	if (instructions) tooltip.append(instructions);
}

export function placeTooltip(tooltip: HTMLElement, x: number, y: number): void {
	tooltip.hidden = false;
	const { width, height } = tooltip.getBoundingClientRect();
	const left = x + 16 + width > innerWidth ? x - 16 - width : x + 16;
	const top = y + 18 + height > innerHeight ? y - 12 - height : y + 18;
	tooltip.style.left = `${Math.max(6, left)}px`;
	tooltip.style.top = `${Math.max(6, top)}px`;
}
