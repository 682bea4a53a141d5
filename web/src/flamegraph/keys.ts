// The keyboard, and the page that tells of it. One table for both, so that neither knows a key that the other does not.
import { byId, el } from "../shared/dom";
import { toggleTheme } from "../shared/theme";
import { type App } from "./app";
import { type ViewNode } from "./tree";

interface Key {
	keys: string[];
	shown?: string;
	tells: string;
	does: (app: App) => void;
}

export interface Actions {
	svg: () => void;
	png: () => void;
}

function at(app: App): ViewNode {
	return app.flame.selected ?? app.panes[0].tree.root;
}

function go(app: App, node: ViewNode | null | undefined): void {
	if (!node) return;
	app.select(node);
	app.flame.reveal(node);
}

function child(app: App): ViewNode | undefined {
	const node = at(app);
	return app.flame.paneOf(node)?.tree.children(node)[0];
}

// `above`: the key points up on the screen
function vertical(app: App, above: boolean): void {
	const node = at(app);
	const up = app.flame.paneOf(node)?.up ?? false;
	go(app, above === up ? child(app) : node.parent);
}

function sideways(app: App, by: number): void {
	const node = at(app);
	const pane = app.flame.paneOf(node);
	if (!node.parent || !pane) return;
	const all = pane.tree.children(node.parent);
	go(app, all[all.indexOf(node) + by]);
}

function nextMatch(app: App, by: number): void {
	const found = app.flame.boxes
		.filter((box) => app.flame.isMatch(box.node))
		.sort((a, b) => a.y - b.y || a.x - b.x)
		.map((box) => box.node);
	if (!found.length) return;
	const now = app.flame.selected ? found.indexOf(app.flame.selected) : -1;
	go(app, found[(now + by + found.length + (now < 0 && by < 0 ? 1 : 0)) % found.length]);
}

function shiftRange(app: App, by: number): void {
	const [from, upto] = app.state.filter.range;
	const size = upto - from;
	const start = Math.max(0, Math.min(app.model.buckets - size, from + Math.round(size * by) || from + Math.sign(by)));
	if (size === app.model.buckets) return;
	app.state.filter.range = [start, start + size];
	app.update("filter");
}

