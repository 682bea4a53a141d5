// The flame graph itself, on a canvas. Only what can be seen is drawn: rectangles narrower than half a pixel become
// one grey strip per row, and what lies below them is never made. Rectangles are grouped by paint, so that a frame is
// a few dozen changes of colour and not as many as there are rectangles.
import { type Paint } from "./colours";
import { type Tree, type ViewNode } from "./tree";

export const ROW = 19;
const GAP = 1;
const TEXT_MIN = 26; // px that a label needs
const TINY = 0.5; // px
const ANIMATION_MS = 220;
const EXPAND_MS = 6; // spent in one frame on making children
const FONT = "11.5px ";

export interface Pane {
	tree: Tree;
	up: boolean; // children above their parent
	skipRoot: boolean; // its root is drawn by the other pane
}

export interface Look {
	paint(node: ViewNode): Paint;
	label(node: ViewNode): string;
	isMatch(node: ViewNode): boolean;
	searching: boolean;
	ground: string;
	strip: string;
	outline: string;
	mark: string;
	fontFamily: string;
}

export interface Box {
	node: ViewNode;
	x: number;
	y: number;
	width: number;
	paint: Paint;
	match: boolean;
}

interface Viewport {
	from: number;
	upto: number;
}

export class Flame {
	private panes: Pane[] = [];
	private look: Look | null = null;
	private view: Viewport = { from: 0, upto: 1 };
	private goal: Viewport = { from: 0, upto: 1 };
	private began: { time: number; view: Viewport } | null = null;
	private pan = 0; // px that everything is moved down by scrolling
	private base = 0; // y of the root's row without that
	private rowsUp = 0; // levels that were met so far: more are made when one comes near them
	private rowsDown = 0;
	private width = 0;
	private height = 0;
	private ratio = 1;
	private due = 0;
	private unfinished = false;
	private readonly context: CanvasRenderingContext2D;
	private readonly widths = new Map<string, number>();
	hovered: ViewNode | null = null;
	selected: ViewNode | null = null;
	boxes: Box[] = [];
	lastDrawMs = 0;

	constructor(readonly canvas: HTMLCanvasElement) {
		const context = canvas.getContext("2d", { alpha: false });
		if (!context) throw new Error("this browser has no canvas");
		this.context = context;
	}

	show(panes: Pane[], look: Look): void {
		this.panes = panes;
		this.look = look;
		this.rowsUp = this.rowsDown = 0;
		this.hovered = null;
		this.selected = panes.length > 1 ? panes[0].tree.root : null;
		const width = panes[0]?.tree.root.width ?? 0;
		this.view = this.goal = { from: 0, upto: width || 1 };
		this.began = null;
		this.pan = 0;
		this.draw();
		this.settle();
		this.request();
	}

	setLook(look: Look): void {
		this.look = look;
		this.request();
	}

	resize(width: number, height: number): void {
		this.ratio = window.devicePixelRatio || 1;
		this.width = width;
		this.height = height;
		this.canvas.width = Math.round(width * this.ratio);
		this.canvas.height = Math.round(height * this.ratio);
		this.canvas.style.width = `${width}px`;
		this.canvas.style.height = `${height}px`;
		this.settle();
		this.draw();
	}

	// ---- where rows are -------------------------------------------------------------------------------------

	private get sandwich(): boolean {
		return this.panes.length > 1;
	}

	// An icicle hangs from the top, a flame stands on the bottom, a sandwich has its function in between.
	private settle(): void {
		const bottom = this.height - ROW;
		if (this.sandwich) this.base = Math.min((this.rowsUp + 1) * ROW, Math.floor(this.height * 0.45));
		else this.base = this.panes[0]?.up ? bottom : 0;
		this.scrollTo(this.pan);
	}

	private scrollTo(pan: number): void {
		const most = Math.max(0, (this.rowsUp + 1) * ROW - this.base);
		const least = Math.min(0, this.height - this.base - (this.rowsDown + 2) * ROW);
		const up = this.panes.some((pane) => pane.up);
		const down = this.panes.some((pane) => !pane.up);
		this.pan = Math.max(down ? least : 0, Math.min(pan, up ? most : 0));
		this.request();
	}

	scrollBy(px: number): void {
		this.scrollTo(this.pan - px);
	}

	private yOf(depth: number, up: boolean): number {
		return this.base + this.pan + (up ? -depth : depth) * ROW;
	}

	// ---- zoom --------------------------------------------------------------------------------------------------

	get scale(): number {
		return this.width / (this.view.upto - this.view.from);
	}

	isZoomed(): boolean {
		return this.goal.from > 0 || this.goal.upto < (this.panes[0]?.tree.root.width ?? 0);
	}

