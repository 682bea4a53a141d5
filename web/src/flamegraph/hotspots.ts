// Own and total of every function or line, recursion counted once per stack; and callers and callees of one.
import { type Weights } from "./filter";
import { type Model } from "./model";

export interface Spot {
	key: number;
	own: number;
	total: number;
	ownCount: number;
	totalCount: number;
	baseOwn: number;
	baseTotal: number;
}

export function spots(model: Model, weights: Weights, byLine: boolean, scale: number): Spot[] {
	const n = byLine ? model.nLineKeys : model.name.length;
	const all: Spot[] = Array.from({ length: n }, (_, key) => ({
		key,
		own: 0,
		total: 0,
		ownCount: 0,
		totalCount: 0,
		baseOwn: 0,
		baseTotal: 0,
	}));
	const onPath = new Uint32Array(n);
	const { frame, firstChild, nextSibling, parent } = model;
	const keys = byLine ? model.frameLineKey : model.frameFunction;
	// depth first, without recursion of our own: stacks may be as deep as they like
	let node = firstChild[0];
	let entering = true;
	while (node) {
		const key = keys[frame[node]];
		if (entering) {
			const spot = all[key];
			spot.own += weights.own[node];
			spot.ownCount += weights.ownCount[node];
			spot.baseOwn += weights.baseOwn[node] * scale;
			if (onPath[key]++ === 0) {
				spot.total += weights.total[node];
				spot.totalCount += weights.totalCount[node];
				spot.baseTotal += weights.baseTotal[node] * scale;
			}
			if (firstChild[node]) {
				node = firstChild[node];
				continue;
			}
		}
		onPath[key]--;
		entering = nextSibling[node] !== 0;
		node = entering ? nextSibling[node] : parent[node];
	}
	return all.filter((spot) => spot.total > 0 || spot.baseTotal > 0);
}

export interface Detail {
	lines: { line: number; own: number; total: number }[]; // of a function, by total
	opcodes: { opcode: string; base: string; own: number }[];
	callers: { key: number; weight: number }[];
	callees: { key: number; weight: number }[];
}

function sorted(map: Map<number, number>): { key: number; weight: number }[] {
	return [...map].map(([key, weight]) => ({ key, weight })).sort((a, b) => b.weight - a.weight);
}

// What is worth telling about one function or line, from all of its nodes.
export function detail(model: Model, weights: Weights, byLine: boolean, focus: number): Detail {
	const { frame, parent, frameLine, n } = model;
	const keys = byLine ? model.frameLineKey : model.frameFunction;
	const lines = new Map<number, { line: number; own: number; total: number }>();
	const opcodes = new Map<string, { opcode: string; base: string; own: number }>();
	const callers = new Map<number, number>();
	const callees = new Map<number, number>();
	const inside = new Uint8Array(n);
	const more = (map: Map<number, number>, key: number, weight: number): void => {
		map.set(key, (map.get(key) ?? 0) + weight);
	};
	for (let i = 1; i < n; i++) {
		const above = parent[i];
		const key = keys[frame[i]];
		inside[i] = inside[above] || key === focus ? 1 : 0;
		if (weights.total[i] <= 0) continue;
		if (above && keys[frame[above]] === focus && key !== focus) more(callees, key, weights.total[i]);
		if (key !== focus) continue;
		if (above && !inside[above]) more(callers, keys[frame[above]], weights.total[i]);
		const number = frameLine[frame[i]];
		const line = lines.get(number) ?? { line: number, own: 0, total: 0 };
		line.own += weights.own[i];
		line.total += inside[above] ? 0 : weights.total[i];
		lines.set(number, line);
		const opcode = model.frameOpcode?.[frame[i]];
		if (opcode && weights.own[i] > 0) {
			const base = model.frameBaseOpcode?.[frame[i]] ?? "";
			const entry = opcodes.get(opcode) ?? { opcode, base, own: 0 };
			entry.own += weights.own[i];
			opcodes.set(opcode, entry);
		}
	}
	return {
		lines: [...lines.values()].sort((a, b) => b.total - a.total || b.own - a.own),
		opcodes: [...opcodes.values()].sort((a, b) => b.own - a.own),
		callers: sorted(callers),
		callees: sorted(callees),
	};
}
