// The first page: what was sampled, the hottest lines, and all files by whose they are.
import { el } from "../shared/dom";
import { count, date, percent, time } from "../shared/format";
import { visible } from "../shared/text";
import type { Origin, Profile, View } from "./data";
import { heatColour, strength } from "./heat";
import { go, place } from "./place";
import { linkTo, nameOf, sourceText, whereOf } from "./names";

const GROUPS: [Origin, string, string][] = [
	["project", "Project", "files of the program itself"],
	["site", "Site-packages", "installed packages"],
	["stdlib", "Standard library", ""],
	["frozen", "Frozen modules", "part of the interpreter, without a file"],
	["generated", "Generated code", "made by exec, eval and the like, without a file"],
	["marker", "Not on a line", "markers between and above Python frames"],
];
const HOT_LINES = 12;
const closed = new Set<Origin>();

interface Column {
	key: string;
	title: string;
	about: string;
	value: (file: number) => number | string;
}

function columns(profile: Profile, view: View): Column[] {
	return [
		{ key: "name", title: "File", about: "Path, without what all of the group share", value: (f) => profile.files[f]!.short },
		{ key: "own", title: "Own", about: "Samples in which a line of the file was running", value: (f) => view.files.own[f]! },
		{ key: "total", title: "Total", about: "Samples with the file anywhere on the stack, each counted once", value: (f) => view.files.total[f]! },
		{ key: "time", title: "Own time", about: "Real time that the own samples stand for", value: (f) => view.files.ownUs[f]! },
		{ key: "lines", title: "Lines", about: "Lines with samples", value: (f) => sampledLines(profile, view, f) },
	];
}

function sampledLines(profile: Profile, view: View, file: number): number {
	return profile.files[file]!.lines.reduce((n, line) => n + (view.lines.total[line]! > 0 ? 1 : 0), 0);
}

export function matches(text: string, query: string): boolean {
	const wanted = query.trim().toLowerCase();
	return wanted === "" || text.toLowerCase().includes(wanted);
}

// By path, or by the name of a function that was sampled in it.
function fileMatches(profile: Profile, view: View, file: number, query: string): boolean {
	const f = profile.files[file]!;
	return (
		matches(f.path, query) ||
		(query.trim() !== "" && f.functions.some((x) => view.functions.total[x]! > 0 && matches(profile.functions[x]!.name, query)))
	);
}

function bar(measure: string, part: number, whole: number): HTMLElement {
	const fill = part > 0 && el("span", { class: "fill" });
	if (fill) fill.style.width = `${(100 * part) / whole}%`;
	return el("span", { class: `bar ${measure}` }, fill);
}

function share(measure: string, part: number, whole: number): HTMLElement {
	return el("td", { class: "number share", title: `${count(part)} of ${count(whole)} samples` },
		bar(measure, part, whole), el("span", { class: part > 0 ? "" : "faint" }, part > 0 ? percent(part, whole) : "–"));
}

const NOTES: Record<string, string> = {
	missing: "source missing",
	denied: "source not readable",
	large: "source too large",
	not_python: "not shown",
	unreadable: "source not readable",
	unread: "source not read",
	other_root: "source not read",
};

function fileRow(profile: Profile, view: View, file: number): HTMLElement {
	const f = profile.files[file]!;
	const source = profile.sources.get(file);
	const note = source ? (source.changed ? "changed since" : NOTES[source.state]) : undefined;
	const name = el("span", { class: "name mono", title: visible(f.path) }, visible(f.short) || "(no name)");
	return el("tr", { class: "file" },
		el("td", { class: "path" }, f.origin === "marker" ? name : linkTo({ file: f.path, line: 0 }, name), note && el("span", { class: "note" }, note)),
		share("own", view.files.own[file]!, view.nSamples),
		share("total", view.files.total[file]!, view.nSamples),
		el("td", { class: "number" }, time(1000 * view.files.ownUs[file]!)),
		el("td", { class: "number soft" }, f.origin === "marker" ? "" : count(sampledLines(profile, view, file))));
}

function head(profile: Profile, view: View): HTMLElement {
	const sort = place().sort;
	return el("thead", {}, el("tr", {}, ...columns(profile, view).map((column) => {
		const on = sort.replace("-", "") === column.key;
		const rising = on && (sort.startsWith("-") !== (column.key === "name"));
		const next = on ? (sort.startsWith("-") ? column.key : `-${column.key}`) : column.key;
		return el("th", { class: column.key === "name" ? "" : "number", "aria-sort": on ? (rising ? "ascending" : "descending") : "none" },
			el("button", { class: "sort", "data-key": column.key, title: column.about, click: () => go({ sort: next }, true) },
				column.title, el("span", { class: "arrow", "aria-hidden": true }, on ? (rising ? " ▲" : " ▼") : "")));
	})));
}

function sorted(profile: Profile, view: View, files: number[]): number[] {
	const sort = place().sort;
	const list = columns(profile, view);
	const column = list.find((c) => c.key === sort.replace("-", "")) ?? list[1]!;
	const sign = sort.startsWith("-") ? -1 : 1;
	const order = (a: number, b: number): number => {
		const x = column.value(a);
		const y = column.value(b);
		if (typeof x === "string" && typeof y === "string") return x < y ? -1 : x > y ? 1 : 0;
		return (y as number) - (x as number);
	};
	return files.sort((a, b) => sign * order(a, b) || view.files.total[b]! - view.files.total[a]! || a - b);
}

