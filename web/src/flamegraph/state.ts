// What the reader has chosen, and how that is written into the address: #key=value&..., only what differs from the
// beginning, so that a link shows the same again.
import { type Filter, type Want, fullFilter } from "./filter";
import { STATE, type Model } from "./model";

export interface State {
	layout: "icicle" | "flame";
	direction: "down" | "up";
	byLine: boolean;
	focus: number | null; // sandwich: function, or line key
	zoom: number[]; // keys from the root
	query: string;
	regex: boolean;
	filter: Filter;
	tab: string;
	panel: boolean;
	changeOfOwn: boolean; // colours of a comparison
	widthOfBase: boolean;
	share: boolean; // a comparison scales to the same total
}

export function firstState(model: Model): State {
	return {
		layout: "icicle",
		direction: "down",
		byLine: false,
		focus: null,
		zoom: [],
		query: "",
		regex: false,
		filter: fullFilter(model),
		tab: model.base ? "changes" : "hot",
		panel: true,
		changeOfOwn: true,
		widthOfBase: false,
		share: false,
	};
}

export const STATE_NAMES: [number, string, string][] = [
	[STATE.cpu, "cpu", "On CPU"],
	[STATE.gil, "gil", "Holds GIL"],
	[STATE.waiting, "wait", "Waits for GIL"],
	[STATE.gc, "gc", "GC"],
	[STATE.exception, "exc", "Exception"],
];

function statesText(states: Map<number, Want>): string {
	return STATE_NAMES.filter(([bit]) => (states.get(bit) ?? "any") !== "any")
		.map(([bit, word]) => (states.get(bit) === "only" ? word : `-${word}`))
		.join(".");
}

export function toHash(model: Model, state: State): string {
	const parts = new URLSearchParams();
	const first = firstState(model);
	if (state.layout !== first.layout) parts.set("layout", state.layout);
	if (state.direction !== first.direction) parts.set("view", state.direction === "up" ? "inverted" : "callees");
	if (state.byLine) parts.set("by", "line");
	if (state.focus !== null) parts.set("of", String(state.focus));
	if (state.zoom.length) parts.set("zoom", state.zoom.map((key) => key.toString(36)).join("."));
	if (state.query) parts.set(state.regex ? "re" : "q", state.query);
	const [from, upto] = state.filter.range;
	if (from !== 0 || upto !== model.buckets) parts.set("time", `${from}-${upto}`);
	const shown = [...state.filter.threads.keys()].filter((i) => state.filter.threads[i]);
	if (shown.length !== model.threads.length) parts.set("threads", shown.join("."));
	const states = statesText(state.filter.states);
	if (states) parts.set("states", states);
	if (state.tab !== first.tab) parts.set("tab", state.tab);
	if (!state.panel) parts.set("panel", "0");
	if (!state.changeOfOwn) parts.set("change", "total");
	if (state.widthOfBase) parts.set("width", "base");
	if (state.share) parts.set("scale", "share");
	return parts.toString();
}

function whole(text: string, most: number): number | null {
	const value = /^\d+$/.test(text) ? Number(text) : NaN;
	return value <= most ? value : null;
}

// Anything can stand in an address: what makes no sense is left out.
export function fromHash(model: Model, hash: string): State {
	const state = firstState(model);
	const parts = new URLSearchParams(hash.replace(/^#/, ""));
	if (parts.get("layout") === "flame") state.layout = "flame";
	if (parts.get("view") === "inverted") state.direction = "up";
	state.byLine = parts.get("by") === "line";
	state.focus = whole(parts.get("of") ?? "", (state.byLine ? model.nLineKeys : model.name.length) - 1);
	const zoom = parts.get("zoom");
	if (zoom) state.zoom = zoom.split(".").map((key) => parseInt(key, 36) || 0);
	state.regex = parts.has("re");
	state.query = parts.get("re") ?? parts.get("q") ?? "";
	const range = /^(\d+)-(\d+)$/.exec(parts.get("time") ?? "");
	if (range && Number(range[1]) < Number(range[2]) && Number(range[2]) <= model.buckets)
		state.filter.range = [Number(range[1]), Number(range[2])];
	const threads = parts.get("threads");
	if (threads !== null) {
		state.filter.threads.fill(0);
		for (const text of threads.split(".")) {
			const index = whole(text, model.threads.length - 1);
			if (index !== null) state.filter.threads[index] = 1;
		}
	}
	for (const word of (parts.get("states") ?? "").split(".")) {
		const found = STATE_NAMES.find(([, name]) => name === word.replace(/^-/, ""));
		if (found) state.filter.states.set(found[0], word.startsWith("-") ? "without" : "only");
	}
	state.tab = parts.get("tab") ?? state.tab;
	state.panel = parts.get("panel") !== "0";
	state.changeOfOwn = parts.get("change") !== "total";
	state.widthOfBase = model.base !== null && parts.get("width") === "base";
	state.share = parts.get("scale") === "share";
	return state;
}
