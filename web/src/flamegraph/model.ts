// What the page knows, in typed arrays. The columns of the payload (src/export/flame_html.c writes them):
//
// functions  name, file: numbers of strings; line: where it begins; kind: 0 Python, 1 native, 2 GC, 3 cut, 4 task
// frames     function, line: the executing one; opcode, base_opcode: numbers of strings, only where they were taken
// nodes      the prefix tree of stacks: parent (always a smaller number) and frame; node 0 is the empty stack
// samples    rows of bucket (stretch of time), thread, node, states, count and weight_us: real time
// sources    [file, or "" for that of the row before; line; text]
//
// A process with base=true is one of the run that this one is compared with; its samples have no times.
export interface Run {
	mode: string;
	rate_hz: number;
	start_unix_ms: number;
	duration_ns: number;
	n_samples: number;
	weight_ns: number;
	opcodes: boolean;
	async_aware: boolean;
	ticks?: number;
	lost?: number;
	late?: number;
	salvaged?: number;
}
export interface Process {
	pid: number;
	command: string;
	python: string;
	base: boolean;
}
interface Columns {
	[name: string]: number[];
}
interface Payload {
	schema: string;
	version: string;
	run: Run;
	base?: Run;
	processes: Process[];
	threads: { process: number; tid: number; name: string; main: boolean; interpreter: number }[];
	functions: Columns;
	frames: Columns;
	nodes: Columns;
	buckets: { n: number; width_ns: number };
	samples: Columns;
	sources: [string, number, string][];
	strings: string[];
}

export const STATE = {
	gil: 1,
	waiting: 2,
	cpu: 4,
	exception: 8,
	gc: 16,
	main: 32,
	gilKnown: 64,
	cpuKnown: 128,
} as const;
export const KIND = { python: 0, native: 1, gc: 2, cut: 3, task: 4 } as const;
export type Category = "project" | "package" | "library" | "marker";

export interface Thread {
	process: number;
	tid: number;
	name: string;
	main: boolean;
	base: boolean;
}

export interface Model {
	version: string;
	run: Run;
	base: Run | null;
	processes: Process[];
	threads: Thread[]; // one per thread of a process, however often its names changed
	n: number; // nodes
	parent: Uint32Array;
	frame: Uint32Array;
	firstChild: Uint32Array; // 0: none, node 0 is nobody's child
	nextSibling: Uint32Array;
	frameFunction: Uint32Array;
	frameLine: Int32Array;
	frameLineKey: Uint32Array; // equal for equal (function, line)
	nLineKeys: number;
	lineKeyFrame: Uint32Array; // a frame that stands for the key
	frameOpcode: string[] | null;
	frameBaseOpcode: string[] | null;
	name: string[]; // by function
	file: string[];
	line: Int32Array;
	kind: Uint8Array;
	category: Category[];
	buckets: number;
	bucketNs: number;
	rowBucket: Uint32Array;
	rowThread: Uint32Array;
	rowNode: Uint32Array;
	rowStates: Uint16Array;
	rowCount: Float64Array;
	rowWeight: Float64Array; // ns
	allStates: number; // every bit that some row has
	sources: Map<string, Map<number, string>>;
}

const LIBRARY = /[\\/](lib|Lib|lib64)[\\/](python|pypy)3(\.\d+t?)?[\\/]|[\\/]python3\d+\.zip[\\/]|^<frozen /;
const PACKAGE = /[\\/](site|dist)-packages[\\/]/;

function categorize(file: string, kind: number): Category {
	if (kind !== KIND.python && kind !== KIND.task) return "marker";
	if (PACKAGE.test(file)) return "package";
	return LIBRARY.test(file) ? "library" : "project";
}

// Threads as people mean them: a thread that was seen under two names (before and after it got one) is one.
function mergeThreads(payload: Payload): { threads: Thread[]; threadOf: Uint32Array } {
	const threads: Thread[] = [];
	const index = new Map<string, number>();
	const own = payload.threads.map((thread) => {
		const key = `${thread.process} ${thread.tid} ${thread.interpreter}`;
		const base = payload.processes[thread.process]?.base ?? false;
		let at = thread.tid ? index.get(key) : undefined;
		if (at === undefined) {
			at = threads.length;
			threads.push({ process: thread.process, tid: thread.tid, name: thread.name, main: thread.main, base });
			index.set(key, at);
		} else if (!threads[at].name) {
			threads[at].name = thread.name;
		}
		return at;
	});
	return { threads, threadOf: Uint32Array.from(own) };
}