function table(actions: Actions): Key[] {
	const tabs = (app: App, by: number): void => {
		const all = [...byId("tabs").querySelectorAll<HTMLButtonElement>("button")].map((button) => button.dataset.tab ?? "");
		app.state.tab = all[(all.indexOf(app.state.tab) + by + all.length) % all.length];
		app.update("panel");
	};
	return [
		{ keys: ["/"], tells: "search", does: () => byId<HTMLInputElement>("query").select() },
		{ keys: ["n"], tells: "next match", does: (app) => nextMatch(app, 1) },
		{ keys: ["N"], tells: "match before", does: (app) => nextMatch(app, -1) },
		{ keys: ["ArrowUp"], shown: "↑", tells: "rectangle above", does: (app) => vertical(app, true) },
		{ keys: ["ArrowDown"], shown: "↓", tells: "rectangle below", does: (app) => vertical(app, false) },
		{ keys: ["ArrowLeft"], shown: "←", tells: "neighbour to the left", does: (app) => sideways(app, -1) },
		{ keys: ["ArrowRight"], shown: "→", tells: "neighbour to the right", does: (app) => sideways(app, 1) },
		{ keys: ["Enter"], tells: "zoom to the selected one", does: (app) => app.zoom(at(app)) },
		{ keys: ["Backspace"], tells: "back", does: (app) => app.back() },
		{ keys: ["0"], tells: "reset everything", does: (app) => app.reset() },
		{ keys: ["+", "="], shown: "+", tells: "wider", does: (app) => app.flame.zoomAt(app.flame.size().width / 2, 0.7) },
		{ keys: ["-"], tells: "narrower", does: (app) => app.flame.zoomAt(app.flame.size().width / 2, 1 / 0.7) },
		{ keys: ["s"], tells: "sandwich of the selected one", does: (app) => app.sandwich(app.state.focus === null || app.flame.selected?.parent ? at(app).key : null) },
		{ keys: ["i"], tells: "inverted, or callees", does: (app) => app.turn(app.state.direction === "up" ? "down" : "up") },
		{
			keys: ["f"],
			tells: "flame or icicle",
			does: (app) => {
				app.state.layout = app.state.layout === "flame" ? "icicle" : "flame";
				app.update("shape");
			},
		},
		{ keys: ["l"], tells: "by line or by function", does: (app) => app.setByLine(!app.state.byLine) },
		{ keys: ["["], tells: "time range to the left", does: (app) => shiftRange(app, -0.5) },
		{ keys: ["]"], tells: "time range to the right", does: (app) => shiftRange(app, 0.5) },
		{
			keys: ["t"],
			tells: "all of the time",
			does: (app) => {
				app.state.filter.range = [0, app.model.buckets];
				app.update("filter");
			},
		},
		{ keys: ["T"], tells: "threads and processes", does: () => byId("threads-open").click() },
		{ keys: ["d"], tells: "light or dark", does: () => toggleTheme() },
		{
			keys: ["p"],
			tells: "side panel",
			does: (app) => {
				app.state.panel = !app.state.panel;
				app.update("panel");
			},
		},
		{ keys: [">"], tells: "next tab of the panel", does: (app) => tabs(app, 1) },
		{ keys: ["<"], tells: "tab before", does: (app) => tabs(app, -1) },
		{ keys: ["e"], tells: "save as SVG", does: () => actions.svg() },
		{ keys: ["E"], tells: "save as PNG", does: () => actions.png() },
		{ keys: ["?"], tells: "this help", does: () => byId<HTMLDialogElement>("help").showModal() },
		{ keys: ["PageDown"], shown: "PgDn", tells: "scroll down", does: (app) => app.flame.scrollBy(app.flame.size().height * 0.8) },
		{ keys: ["PageUp"], shown: "PgUp", tells: "scroll up", does: (app) => app.flame.scrollBy(-app.flame.size().height * 0.8) },
		{
			keys: ["Escape"],
			shown: "Esc",
			tells: "end search and selection",
			does: (app) => {
				byId("threads").hidden = true;
				app.state.query = "";
				app.select(null);
				app.update("search");
			},
		},
	];
}

function fillHelp(keys: Key[]): void {
	const close = (): void => byId<HTMLDialogElement>("help").close();
	byId("help").replaceChildren(
		el("h1", {}, "Keys and gestures"),
		el(
			"div",
			{ class: "keys" },
			...keys.flatMap((key) => [el("span", {}, el("kbd", {}, key.shown ?? key.keys[0])), el("span", {}, key.tells)]),
		),
		el(
			"p",
			{ class: "soft" },
			"Click a rectangle to zoom to it, a double click opens its sandwich. The wheel scrolls, with Ctrl it zooms; dragging moves. " +
				"Drag over the time strip to select a range, drag its edges to change it, double-click for all. " +
				"A click on a state takes only such samples, a second one only others. The address always leads back to what you see.",
		),
		el("p", {}, el("button", { click: close }, "Close")),
	);
}

export function startKeys(app: App, actions: Actions): void {
	const keys = table(actions);
	const by = new Map(keys.flatMap((key) => key.keys.map((name) => [name, key] as const)));
	fillHelp(keys);
	byId("help-open").addEventListener("click", () => byId<HTMLDialogElement>("help").showModal());
	document.addEventListener("keydown", (event) => {
		if (event.ctrlKey || event.metaKey || event.altKey || byId<HTMLDialogElement>("help").open) return;
		const target = event.target as HTMLElement;
		if (target.tagName === "INPUT" && (target as HTMLInputElement).type !== "checkbox") {
			if (event.key === "Escape" || event.key === "Enter") {
				byId("flame").focus();
				if (event.key === "Enter") nextMatch(app, 1);
				else by.get("Escape")?.does(app);
				event.preventDefault();
			}
			return;
		}
		if ((event.key === "Enter" || event.key === " ") && target.closest("button, tr, summary")) return;
		const key = by.get(event.key);
		if (!key) return;
		event.preventDefault();
		key.does(app);
	});
}
