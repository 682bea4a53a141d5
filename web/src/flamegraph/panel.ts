// The panel at the side: hot functions, what is selected, the run, and in a comparison what changed.
import { count, date, percent, signedTime, time } from "../shared/format";
import { byId, el } from "../shared/dom";
import { visible, visibleCode } from "../shared/text";
import { type App } from "./app";
import { type Spot, detail } from "./hotspots";
import { type Run } from "./model";

const ROWS = 200;
type Sort = "own" | "total" | "name";
let sort: Sort = "own";

function cellOfName(app: App, key: number, byLine?: boolean): HTMLTableCellElement {
	const place = app.place(key, byLine);
	return el(
		"td",
		{ class: "name", title: `${app.label(key, byLine)}\n${place}` },
		app.label(key, byLine),
		el("span", { class: "place name" }, app.shortPlace(key, byLine)),
	);
}

function meter(share: number, text: string): HTMLTableCellElement {
	const size = Math.max(0, Math.min(100, share * 100)).toFixed(1);
	return el("td", { class: "number meter", style: `background-size: ${size}% 100%` }, text);
}

function open(app: App, key: number, byLine: boolean): Record<string, string | ((event: never) => void)> {
	const go = (): void => app.sandwich(key, byLine);
	return {
		tabindex: "0",
		"data-key": String(key),
		click: go,
		keydown: ((event: KeyboardEvent) => {
			if (event.key === "Enter") go();
		}) as (event: never) => void,
	};
}

// ---- hotspots ---------------------------------------------------------------------------------------------------------

function ordered(app: App, all: Spot[]): Spot[] {
	const by: Record<Sort, (a: Spot, b: Spot) => number> = {
		own: (a, b) => b.own - a.own || b.total - a.total,
		total: (a, b) => b.total - a.total || b.own - a.own,
		name: (a, b) => (app.label(a.key) < app.label(b.key) ? -1 : 1),
	};
	return all.filter((spot) => spot.total > 0).sort(by[sort]);
}

function sortButton(app: App, name: Sort, label: string): HTMLButtonElement {
	const pick = (): void => {
		sort = name;
		app.update("panel");
	};
	return el("button", { "aria-pressed": String(sort === name), click: pick }, label);
}

function hotspots(app: App): HTMLElement[] {
	const { matches } = app;
	let all = ordered(app, app.spots());
	if (matches && !matches.error) all = all.filter((spot) => matches.functions[app.functionOf(spot.key)]);
	const whole = app.whole;
	const rows = all.slice(0, ROWS).map((spot) =>
		el(
			"tr",
			open(app, spot.key, app.state.byLine),
			cellOfName(app, spot.key),
			meter(spot.own / whole, percent(spot.own, whole)),
			meter(spot.total / whole, percent(spot.total, whole)),
		),
	);
	const head = el(
		"tr",
		{},
		el("th", {}, sortButton(app, "name", app.state.byLine ? "Line" : "Function")),
		el("th", { class: "number" }, sortButton(app, "own", "Own")),
		el("th", { class: "number" }, sortButton(app, "total", "Total")),
	);
	const more = all.length > ROWS ? el("p", { class: "faint" }, `${count(all.length - ROWS)} more`) : "";
	return [
		el("table", { id: "hotspots" }, el("thead", {}, head), el("tbody", {}, ...rows)),
		el("p", { class: "faint" }, rows.length ? more : "Nothing was sampled here."),
	];
}

// ---- what is selected ------------------------------------------------------------------------------------------------------

function related(app: App, title: string, list: { key: number; weight: number }[], whole: number): HTMLElement[] {
	if (!list.length) return [];
	const rows = list
		.slice(0, 12)
		.map(({ key, weight }) =>
			el(
				"tr",
				open(app, key, app.state.byLine),
				cellOfName(app, key),
				meter(weight / whole, percent(weight, whole)),
				el("td", { class: "number" }, time(weight)),
			),
		);
	return [el("h2", {}, title), el("table", {}, el("tbody", {}, ...rows))];
}

