// What src/export/heatmap.c writes, and the same as tables that can be asked. Everything is numbered: a file, a line
// (file and line number), a function, a spot (a place in a line: columns and instruction), a call (line -> function), a
// caller (line <- line). A view is a part of the samples with what was counted for each number.
import { readPayload } from "../shared/payload";
import type { Run } from "./run";

export type Origin = "project" | "stdlib" | "site" | "frozen" | "generated" | "marker";

interface RawView {
	kind: "all" | "state" | "process" | "thread";
	state?: string;
	index: number;
	n_samples: number;
	weight_us: number;
	files: number[];
	functions: number[];
	lines: number[];
	spots: number[];
	calls: number[];
	callers: number[];
}

export interface Source {
	file: number;
	state: "shown" | "missing" | "denied" | "large" | "not_python" | "unreadable" | "unread" | "other_root";
	parts?: [number, string][]; // first line, "line\nline\n..."
	whole?: boolean;
	lines?: number; // of the file
	beyond?: number; // sampled lines that it does not have
	changed?: boolean; // written to after the sampling began
}

interface Raw {
	schema: string;
	run: Run;
	files: [string, Origin, number][];
	functions: [string, number, number][];
	lines: number[];
	opcodes: [number, string][];
	spots: number[];
	calls: number[];
	callers: number[];
	views: RawView[];
	threads_left_out: number;
	replayed: boolean;
	sources: Source[];
}

// Own and total by number, as samples and for files and lines as microseconds.
export class Heat {
	readonly own: Float64Array;
	readonly total: Float64Array;
	readonly ownUs: Float64Array;
	readonly totalUs: Float64Array;
	constructor(n: number, list: number[], timed = true) {
		this.own = new Float64Array(n);
		this.total = new Float64Array(n);
		this.ownUs = new Float64Array(timed ? n : 0);
		this.totalUs = new Float64Array(timed ? n : 0);
		for (let i = 0; i + 2 < list.length; i += timed ? 5 : 3) {
			const at = list[i]!;
			this.own[at] = list[i + 1]!;
			this.total[at] = list[i + 2]!;
			if (!timed) continue;
			this.ownUs[at] = list[i + 3]!;
			this.totalUs[at] = list[i + 4]!;
		}
	}
}

function totals(n: number, list: number[]): Float64Array {
	const result = new Float64Array(n);
	for (let i = 0; i + 1 < list.length; i += 2) result[list[i]!] = list[i + 1]!;
	return result;
}

export interface View {
	key: string; // in the address: "all", "state:gil", "thread:3"
	kind: RawView["kind"];
	label: string;
	nSamples: number;
	weightUs: number;
	files: Heat;
	functions: Heat;
	lines: Heat;
	spots: Heat;
	calls: Float64Array;
	callers: Float64Array;
}

export interface File {
	path: string;
	short: string; // without what all of its group have in common
	origin: Origin;
	process: number; // -1: unknown
	lines: number[]; // numbers of its lines, by rising line
	functions: number[];
}

export interface Func {
	name: string;
	file: number;
	line: number;
}

export interface Spot {
	func: number;
	line: number; // -1: on none
	endLine: number;
	column: number; // in bytes of UTF-8; -1 unknown
	endColumn: number;
	opcode: string; // "" not taken
	base: string;
}

const STATES: Record<string, string> = {
	on_cpu: "On CPU",
	off_cpu: "Off CPU",
	gil: "Holding the GIL",
	gil_waiting: "Waiting for the GIL",
	exception: "In an exception",
	gc: "Collecting garbage",
};

function commonFolder(paths: string[]): string {
	let common = paths[0]?.slice(0, paths[0].lastIndexOf("/") + 1) ?? "";
	for (const path of paths) {
		while (!path.startsWith(common)) common = common.slice(0, common.lastIndexOf("/", common.length - 2) + 1);
	}
	return common;
}

function shorten(files: File[]): void {
	const mine = files.filter((f) => f.origin === "project" && f.path.startsWith("/"));
	const folder = commonFolder(mine.map((f) => f.path));
	for (const f of files) {
		const pattern =
			f.origin === "site" ? /^.*\/(?:site|dist)-packages\// : /^.*\/(?:python|pypy)[0-9][^/]*\//;
		f.short = f.path;
		if (f.origin === "project" && f.path.startsWith(folder)) f.short = f.path.slice(folder.length) || f.path;
		if (f.origin === "site" || f.origin === "stdlib") f.short = f.path.replace(pattern, "") || f.path;
	}
}

function push(lists: Map<number, number[]>, key: number, value: number): void {
	const list = lists.get(key);
	if (list) list.push(value);
	else lists.set(key, [value]);
}

