// Puts the page together: sizes, the pointer, the status line, the legend.
import { byId, el, fail } from "../shared/dom";
import { count, percent, signedTime, time } from "../shared/format";
import { readPayload } from "../shared/payload";
import { baseName } from "../shared/text";
import { colour, onTheme, startTheme, theme, toggleTheme } from "../shared/theme";
import { App } from "./app";
import { STEPS, changePaints, familyColour } from "./colours";
import { Flame } from "./flame";
import { startKeys } from "./keys";
import { type Category, type Model, decode } from "./model";
import { startPanel } from "./panel";
import { save, svgOf } from "./picture";
import { Strip } from "./strip";
import { startToolbar } from "./toolbar";
import { fillTooltip, placeTooltip } from "./tooltip";
import { type ViewNode } from "./tree";

const STRIP_HEIGHT = 62;
const DRAG_MIN = 4; // px before a press is a drag
const DOUBLE_MS = 350;

function describe(app: App, node: ViewNode): string {
	const place = app.place(node.key);
	const shares = `total ${percent(node.total, app.whole)} (${time(node.total)})`;
	const own = node.starts ? "" : `, own ${percent(node.own, app.whole)} (${time(node.own)})`;
	const change = app.model.base ? `, ${signedTime(node.total - node.base)}` : "";
	return `${app.label(node.key)}${place ? `  ${place}` : ""}  ${shares}${own}${change}`;
}

function startStatus(app: App): void {
	const text = byId("status-text");
	app.onChange(() => {
		const node = app.flame.hovered ?? app.flame.selected;
		text.textContent = node
			? describe(app, node)
			: `${count(app.weights.allCount)} samples, ${time(app.whole)} are shown`;
		const empty = byId("empty");
		empty.hidden = app.panes[0]?.tree.root.width > 0;
		empty.textContent = "No sample passes these filters.";
	});
}

function fillLegend(app: App): void {
	const legend = byId("legend");
	const swatch = (fill: string, label: string): HTMLElement =>
		el("span", {}, el("span", { class: "swatch", style: `background: ${fill}` }), label);
	if (!app.model.base) {
		const names: [Category, string][] = [
			["project", "project"],
			["package", "packages"],
			["library", "standard library"],
			["marker", "markers"],
		];
		const used = new Set(app.model.category);
		legend.replaceChildren(
			...names.filter(([name]) => used.has(name)).map(([name, label]) => swatch(familyColour(name, theme()), label)),
		);
		return;
	}
	const { steps, fresh, gone } = changePaints(theme());
	const stops = steps.map((paint, i) => `${paint.fill} ${((100 * i) / (2 * STEPS)).toFixed(0)}%`).join(", ");
	legend.replaceChildren(
		el(
			"span",
			{ title: `Change of ${app.state.changeOfOwn ? "own" : "total"} time; steps grow with its root` },
			signedTime(-app.change),
			el("span", { class: "scale", style: `background: linear-gradient(90deg, ${stops})` }),
			signedTime(app.change),
		),
		swatch(fresh.fill, "new"),
		swatch(gone.fill, "gone"),
	);
}

function startPointer(app: App): void {
	const { flame } = app;
	const { canvas } = flame;
	const tooltip = byId("tooltip");
	let press: { x: number; y: number; moved: boolean } | null = null;
	let last: { node: ViewNode; time: number } | null = null;
	const under = (event: MouseEvent): ViewNode | null => {
		const box = canvas.getBoundingClientRect();
		return flame.hit(event.clientX - box.left, event.clientY - box.top);
	};
	const hover = (node: ViewNode | null): void => {
		if (flame.hovered === node) return;
		flame.hovered = node;
		flame.request();
		byId("status-text").textContent = node ? describe(app, node) : "";
		if (node) fillTooltip(app, tooltip, node);
		else tooltip.hidden = true;
		canvas.style.cursor = node ? "pointer" : "default";
	};
	canvas.addEventListener("pointerdown", (event) => {
		if (event.button !== 0) return;
		press = { x: event.clientX, y: event.clientY, moved: false };
	});
	canvas.addEventListener("pointermove", (event) => {
		if (press && event.buttons & 1) {
			const [dx, dy] = [event.clientX - press.x, event.clientY - press.y];
			if (!press.moved && Math.abs(dx) + Math.abs(dy) < DRAG_MIN) return;
			if (!press.moved) canvas.setPointerCapture(event.pointerId);
			hover(null);
			flame.panBy(-dx);
			flame.scrollBy(-dy);
			press = { x: event.clientX, y: event.clientY, moved: true };
			canvas.style.cursor = "grabbing";
			return;
		}
		const node = under(event);
		hover(node);
		if (node) placeTooltip(tooltip, event.clientX, event.clientY);
	});
	canvas.addEventListener("pointerup", (event) => {
		const dragged = press?.moved;
		press = null;
		canvas.style.cursor = "default";
		if (dragged || event.button !== 0) return;
		const node = under(event);
		if (!node) return;
		if (last && last.node.key === node.key && event.timeStamp - last.time < DOUBLE_MS) {
			last = null;
			app.sandwich(node.key);
			return;
		}
		last = { node, time: event.timeStamp };
		app.select(node);
		app.zoom(node);
	});
	canvas.addEventListener("pointerleave", () => hover(null));
	canvas.addEventListener(
		"wheel",
		(event) => {
			event.preventDefault();
			hover(null);
			const box = canvas.getBoundingClientRect();
			if (event.ctrlKey || event.metaKey) flame.zoomAt(event.clientX - box.left, Math.exp(event.deltaY * 0.004));
			else if (event.shiftKey && !event.deltaX) flame.panBy(event.deltaY);
			else {
				if (event.deltaX) flame.panBy(event.deltaX);
				if (event.deltaY) flame.scrollBy(event.deltaY);
			}
		},
		{ passive: false },
	);
	app.onChange(() => {
		tooltip.hidden = true;
	});
}

