// The page's one object: what was chosen (state.ts) and what follows from it, in the order in which it follows:
// filter -> weights -> tree -> picture. A change of one thing redoes what comes after it and nothing before.
import { colour, theme } from "../shared/theme";
import { count, time } from "../shared/format";
import { baseName, visible } from "../shared/text";
import { type Paint, STEPS, changeOf, changePaints, functionPaints } from "./colours";
import { type Series, type Weights, series, weigh } from "./filter";
import { Flame, type Pane } from "./flame";
import { type Spot, spots } from "./hotspots";
import { type Model } from "./model";
import { type Matches, matchedWeight, search } from "./search";
import { type State, firstState, fromHash, toHash } from "./state";
import { Tree, type ViewNode, pathOf } from "./tree";

export type Part = "filter" | "shape" | "search" | "look" | "panel";

interface Place {
	direction: State["direction"];
	byLine: boolean;
	focus: number | null;
	zoom: number[];
}

export class App {
	state: State;
	weights: Weights;
	series: Series;
	matches: Matches | null = null;
	matched = { weight: 0, count: 0 };
	panes: Pane[] = [];
	change = 1; // ns that the scale of a comparison ends at
	private past: Place[] = [];
	private spotCache = new Map<string, Spot[]>();
	private readonly listeners: ((parts: Set<Part>) => void)[] = [];

	constructor(
		readonly model: Model,
		readonly flame: Flame,
	) {
		this.state = fromHash(model, location.hash);
		this.weights = weigh(model, this.state.filter);
		this.series = series(model, this.state.filter, null);
	}

	onChange(listener: (parts: Set<Part>) => void): void {
		this.listeners.push(listener);
	}

	// ---- names --------------------------------------------------------------------------------------------------

	functionOf(key: number, byLine = this.state.byLine): number {
		return byLine ? this.model.frameFunction[this.model.lineKeyFrame[key]] : key;
	}

	lineOf(key: number, byLine = this.state.byLine): number {
		return byLine ? this.model.frameLine[this.model.lineKeyFrame[key]] : this.model.line[key];
	}

	label(key: number, byLine = this.state.byLine): string {
		if (key < 0) return "all";
		const fn = this.functionOf(key, byLine);
		const name = visible(this.model.name[fn]) || '""';
		return byLine && this.model.file[fn] ? `${name}:${this.lineOf(key, byLine)}` : name;
	}

	place(key: number, byLine = this.state.byLine): string {
		if (key < 0) return "";
		const fn = this.functionOf(key, byLine);
		const file = visible(this.model.file[fn]);
		return file ? `${file}:${this.lineOf(key, byLine)}` : "";
	}

	shortPlace(key: number, byLine = this.state.byLine): string {
		if (key < 0) return "";
		const fn = this.functionOf(key, byLine);
		const file = visible(this.model.file[fn]);
		return file ? `${baseName(file)}:${this.lineOf(key, byLine)}` : "";
	}

	sourceOf(fn: number, line: number): string | undefined {
		return this.model.sources.get(this.model.file[fn])?.get(line);
	}

	// ---- what follows from what ------------------------------------------------------------------------------------

	get scale(): number {
		const { all, baseAll } = this.weights;
		return this.state.share && baseAll > 0 ? all / baseAll : 1;
	}

	get whole(): number {
		return this.weights.all;
	}

	spots(byLine = this.state.byLine): Spot[] {
		const key = `${byLine} ${this.scale}`;
		let found = this.spotCache.get(key);
		if (!found) {
			found = spots(this.model, this.weights, byLine, this.scale);
			this.spotCache.set(key, found);
		}
		return found;
	}

	private tree(direction: "down" | "up", focus: number | null): Tree {
		const { byLine, widthOfBase } = this.state;
		return new Tree(this.model, this.weights, byLine, direction, this.scale, widthOfBase, focus);
	}

	private shape(): void {
		const { focus, direction, layout } = this.state;
		if (focus === null) {
			this.panes = [{ tree: this.tree(direction, null), up: layout === "flame", skipRoot: false }];
		} else {
			this.panes = [
				{ tree: this.tree("down", focus), up: false, skipRoot: false },
				{ tree: this.tree("up", focus), up: true, skipRoot: true },
			];
		}
		if (this.model.base) this.measureChange();
		this.flame.show(this.panes, this.look());
		if (this.state.zoom.length) this.flame.zoomTo(this.panes[0].tree.find(this.state.zoom), false);
	}

	// The scale ends at the greatest change that one rectangle of the first view has, but never at nothing.
	private measureChange(): void {
		let most = 0;
		for (const spot of this.spots(false)) {
			const by = this.state.changeOfOwn ? spot.own - spot.baseOwn : spot.total - spot.baseTotal;
			most = Math.max(most, Math.abs(by));
		}
		this.change = Math.max(most, this.whole * 1e-6, 1);
	}

	private paints: { theme: string; functions: Paint[]; change: ReturnType<typeof changePaints>; root: Paint } | null =
		null;

