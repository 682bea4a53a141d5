// Which samples count, and what that makes of the tree: own and total weight of every node.
import { type Model } from "./model";

export type Want = "any" | "only" | "without";

export interface Filter {
	threads: Uint8Array; // 1: shown
	states: Map<number, Want>; // bit -> what is wanted of it
	range: [number, number]; // buckets from .. up to, the second not included
}

export interface Weights {
	own: Float64Array; // ns, by node
	total: Float64Array;
	ownCount: Float64Array; // samples
	totalCount: Float64Array;
	baseOwn: Float64Array; // of the base, ns as measured
	baseTotal: Float64Array;
	all: number; // ns
	allCount: number;
	baseAll: number;
}

export interface Series {
	all: Float64Array; // ns by bucket, whatever the range
	busy: Float64Array; // of these: holding the GIL or on a CPU
	matched: Float64Array; // of these: of matching stacks
}

export function fullFilter(model: Model): Filter {
	return { threads: new Uint8Array(model.threads.length).fill(1), states: new Map(), range: [0, model.buckets] };
}

export function isFullRange(model: Model, filter: Filter): boolean {
	return filter.range[0] === 0 && filter.range[1] === model.buckets;
}

function masks(filter: Filter): { only: number; without: number } {
	let only = 0;
	let without = 0;
	for (const [bit, want] of filter.states) {
		if (want === "only") only |= bit;
		if (want === "without") without |= bit;
	}
	return { only, without };
}

function accumulate(parent: Uint32Array, own: Float64Array): Float64Array {
	const total = own.slice();
	for (let i = total.length - 1; i > 0; i--) total[parent[i]] += total[i];
	return total;
}

export function weigh(model: Model, filter: Filter): Weights {
	const own = new Float64Array(model.n);
	const ownCount = new Float64Array(model.n);
	const baseOwn = new Float64Array(model.n);
	const { only, without } = masks(filter);
	const [from, upto] = filter.range;
	const { rowBucket, rowThread, rowNode, rowStates, rowWeight, rowCount, threads } = model;
	for (let i = 0; i < rowNode.length; i++) {
		if (!filter.threads[rowThread[i]]) continue;
		const states = rowStates[i];
		if ((states & only) !== only || states & without) continue;
		if (threads[rowThread[i]].base) {
			baseOwn[rowNode[i]] += rowWeight[i];
		} else if (rowBucket[i] >= from && rowBucket[i] < upto) {
			own[rowNode[i]] += rowWeight[i];
			ownCount[rowNode[i]] += rowCount[i];
		}
	}
	const total = accumulate(model.parent, own);
	const totalCount = accumulate(model.parent, ownCount);
	const baseTotal = model.base ? accumulate(model.parent, baseOwn) : baseOwn;
	return {
		own,
		total,
		ownCount,
		totalCount,
		baseOwn,
		baseTotal,
		all: total[0],
		allCount: totalCount[0],
		baseAll: baseTotal[0],
	};
}

// `matches`: by node, whether its stack holds a match; null: nothing is searched.
export function series(model: Model, filter: Filter, matches: Uint8Array | null): Series {
	const all = new Float64Array(model.buckets);
	const busy = new Float64Array(model.buckets);
	const matched = new Float64Array(model.buckets);
	const { only, without } = masks(filter);
	for (let i = 0; i < model.rowNode.length; i++) {
		const thread = model.rowThread[i];
		const states = model.rowStates[i];
		if (!filter.threads[thread] || model.threads[thread].base) continue;
		if ((states & only) !== only || states & without) continue;
		all[model.rowBucket[i]] += model.rowWeight[i];
		if (states & 5) busy[model.rowBucket[i]] += model.rowWeight[i];
		if (matches?.[model.rowNode[i]]) matched[model.rowBucket[i]] += model.rowWeight[i];
	}
	return { all, busy, matched };
}

// Share of each thread under the other filters, in ns.
export function byThread(model: Model, filter: Filter): Float64Array {
	const sums = new Float64Array(model.threads.length);
	const { only, without } = masks(filter);
	for (let i = 0; i < model.rowNode.length; i++) {
		const states = model.rowStates[i];
		const thread = model.rowThread[i];
		if ((states & only) !== only || states & without) continue;
		if (model.threads[thread].base || (model.rowBucket[i] >= filter.range[0] && model.rowBucket[i] < filter.range[1]))
			sums[thread] += model.rowWeight[i];
	}
	return sums;
}

// Share of each state bit under the thread and time filters, in ns.
export function byState(model: Model, filter: Filter): Map<number, number> {
	const sums = new Map<number, number>([1, 2, 4, 8, 16].map((bit) => [bit, 0]));
	for (let i = 0; i < model.rowNode.length; i++) {
		const thread = model.rowThread[i];
		if (!filter.threads[thread] || model.threads[thread].base) continue;
		if (model.rowBucket[i] < filter.range[0] || model.rowBucket[i] >= filter.range[1]) continue;
		for (const bit of sums.keys())
			if (model.rowStates[i] & bit) sums.set(bit, (sums.get(bit) ?? 0) + model.rowWeight[i]);
	}
	return sums;
}