function startStrip(app: App): Strip {
	const canvas = byId<HTMLCanvasElement>("strip");
	const strip = new Strip(canvas, (range) => {
		app.state.filter.range = range;
		app.update("filter");
	});
	const draw = (): void =>
		strip.show(app.series, app.state.filter.range, app.model.bucketNs, {
			ground: colour("panel"),
			idle: theme() === "light" ? "#cfd6e2" : "#3a4352",
			busy: theme() === "light" ? "#7f9cdb" : "#5876b8",
			mark: colour("mark"),
			axis: colour("line-strong"),
			text: colour("text-soft"),
			shade: theme() === "light" ? "rgb(246 247 249 / 78%)" : "rgb(18 21 27 / 76%)",
			handle: colour("accent"),
			fontFamily: colour("sans"),
		});
	app.onChange(draw);
	onTheme(draw);
	canvas.hidden = app.model.buckets <= 1;
	return strip;
}

function startSizes(app: App, strip: Strip): void {
	const graph = byId("graph");
	const box = byId("canvas-box");
	const fit = (): void => {
		strip.resize(graph.clientWidth, STRIP_HEIGHT);
		app.flame.resize(Math.max(50, box.clientWidth - 20), Math.max(50, box.clientHeight - 12));
	};
	fit();
	new ResizeObserver(fit).observe(box);
}

function startPictures(app: App): { svg: () => void; png: () => void } {
	const name = (): string => `${baseName(byId("title").textContent ?? "").replace(/[^\w.-]+/g, "_") || "flamegraph"}`;
	const svg = (): void => {
		const text = svgOf(
			app.flame.boxes,
			app.flame.size(),
			(box) => app.label(box.node.key),
			(box) => describe(app, box.node),
			colour("ground"),
			`${byId("title").textContent} - ${byId("facts").textContent}`,
		);
		save(`${name()}.svg`, new Blob([text], { type: "image/svg+xml" }));
	};
	const png = (): void =>
		app.flame.canvas.toBlob((blob) => {
			if (blob) save(`${name()}.png`, blob);
		});
	byId("export-svg").addEventListener("click", svg);
	byId("export-png").addEventListener("click", png);
	return { svg, png };
}

function start(model: Model): void {
	const flame = new Flame(byId<HTMLCanvasElement>("flame"));
	const app = new App(model, flame);
	startToolbar(app);
	startPanel(app);
	startStatus(app);
	startPointer(app);
	const strip = startStrip(app);
	app.onChange(() => fillLegend(app));
	startKeys(app, startPictures(app));
	byId("theme").addEventListener("click", toggleTheme);
	onTheme(() => {
		app.update("look");
		fillLegend(app);
	});
	app.update("filter", "shape", "search", "look", "panel");
	startSizes(app, strip);
	app.update("shape");
	addEventListener("hashchange", () => app.readHash());
	// for tests, and for whoever wants to drive the page from its console
	Object.assign(window, { tachyscope: app });
}

startTheme();
readPayload()
	.then((payload) => start(decode(payload)))
	.catch((error: unknown) => fail(`The profile cannot be shown: ${(error as Error).message}.`));