export class Profile {
	readonly run: Run;
	readonly files: File[];
	readonly functions: Func[];
	readonly lineFile: Int32Array;
	readonly lineNumber: Int32Array;
	readonly spots: Spot[] = [];
	readonly callFrom: number[] = []; // line
	readonly callTo: number[] = []; // function
	readonly callerOf: number[] = []; // line
	readonly callerFrom: number[] = []; // the line that called it
	readonly spotsOfLine = new Map<number, number[]>();
	readonly callsOfLine = new Map<number, number[]>();
	readonly callersOfLine = new Map<number, number[]>();
	readonly callsOfFunction = new Map<number, number[]>();
	readonly sources = new Map<number, Source>();
	readonly views: { key: string; kind: RawView["kind"]; label: string; nSamples: number }[];
	readonly threadsLeftOut: number;
	readonly replayed: boolean; // source files are those of who wrote this page, not the program's
	private readonly raw: RawView[];
	private readonly known = new Map<string, View>();

	constructor(raw: Raw) {
		this.run = raw.run;
		this.raw = raw.views;
		this.threadsLeftOut = raw.threads_left_out;
		this.replayed = raw.replayed;
		this.files = raw.files.map(([path, origin, process]) => ({
			path,
			short: path,
			origin,
			process,
			lines: [],
			functions: [],
		}));
		shorten(this.files);
		this.functions = raw.functions.map(([name, file, line]) => ({ name, file, line }));
		this.functions.forEach((f, i) => this.files[f.file]?.functions.push(i));
		const n = raw.lines.length / 2;
		this.lineFile = new Int32Array(n);
		this.lineNumber = new Int32Array(n);
		for (let i = 0; i < n; i++) {
			this.lineFile[i] = raw.lines[2 * i]!;
			this.lineNumber[i] = raw.lines[2 * i + 1]!;
			this.files[raw.lines[2 * i]!]?.lines.push(i);
		}
		for (const f of this.files) f.lines.sort((a, b) => this.lineNumber[a]! - this.lineNumber[b]!);
		this.takeSpots(raw);
		this.takeCalls(raw);
		for (const s of raw.sources) this.sources.set(s.file, s);
		this.views = raw.views.map((v) => ({
			key: v.kind === "all" ? "all" : `${v.kind}:${v.kind === "state" ? v.state : v.index}`,
			kind: v.kind,
			label: this.label(v),
			nSamples: v.n_samples,
		}));
	}

	private takeSpots(raw: Raw): void {
		const names = new Map(raw.opcodes);
		for (let i = 0; i + 6 < raw.spots.length; i += 7) {
			const at = raw.spots.slice(i, i + 7) as [number, number, number, number, number, number, number];
			push(this.spotsOfLine, at[1], this.spots.length);
			this.spots.push({
				func: at[0],
				line: at[1],
				endLine: at[2],
				column: at[3],
				endColumn: at[4],
				opcode: names.get(at[5]) ?? "",
				base: names.get(at[6]) ?? "",
			});
		}
	}

	private takeCalls(raw: Raw): void {
		for (let i = 0; i + 1 < raw.calls.length; i += 2) {
			push(this.callsOfLine, raw.calls[i]!, this.callFrom.length);
			push(this.callsOfFunction, raw.calls[i + 1]!, this.callFrom.length);
			this.callFrom.push(raw.calls[i]!);
			this.callTo.push(raw.calls[i + 1]!);
		}
		for (let i = 0; i + 1 < raw.callers.length; i += 2) {
			push(this.callersOfLine, raw.callers[i]!, this.callerOf.length);
			this.callerOf.push(raw.callers[i]!);
			this.callerFrom.push(raw.callers[i + 1]!);
		}
	}

	private label(view: RawView): string {
		if (view.kind === "all") return "All samples";
		if (view.kind === "state") return STATES[view.state ?? ""] ?? view.state ?? "";
		if (view.kind === "process") {
			const process = this.run.processes[view.index];
			return process ? `${process.command} (${process.pid})` : `process ${view.index}`;
		}
		const thread = this.run.threads[view.index];
		return thread ? `${thread.name || "thread"} (${thread.tid})` : `thread ${view.index}`;
	}

	// The view of that key; all samples when there is none.
	view(key: string): View {
		const at = Math.max(
			0,
			this.views.findIndex((v) => v.key === key),
		);
		const told = this.views[at]!;
		const raw = this.raw[at]!;
		let view = this.known.get(told.key);
		if (!view) {
			view = {
				...told,
				weightUs: raw.weight_us,
				files: new Heat(this.files.length, raw.files),
				functions: new Heat(this.functions.length, raw.functions, false),
				lines: new Heat(this.lineFile.length, raw.lines),
				spots: new Heat(this.spots.length, raw.spots, false),
				calls: totals(this.callFrom.length, raw.calls),
				callers: totals(this.callerOf.length, raw.callers),
			};
			this.known.set(told.key, view);
		}
		return view;
	}

	fileByPath(path: string): number {
		return this.files.findIndex((f) => f.path === path);
	}

	// Names of the functions that a line was sampled in.
	functionsOfLine(line: number): number[] {
		return [...new Set((this.spotsOfLine.get(line) ?? []).map((s) => this.spots[s]!.func))];
	}
}

export async function readProfile(): Promise<Profile> {
	const raw = (await readPayload()) as Raw;
	if (raw.schema !== "tachyscope-heatmap/1") throw new Error("this is not the data of a heatmap");
	return new Profile(raw);
}