	private painter(): (node: ViewNode) => Paint {
		const now = theme();
		if (this.paints?.theme !== now)
			this.paints = {
				theme: now,
				functions: functionPaints(this.model, now),
				change: changePaints(now),
				root: { fill: colour("sunk"), text: colour("text") },
			};
		const { functions, change, root } = this.paints;
		if (!this.model.base) return (node) => (node.key < 0 ? root : functions[this.functionOf(node.key)]);
		const own = this.state.changeOfOwn;
		return (node) => {
			if (node.key < 0) return root;
			if (node.base === 0) return change.fresh;
			if (node.total === 0) return change.gone;
			const share = Math.max(-1, Math.min(1, changeOf(node, own) / this.change));
			const step = Math.sign(share) * Math.ceil(Math.sqrt(Math.abs(share)) * STEPS - 0.5);
			return change.steps[step + STEPS];
		};
	}

	look(): Parameters<Flame["setLook"]>[0] {
		const matches = this.matches;
		return {
			paint: this.painter(),
			label: (node) => (node.key < 0 ? `all: ${time(node.total)}, ${count(node.count)} samples` : this.label(node.key)),
			isMatch: (node) => matches !== null && node.key >= 0 && matches.functions[this.functionOf(node.key)] === 1,
			searching: matches !== null && !matches.error,
			ground: colour("ground"),
			strip: colour("line-strong"),
			outline: colour("text"),
			mark: colour("mark"),
			fontFamily: colour("sans"),
		};
	}

	// Redoes `parts` and what follows from them.
	update(...which: Part[]): void {
		const parts = new Set(which);
		const { model, state } = this;
		if (parts.has("filter")) {
			this.weights = weigh(model, state.filter);
			this.spotCache.clear();
		}
		if (parts.has("search")) this.matches = search(model, state.query, state.regex);
		if (parts.has("filter") || parts.has("search")) {
			this.series = series(model, state.filter, this.matches?.stacks ?? null);
			this.matched = this.matches ? matchedWeight(this.weights, this.matches) : { weight: 0, count: 0 };
		}
		if (parts.has("filter") || parts.has("shape")) this.shape();
		else if (parts.has("search") || parts.has("look")) this.flame.setLook(this.look());
		for (const listener of this.listeners) listener(parts);
		this.writeHash();
	}

	// What the last change of ours wrote: a hashchange with it is our own echo.
	private written = location.hash.replace(/^#/, "");

	writeHash(): void {
		const hash = toHash(this.model, this.state);
		if (hash === this.written) return;
		this.written = hash;
		try {
			history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
		} catch {
			location.hash = hash; // some browsers refuse for files
		}
	}

	readHash(): void {
		if (location.hash.replace(/^#/, "") === this.written) return;
		this.written = location.hash.replace(/^#/, "");
		this.state = fromHash(this.model, location.hash);
		this.update("filter", "shape", "search", "look", "panel");
	}

	// ---- moves -------------------------------------------------------------------------------------------------------

	private remember(): void {
		const { direction, byLine, focus, zoom } = this.state;
		this.past.push({ direction, byLine, focus, zoom });
		if (this.past.length > 200) this.past.shift();
	}

	get hasPast(): boolean {
		return this.past.length > 0;
	}

	zoom(node: ViewNode): void {
		const pane = this.flame.paneOf(node);
		if (this.state.focus !== null && pane?.up) {
			this.flame.zoomTo(node); // callers have no path of their own in the address
			return;
		}
		this.remember();
		this.state.zoom = pathOf(node);
		this.flame.zoomTo(node);
		this.update("panel");
	}

	sandwich(key: number | null, byLine = this.state.byLine): void {
		if (key !== null && key < 0) return;
		this.remember();
		this.state.byLine = byLine;
		this.state.focus = key;
		this.state.zoom = [];
		this.update("shape", "panel");
	}

	turn(direction: State["direction"]): void {
		this.remember();
		this.state.direction = direction;
		this.state.focus = null;
		this.state.zoom = [];
		this.update("shape", "panel");
	}

	setByLine(byLine: boolean): void {
		if (byLine === this.state.byLine) return;
		this.remember();
		this.state.byLine = byLine;
		this.state.focus = null;
		this.state.zoom = [];
		this.update("shape", "panel");
	}

	back(): void {
		const place = this.past.pop();
		if (!place) return;
		const sameTree =
			place.direction === this.state.direction &&
			place.byLine === this.state.byLine &&
			place.focus === this.state.focus;
		Object.assign(this.state, place);
		if (sameTree) {
			this.flame.zoomTo(this.panes[0].tree.find(place.zoom));
			this.update("panel");
		} else {
			this.update("shape", "panel");
		}
	}

	reset(): void {
		this.past = [];
		const { tab, panel } = this.state;
		this.state = { ...firstState(this.model), tab, panel };
		this.update("filter", "shape", "search", "look", "panel");
	}

	// The key and view node that the keyboard or the mouse chose.
	select(node: ViewNode | null): void {
		this.flame.selected = node;
		this.flame.request();
		for (const listener of this.listeners) listener(new Set<Part>(["panel"]));
	}
}