	zoomTo(node: ViewNode, animate = true): void {
		if (node.width > 0) this.moveTo({ from: node.x, upto: node.x + node.width }, animate);
		const pane = this.paneOf(node);
		const y = this.yOf(node.depth, pane?.up ?? false);
		if (y < 0 || y > this.height - ROW) this.scrollBy(y - (pane?.up ? this.height - 2 * ROW : ROW));
	}

	private moveTo(goal: Viewport, animate: boolean): void {
		const whole = this.panes[0]?.tree.root.width || 1;
		const size = Math.min(whole, Math.max(goal.upto - goal.from, whole * 1e-9));
		const from = Math.max(0, Math.min(goal.from, whole - size));
		this.goal = { from, upto: from + size };
		const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
		if (animate && !calm) {
			this.began = { time: performance.now(), view: { ...this.view } };
		} else {
			this.view = this.goal;
			this.began = null;
		}
		this.request();
	}

	// Around the place under x, as a wheel does.
	zoomAt(x: number, factor: number): void {
		const at = this.view.from + x / this.scale;
		const size = (this.view.upto - this.view.from) * factor;
		const from = at - (x / this.width) * size;
		this.moveTo({ from, upto: from + size }, false);
	}

	panBy(px: number): void {
		const by = px / this.scale;
		this.moveTo({ from: this.view.from + by, upto: this.view.upto + by }, false);
	}

	private step(): void {
		if (!this.began) return;
		const t = Math.min(1, (performance.now() - this.began.time) / ANIMATION_MS);
		const eased = 1 - (1 - t) ** 3;
		const { view } = this.began;
		this.view = {
			from: view.from + (this.goal.from - view.from) * eased,
			upto: view.upto + (this.goal.upto - view.upto) * eased,
		};
		if (t === 1) {
			this.view = this.goal;
			this.began = null;
		}
	}

	// ---- drawing -----------------------------------------------------------------------------------------------

	/** By what is searched for now: a box learns it when it is next drawn. */
	isMatch(node: ViewNode): boolean {
		return this.look?.isMatch(node) ?? false;
	}

	request(): void {
		if (this.due) return;
		this.due = requestAnimationFrame(() => {
			this.due = 0;
			this.step();
			this.draw();
			if (this.began || this.unfinished) this.request();
		});
	}

	private collect(): { boxes: Box[]; strips: [number, number, number][] } {
		const boxes: Box[] = [];
		const strips: [number, number, number][] = [];
		const look = this.look as Look;
		const until = performance.now() + EXPAND_MS;
		const scale = this.scale;
		this.unfinished = false;
		let made = 0;
		for (const pane of this.panes) {
			const stack: ViewNode[] = [pane.tree.root];
			while (stack.length) {
				const node = stack.pop() as ViewNode;
				const y = this.yOf(node.depth, pane.up);
				if (pane.up) this.rowsUp = Math.max(this.rowsUp, node.depth);
				else this.rowsDown = Math.max(this.rowsDown, node.depth);
				const x = (node.x - this.view.from) * scale;
				const width = node.width * scale;
				if (y > -ROW && y < this.height && !(pane.skipRoot && node.parent === null))
					boxes.push({ node, x, y, width, paint: look.paint(node), match: look.isMatch(node) });
				if (pane.up ? y < -this.height : y > 2 * this.height) continue; // so far away that nothing of it shows
				if (!node.children && (made++ & 63) === 63 && performance.now() > until) {
					this.unfinished = true;
					continue;
				}
				this.pushVisible(pane, node, stack, strips, scale);
			}
		}
		return { boxes, strips };
	}

	private pushVisible(
		pane: Pane,
		node: ViewNode,
		stack: ViewNode[],
		strips: [number, number, number][],
		scale: number,
	): void {
		const { from, upto } = this.view;
		const least = TINY / scale;
		let thinFrom = 0;
		const children = pane.tree.children(node);
		for (const child of children) {
			if (child.width < least) {
				thinFrom = Math.max(child.x, from); // the widest come first: so are all that follow
				break;
			}
			if (child.x < upto && child.x + child.width > from) stack.push(child);
		}
		const last = children[children.length - 1];
		const thinUpto = last && last.width < least ? Math.min(last.x + last.width, upto) : -1;
		if (thinUpto > thinFrom) {
			const y = this.yOf(node.depth + 1, pane.up);
			if (y > -ROW && y < this.height) strips.push([(thinFrom - from) * scale, y, (thinUpto - thinFrom) * scale]);
		}
	}

	draw(): void {
		if (!this.look || !this.panes.length || !this.width) return;
		const start = performance.now();
		const { boxes, strips } = this.collect();
		this.boxes = boxes;
		this.paintAll(this.context, this.look, boxes, strips);
		this.lastDrawMs = performance.now() - start;
	}