function selected(app: App): HTMLElement[] {
	const key = app.flame.selected?.key ?? app.state.focus ?? -1;
	if (key < 0)
		return [el("p", { class: "soft" }, "Click a rectangle, or walk there with the arrow keys, to see its lines, callers and callees.")];
	const spot = app.spots().find((one) => one.key === key);
	const told = detail(app.model, app.weights, app.state.byLine, key);
	const fn = app.functionOf(key);
	const whole = app.whole;
	const total = spot?.total || 1;
	const lines = told.lines.filter((line) => line.line > 0).sort((a, b) => a.line - b.line);
	const top = Math.max(...lines.map((line) => line.own), 1);
	const code = lines.map((line) =>
		el(
			"tr",
			{},
			el("td", {}, String(line.line)),
			el("td", { class: "name", title: visibleCode(app.sourceOf(fn, line.line) ?? "") }, visibleCode(app.sourceOf(fn, line.line) ?? "–").trim()),
			meter(line.own / top, percent(line.own, whole)),
			el("td", { class: "number" }, percent(line.total, whole)),
		),
	);
	const opcodes = told.opcodes.map((one) =>
		el(
			"tr",
			{},
			el("td", { class: "mono" }, visible(one.opcode)),
			el("td", { class: "mono soft" }, one.base === one.opcode ? "" : `from ${visible(one.base)}`),
			meter(one.own / (spot?.own || 1), percent(one.own, spot?.own ?? 0)),
		),
	);
	return [
		el("div", { class: "big name" }, app.label(key)),
		el("p", { class: "mono soft name" }, app.place(key)),
		el(
			"dl",
			{},
			el("dt", {}, "Own"),
			el("dd", {}, `${percent(spot?.own ?? 0, whole)} · ${time(spot?.own ?? 0)} · ${count(spot?.ownCount ?? 0)} samples`),
			el("dt", {}, "Total"),
			el("dd", {}, `${percent(spot?.total ?? 0, whole)} · ${time(spot?.total ?? 0)} · ${count(spot?.totalCount ?? 0)} samples`),
			...(app.model.base && spot
				? [
						el("dt", {}, "Change"),
						el("dd", {}, `own ${signedTime(spot.own - spot.baseOwn)} · total ${signedTime(spot.total - spot.baseTotal)}`),
					]
				: []),
		),
		el(
			"div",
			{ class: "actions" },
			el("button", { click: () => app.sandwich(key) }, "Sandwich"),
			el("button", { click: () => searchFor(app, app.model.name[fn]) }, "Search for it"),
		),
		...(code.length && app.model.file[fn]
			? [
					el("h2", {}, "Lines"),
					el(
						"table",
						{ class: "code" },
						el(
							"thead",
							{},
							el(
								"tr",
								{},
								el("th", { class: "number" }, "Line"),
								el("th", {}, ""),
								el("th", { class: "number" }, "Own"),
								el("th", { class: "number" }, "Total"),
							),
						),
						el("tbody", {}, ...code),
					),
				]
			: []),
		...(opcodes.length ? [el("h2", {}, "Instructions"), el("table", {}, el("tbody", {}, ...opcodes))] : []),
		...related(app, "Called by", told.callers, total),
		...related(app, "Calls", told.callees, total),
	];
}

function searchFor(app: App, text: string): void {
	app.state.query = text;
	app.state.regex = false;
	app.update("search", "panel");
}

// ---- the run ----------------------------------------------------------------------------------------------------------------

function runFacts(run: Run): HTMLElement[] {
	const pairs: [string, string][] = [
		["Mode", run.mode],
		["Samples", `${count(run.n_samples)} stacks${run.ticks === undefined ? "" : ` in ${count(run.ticks)} ticks`}`],
		["Rate", run.rate_hz > 0 ? `${run.rate_hz} a second wanted` : "as fast as it went"],
		["Lasted", time(run.duration_ns)],
		["Sampled", time(run.weight_ns)],
	];
	if (run.duration_ns > 0 && run.ticks !== undefined)
		pairs.push(["Reached", `${((run.ticks * 1e9) / run.duration_ns).toFixed(1)} a second`]);
	if (run.lost !== undefined) pairs.push(["Lost", count(run.lost)]);
	if (run.late !== undefined) pairs.push(["Late", count(run.late)]);
	if (run.salvaged) pairs.push(["Salvaged", `${count(run.salvaged)} stacks without their topmost frames`]);
	if (run.start_unix_ms > 0) pairs.push(["Began", date(run.start_unix_ms)]);
	return pairs.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]);
}

