// Views of the weighted tree: callees downward, callers upward (inverted), or both from one function. A view node
// stands for all stacks that share the functions (or lines) on its path; its children are made when they are
// first looked at, so that a view of any size opens at once.
import { type Weights } from "./filter";
import { type Model } from "./model";

export interface ViewNode {
	key: number; // function, or line key; -1: the root
	parent: ViewNode | null;
	depth: number; // 0: the root
	x: number; // where it begins, in the weight that widths are taken from
	width: number;
	total: number; // ns
	own: number;
	count: number; // samples, total
	ownCount: number;
	base: number; // ns, scaled
	baseOwn: number;
	children: ViewNode[] | null; // null: not made yet
	members: number[]; // nodes of the model: the cursors
	starts: number[] | null; // upward only: the node whose weight a cursor carries
}

export type Direction = "down" | "up";

export class Tree {
	readonly root: ViewNode;
	private readonly keyOf: (node: number) => number;

	constructor(
		private readonly model: Model,
		private readonly weights: Weights,
		readonly byLine: boolean,
		readonly direction: Direction,
		private readonly scale: number, // of the base
		private readonly widthOfBase: boolean,
		focus: number | null, // sandwich: the function or line it is about
	) {
		const { frame, frameFunction, frameLineKey } = model;
		this.keyOf = byLine ? (node) => frameLineKey[frame[node]] : (node) => frameFunction[frame[node]];
		const root = this.make(-1, null);
		if (focus !== null) {
			root.key = focus;
			this.takeOutermost(root, focus);
		} else if (direction === "down") {
			this.add(root, 0, 0);
		} else {
			this.takeOwn(root);
		}
		root.width = this.widthOf(root);
		this.root = root;
	}

	key(node: number): number {
		return this.keyOf(node);
	}

	private make(key: number, parent: ViewNode | null): ViewNode {
		return {
			key,
			parent,
			depth: parent ? parent.depth + 1 : 0,
			x: 0,
			width: 0,
			total: 0,
			own: 0,
			count: 0,
			ownCount: 0,
			base: 0,
			baseOwn: 0,
			children: null,
			members: [],
			starts: this.direction === "up" ? [] : null,
		};
	}

	private widthOf(node: ViewNode): number {
		return this.widthOfBase ? node.base : node.total;
	}

	// A cursor at `node`. Upward it carries the own time of `start`, or all of it in a sandwich (start < 0: ~start).
	private add(view: ViewNode, node: number, start: number): void {
		const w = this.weights;
		view.members.push(node);
		if (view.starts) {
			view.starts.push(start);
			const all = start < 0;
			const at = all ? ~start : start;
			view.total += all ? w.total[at] : w.own[at];
			view.count += all ? w.totalCount[at] : w.ownCount[at];
			view.base += (all ? w.baseTotal[at] : w.baseOwn[at]) * this.scale;
			return;
		}
		view.total += w.total[node];
		view.own += w.own[node];
		view.count += w.totalCount[node];
		view.ownCount += w.ownCount[node];
		view.base += w.baseTotal[node] * this.scale;
		view.baseOwn += w.baseOwn[node] * this.scale;
	}

	private takeOwn(root: ViewNode): void {
		const { own, baseOwn } = this.weights;
		for (let i = 1; i < this.model.n; i++) if (own[i] > 0 || baseOwn[i] > 0) this.add(root, i, i);
	}

	// Nodes of `focus` that have none of the same above them: recursion counts once.
	private takeOutermost(root: ViewNode, focus: number): void {
		const { parent, n } = this.model;
		const inside = new Uint8Array(n);
		for (let i = 1; i < n; i++) {
			inside[i] = inside[parent[i]];
			if (this.keyOf(i) !== focus) continue;
			if (!inside[i] && (this.weights.total[i] > 0 || this.weights.baseTotal[i] > 0)) this.add(root, i, ~i);
			inside[i] = 1;
		}
	}

	children(view: ViewNode): ViewNode[] {
		if (view.children) return view.children;
		const groups = new Map<number, ViewNode>();
		const into = (node: number, start: number): void => {
			const key = this.keyOf(node);
			let group = groups.get(key);
			if (!group) {
				group = this.make(key, view);
				groups.set(key, group);
			}
			this.add(group, node, start);
		};
		if (view.starts) this.groupCallers(view, view.starts, into);
		else this.groupCallees(view, into);
		const children = [...groups.values()];
		for (const child of children) child.width = this.widthOf(child);
		children.sort((a, b) => b.width - a.width || a.key - b.key);
		let x = view.x;
		for (const child of children) {
			child.x = x;
			x += child.width;
		}
		view.children = children;
		return children;
	}

	private groupCallees(view: ViewNode, into: (node: number, start: number) => void): void {
		const { firstChild, nextSibling } = this.model;
		const { total, baseTotal } = this.weights;
		for (const member of view.members)
			for (let child = firstChild[member]; child; child = nextSibling[child])
				if (total[child] > 0 || baseTotal[child] > 0) into(child, 0);
	}

	private groupCallers(view: ViewNode, starts: number[], into: (node: number, start: number) => void): void {
		const { parent } = this.model;
		const w = this.weights;
		const isRoot = view.parent === null && starts.length > 0 && starts[0] >= 0;
		view.members.forEach((member, i) => {
			const next = isRoot ? member : parent[member];
			const start = starts[i];
			if (next !== 0) {
				into(next, start);
				return;
			}
			const at = start < 0 ? ~start : start; // the path ends here
			view.own += start < 0 ? w.total[at] : w.own[at];
			view.ownCount += start < 0 ? w.totalCount[at] : w.ownCount[at];
		});
	}

	// The node at the end of a path of keys; as far down as there is one.
	find(path: number[]): ViewNode {
		let at = this.root;
		for (const key of path) {
			const next = this.children(at).find((child) => child.key === key);
			if (!next) break;
			at = next;
		}
		return at;
	}
}

export function pathOf(node: ViewNode): number[] {
	const path: number[] = [];
	for (let at: ViewNode | null = node; at?.parent; at = at.parent) path.push(at.key);
	return path.reverse();
}