function readSources(rows: Payload["sources"]): Model["sources"] {
	const sources: Model["sources"] = new Map();
	let lines = new Map<number, string>();
	for (const [file, line, text] of rows) {
		if (file !== "") {
			lines = sources.get(file) ?? new Map<number, string>();
			sources.set(file, lines);
		}
		lines.set(line, text);
	}
	return sources;
}

const NO_FRAME = "<no Python frame>";

// Samples of the empty stack get a node of their own, so that every sample is somewhere to be seen.
function nameEmptyStack(payload: Payload): void {
	const { samples, nodes, frames, functions, strings } = payload;
	if (!samples.node.includes(0)) return;
	const node = nodes.parent.push(0) - 1;
	nodes.frame.push(frames.function.length);
	frames.function.push(functions.name.length);
	frames.line.push(0);
	frames.opcode?.push(0);
	frames.base_opcode?.push(0);
	functions.name.push(strings.push(NO_FRAME) - 1);
	functions.file.push(0);
	functions.line.push(0);
	functions.kind.push(KIND.cut);
	samples.node = samples.node.map((at) => (at === 0 ? node : at));
}

function linkChildren(parent: Uint32Array): { firstChild: Uint32Array; nextSibling: Uint32Array } {
	const firstChild = new Uint32Array(parent.length);
	const nextSibling = new Uint32Array(parent.length);
	for (let i = parent.length - 1; i > 0; i--) {
		nextSibling[i] = firstChild[parent[i]];
		firstChild[parent[i]] = i;
	}
	return { firstChild, nextSibling };
}

function numberLines(frames: Columns): { key: Uint32Array; frameOf: Uint32Array } {
	const byPlace = new Map<string, number>();
	const frameOf: number[] = [];
	const key = Uint32Array.from(frames.function, (fn, i) => {
		const place = `${fn}:${frames.line[i]}`;
		let at = byPlace.get(place);
		if (at === undefined) {
			at = frameOf.push(i) - 1;
			byPlace.set(place, at);
		}
		return at;
	});
	return { key, frameOf: Uint32Array.from(frameOf) };
}

export function decode(data: unknown): Model {
	const payload = data as Payload;
	if (payload?.schema !== "tachyscope-flamegraph/1") throw new Error("its data are of another version");
	nameEmptyStack(payload);
	const { functions, frames, nodes, samples, strings } = payload;
	const { threads, threadOf } = mergeThreads(payload);
	const parent = Uint32Array.from(nodes.parent);
	const lines = numberLines(frames);
	const file = functions.file.map((at) => strings[at] ?? "");
	const rowThread = Uint32Array.from(samples.thread, (at) => threadOf[at] ?? threads.length);
	if (rowThread.includes(threads.length))
		threads.push({ process: 0, tid: 0, name: "", main: false, base: false });
	return {
		version: payload.version,
		run: payload.run,
		base: payload.base ?? null,
		processes: payload.processes,
		threads,
		n: parent.length,
		parent,
		frame: Uint32Array.from(nodes.frame),
		...linkChildren(parent),
		frameFunction: Uint32Array.from(frames.function),
		frameLine: Int32Array.from(frames.line),
		frameLineKey: lines.key,
		nLineKeys: lines.frameOf.length,
		lineKeyFrame: lines.frameOf,
		frameOpcode: frames.opcode?.map((at) => strings[at] ?? "") ?? null,
		frameBaseOpcode: frames.base_opcode?.map((at) => strings[at] ?? "") ?? null,
		name: functions.name.map((at) => strings[at] ?? ""),
		file,
		line: Int32Array.from(functions.line),
		kind: Uint8Array.from(functions.kind),
		category: file.map((path, i) => categorize(path, functions.kind[i])),
		buckets: Math.max(1, payload.buckets.n),
		bucketNs: payload.buckets.width_ns,
		rowBucket: Uint32Array.from(samples.bucket),
		rowThread,
		rowNode: Uint32Array.from(samples.node),
		rowStates: Uint16Array.from(samples.states),
		rowCount: Float64Array.from(samples.count),
		rowWeight: Float64Array.from(samples.weight_us, (us) => us * 1000),
		allStates: samples.states.reduce((all, one) => all | one, 0),
		sources: readSources(payload.sources),
	};
}