	private paintAll(c: CanvasRenderingContext2D, look: Look, boxes: Box[], strips: [number, number, number][]): void {
		c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
		c.fillStyle = look.ground;
		c.fillRect(0, 0, this.width, this.height);
		const groups = new Map<Paint, Box[]>();
		for (const box of boxes) {
			const group = groups.get(box.paint);
			if (group) group.push(box);
			else groups.set(box.paint, [box]);
		}
		const rect = (box: Box): void => {
			const left = Math.max(box.x, -2);
			const right = Math.min(box.x + box.width, this.width + 2);
			const width = right - left;
			c.fillRect(left, box.y, width > 3 ? width - GAP : Math.max(width, 0.6), ROW - GAP);
		};
		for (const [paint, group] of groups) {
			c.fillStyle = paint.fill;
			c.globalAlpha = look.searching ? 0.32 : 1;
			for (const box of group) if (!box.match) rect(box);
			c.globalAlpha = 1;
			for (const box of group) if (box.match) rect(box);
		}
		c.fillStyle = look.strip;
		for (const [x, y, width] of strips) c.fillRect(x, y, Math.max(width, 0.5), ROW - GAP);
		this.paintMarks(c, look, boxes);
		this.paintLabels(c, look, groups);
		this.paintFrames(c, look);
	}

	private paintMarks(c: CanvasRenderingContext2D, look: Look, boxes: Box[]): void {
		if (!look.searching) return;
		c.fillStyle = look.mark;
		for (const box of boxes)
			if (box.match) {
				const left = Math.max(box.x, 0);
				c.fillRect(left, box.y + ROW - GAP - 3, Math.max(1, Math.min(box.x + box.width, this.width) - left - GAP), 3);
			}
	}

	private paintLabels(c: CanvasRenderingContext2D, look: Look, groups: Map<Paint, Box[]>): void {
		c.font = FONT + look.fontFamily;
		c.textBaseline = "middle";
		c.direction = "ltr";
		for (const [paint, group] of groups) {
			c.fillStyle = paint.text;
			for (const box of group) {
				const left = Math.max(box.x, 0);
				const room = Math.min(box.x + box.width, this.width) - left - 8;
				if (room < TEXT_MIN - 8) continue;
				const text = this.fit(c, look.label(box.node), room);
				if (!text) continue;
				c.globalAlpha = look.searching && !box.match ? 0.55 : 1;
				c.fillText(text, left + 4, box.y + ROW / 2);
			}
		}
		c.globalAlpha = 1;
	}

	private measure(c: CanvasRenderingContext2D, text: string): number {
		let width = this.widths.get(text);
		if (width === undefined) {
			width = c.measureText(text).width;
			if (this.widths.size > 50000) this.widths.clear();
			this.widths.set(text, width);
		}
		return width;
	}

	// Cut at the end, by the average width of its characters first.
	private fit(c: CanvasRenderingContext2D, text: string, room: number): string {
		const whole = this.measure(c, text);
		if (whole <= room) return text;
		let n = Math.floor((text.length * (room - 8)) / whole);
		while (n > 1 && this.measure(c, `${text.slice(0, n)}…`) > room) n--;
		return n < 2 ? "" : `${text.slice(0, n)}…`;
	}

	private paintFrames(c: CanvasRenderingContext2D, look: Look): void {
		for (const [node, line] of [
			[this.selected, 2],
			[this.hovered, 1],
		] as const) {
			const box = node && this.boxes.find((one) => one.node === node);
			if (!box) continue;
			const left = Math.max(box.x, 0);
			const right = Math.min(box.x + box.width, this.width);
			c.strokeStyle = look.outline;
			c.lineWidth = line;
			c.strokeRect(left + line / 2, box.y + line / 2, Math.max(1, right - left - GAP - line), ROW - GAP - line);
		}
	}

	// ---- looking up ----------------------------------------------------------------------------------------------

	paneOf(node: ViewNode): Pane | undefined {
		let root = node;
		while (root.parent) root = root.parent;
		return this.panes.find((pane) => pane.tree.root === root);
	}

	hit(x: number, y: number): ViewNode | null {
		for (let i = this.boxes.length - 1; i >= 0; i--) {
			const box = this.boxes[i];
			if (y >= box.y && y < box.y + ROW && x >= box.x && x < box.x + Math.max(box.width, 1)) return box.node;
		}
		return null;
	}

	// What is seen now, for tests and for pictures.
	place(node: ViewNode): Box | undefined {
		return this.boxes.find((box) => box.node === node);
	}

	size(): { width: number; height: number } {
		return { width: this.width, height: this.height };
	}

	reveal(node: ViewNode): void {
		const y = this.yOf(node.depth, this.paneOf(node)?.up ?? false);
		if (y < 0) this.scrollBy(y - ROW);
		else if (y > this.height - ROW) this.scrollBy(y - this.height + 2 * ROW);
		this.request();
	}
}