function run(app: App): HTMLElement[] {
	const { model } = app;
	const processes = model.processes.map((process, i) => {
		const n = model.threads.filter((thread) => thread.process === i).length;
		return el(
			"dl",
			{},
			el("dt", {}, process.base ? "Base" : "Process"),
			el("dd", {}, `pid ${process.pid}, Python ${visible(process.python)}, ${n} thread${n === 1 ? "" : "s"}`),
			el("dt", {}, "Command"),
			el("dd", { class: "mono name" }, visible(process.command)),
		);
	});
	return [
		el("h2", {}, model.base ? "This run" : "Run"),
		el("dl", { id: "run" }, ...runFacts(model.run)),
		...(model.base ? [el("h2", {}, "Base"), el("dl", {}, ...runFacts(model.base))] : []),
		el("h2", {}, "Processes"),
		...processes,
		el("h2", {}, "Page"),
		el(
			"dl",
			{},
			el("dt", {}, "Made by"),
			el("dd", {}, `tachyscope ${model.version}`),
			el("dt", {}, "Time strip"),
			el("dd", {}, `${count(model.buckets)} stretches of ${time(model.bucketNs)}: a range is exact to one of them`),
			el("dt", {}, "Tree"),
			el("dd", {}, `${count(model.n - 1)} nodes, ${count(model.name.length)} functions`),
		),
		el(
			"p",
			{ class: "faint" },
			"Own: the function itself was running; total: it or what it called, once per stack. Times are real time that the samples stand for, late and lost ones in, summed over threads.",
		),
	];
}

// ---- a comparison -------------------------------------------------------------------------------------------------------------

// What is less than ten times as much, in percent
function ratio(change: number, base: number): string {
	return change < 9 * base ? percent(change, base) : `× ${((change + base) / base).toPrecision(3)}`;
}

function changes(app: App): HTMLElement[] {
	const own = app.state.changeOfOwn;
	const by = (spot: Spot): number => (own ? spot.own - spot.baseOwn : spot.total - spot.baseTotal);
	const all = app.spots(false);
	const both = all.filter((spot) => spot.total > 0 && spot.baseTotal > 0);
	const list = (id: string, title: string, spots: Spot[], weight: (spot: Spot) => number): HTMLElement[] => {
		const rows = spots.slice(0, 60).map((spot) => {
			const change = weight(spot);
			const base = own ? spot.baseOwn : spot.baseTotal;
			return el(
				"tr",
				open(app, spot.key, false),
				cellOfName(app, spot.key, false),
				el("td", { class: `number ${change > 0 ? "slower" : "faster"}` }, signedTime(change)),
				el("td", { class: "number soft" }, base > 0 && spot.total > 0 ? ratio(change, base) : ""),
			);
		});
		const more = spots.length > 60 ? [el("p", { class: "faint" }, `${count(spots.length - 60)} more`)] : [];
		const none = rows.length ? [] : [el("p", { class: "faint" }, "none")];
		return [
			el("h2", {}, `${title} (${count(spots.length)})`),
			el("table", { id }, el("tbody", {}, ...rows)),
			...more,
			...none,
		];
	};
	const slower = both.filter((spot) => by(spot) > 0).sort((a, b) => by(b) - by(a));
	const faster = both.filter((spot) => by(spot) < 0).sort((a, b) => by(a) - by(b));
	const fresh = all.filter((spot) => spot.baseTotal === 0).sort((a, b) => b.total - a.total);
	const gone = all.filter((spot) => spot.total === 0).sort((a, b) => b.baseTotal - a.baseTotal);
	return [
		...list("slower", "More time", slower, by),
		...list("faster", "Less time", faster, by),
		...list("fresh", "New functions", fresh, (spot) => spot.total),
		...list("gone", "Gone functions", gone, (spot) => -spot.baseTotal),
	];
}

// ---- all together ----------------------------------------------------------------------------------------------------------

const TABS: [string, string, (app: App) => HTMLElement[]][] = [
	["changes", "Changes", changes],
	["hot", "Hotspots", hotspots],
	["selected", "Selected", selected],
	["run", "Run", run],
];

export function startPanel(app: App): void {
	const panel = byId("panel");
	const body = byId("panel-body");
	const tabs = TABS.filter(([id]) => id !== "changes" || app.model.base);
	const buttons = new Map<string, HTMLButtonElement>();
	for (const [id, label] of tabs) {
		const pick = (): void => {
			app.state.tab = id;
			app.update("panel");
		};
		buttons.set(id, el("button", { role: "tab", "data-tab": id, click: pick }, label));
	}
	byId("tabs").append(...buttons.values());
	app.onChange((parts) => {
		if (!(parts.has("panel") || parts.has("filter") || parts.has("search") || parts.has("shape"))) return;
		panel.hidden = !app.state.panel;
		byId("panel-toggle").setAttribute("aria-pressed", String(app.state.panel));
		const tab = tabs.find(([id]) => id === app.state.tab) ?? tabs[0];
		for (const [id, button] of buttons) button.setAttribute("aria-selected", String(id === tab[0]));
		if (app.state.panel) body.replaceChildren(...tab[2](app));
	});
}