function table(profile: Profile, view: View): HTMLElement {
	const query = place().query;
	const sampled = profile.files.map((_, i) => i).filter((i) => view.files.total[i]! > 0);
	const found = sampled.filter((i) => fileMatches(profile, view, i, query));
	const bodies = GROUPS.flatMap(([origin, title, about]) => {
		const files = sorted(profile, view, found.filter((i) => profile.files[i]!.origin === origin));
		if (files.length === 0) return [];
		const own = files.reduce((n, i) => n + view.files.own[i]!, 0);
		const ownUs = files.reduce((n, i) => n + view.files.ownUs[i]!, 0);
		const open = !closed.has(origin) || query.trim() !== "";
		const toggle = el("button", { class: "fold", "aria-expanded": open ? "true" : "false", "data-group": origin, click: () => {
			if (!closed.delete(origin)) closed.add(origin);
			go({}, true);
		} }, el("span", { class: "chevron", "aria-hidden": true }, "▸"), title, el("span", { class: "soft count" }, count(files.length)));
		return [el("tbody", { class: open ? "group" : "group shut" },
			el("tr", { class: "group-head" }, el("th", { scope: "rowgroup" }, toggle, el("span", { class: "faint about" }, about)),
				share("own", own, view.nSamples), el("td", {}), el("td", { class: "number" }, time(1000 * ownUs)), el("td", {})),
			...(open ? files.map((i) => fileRow(profile, view, i)) : []))];
	});
	if (bodies.length === 0)
		return el("p", { class: "nothing" }, sampled.length === 0 ? "No samples were taken." : "No file and no function has that in its name.");
	return el("table", { class: "files" }, head(profile, view), ...bodies);
}

function fact(title: string, value: string, note = "", bad = false): HTMLElement {
	return el("div", { class: `fact ${title.toLowerCase().replace(/ /g, "-")}` }, el("span", { class: "soft" }, title), el("strong", { class: "name", title: value }, value),
		note !== "" && el("span", { class: bad ? "bad" : "faint" }, note));
}

function facts(profile: Profile): HTMLElement {
	const run = profile.run;
	const stats = run.stats;
	const one = run.processes[0];
	const rate = stats && run.duration_s > 0 ? stats.captured / run.duration_s : 0;
	const missed = stats ? stats.lost + stats.late : 0;
	return el("section", { class: "facts" },
		fact("Program", visible(one?.command ?? "–"), run.processes.length > 1 ? `and ${run.processes.length - 1} more process${run.processes.length === 2 ? "" : "es"}` : one ? `pid ${one.pid}, Python ${visible(one.python)}` : ""),
		fact("Sampled", time(run.duration_s * 1e9), run.start_ms > 0 ? date(run.start_ms) : ""),
		fact("Stacks", count(run.n_samples), `${count(run.threads.length)} thread${run.threads.length === 1 ? "" : "s"}, ${run.mode} mode`),
		fact("Rate", rate > 0 ? `${rate.toFixed(rate < 100 ? 1 : 0)}/s` : "–", run.rate_hz > 0 ? `${run.rate_hz}/s wanted` : "as fast as it went"),
		stats ? fact("Not taken", count(missed), `${count(stats.lost)} lost, ${count(stats.late)} late`, missed > 0.01 * (stats.captured + missed)) : null);
}

function hottest(profile: Profile, view: View): HTMLElement | null {
	const query = place().query;
	const heat = place().measure === "total" ? view.lines.total : view.lines.own;
	const measure = place().measure === "total" ? "total" : "own";
	const lines = Array.from(heat.keys()).filter((i) => heat[i]! > 0 && fileMatches(profile, view, profile.lineFile[i]!, query))
		.sort((a, b) => heat[b]! - heat[a]! || a - b).slice(0, HOT_LINES);
	if (lines.length === 0) return null;
	const most = heat[lines[0]!]!;
	return el("section", { class: "hottest" },
		el("h2", {}, `Hottest lines, by ${measure}`),
		el("ol", {}, ...lines.map((line) => {
			const file = profile.files[profile.lineFile[line]!]!;
			const number = profile.lineNumber[line]!;
			const chip = el("span", { class: "chip number" }, percent(heat[line]!, view.nSamples));
			chip.style.backgroundColor = heatColour(measure, strength(heat[line]!, most));
			return el("li", {}, linkTo({ file: file.path, line: number }, chip,
				el("span", { class: "mono name snippet" }, sourceText(profile, line).trim() || `in ${profile.functionsOfLine(line).map((f) => nameOf(profile, f)).join(", ")}`),
				el("span", { class: "where name soft", title: visible(file.path) }, whereOf(profile, line))));
		})));
}

export function indexPage(profile: Profile): HTMLElement {
	const view = profile.view(place().view);
	const left = profile.threadsLeftOut;
	return el("main", { class: "index", id: "main" }, facts(profile), hottest(profile, view), table(profile, view),
		left > 0 && el("p", { class: "faint" }, `${count(left)} more threads have no view of their own; their samples are part of all samples.`));
}
