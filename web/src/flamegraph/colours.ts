// What a rectangle's colour says: where its code lies (project, packages, standard library, markers), with shades by
// file; in a comparison, how its time changed.
import { type Category, type Model } from "./model";
import { type Theme } from "../shared/theme";
import { type ViewNode } from "./tree";

export interface Paint {
	fill: string;
	text: string;
}

// hue, saturation, lightness in the light and in the dark theme, spread of hue and lightness
const FAMILY: Record<Category, [number, number, number, number, number, number]> = {
	project: [34, 88, 72, 46, 20, 7],
	package: [164, 40, 68, 38, 22, 6],
	library: [216, 52, 76, 47, 22, 6],
	marker: [286, 24, 78, 44, 12, 5],
};
const SHADES = 9;

function hash(text: string): number {
	let h = 2166136261;
	for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619);
	return (h ^ (h >>> 13)) >>> 0;
}

export function familyColour(category: Category, theme: Theme, shade = SHADES >> 1, step = SHADES >> 1): string {
	const [hue, saturation, light, dark, hueSpread, lightSpread] = FAMILY[category];
	const h = hue + (shade / (SHADES - 1) - 0.5) * hueSpread;
	const l = (theme === "light" ? light : dark) + (step / (SHADES - 1) - 0.5) * 2 * lightSpread;
	return `hsl(${h.toFixed(1)} ${theme === "light" ? saturation : saturation * 0.72}% ${l.toFixed(1)}%)`;
}

// One paint per function: equal paints are the same object, so that a renderer can group by them.
export function functionPaints(model: Model, theme: Theme): Paint[] {
	const made = new Map<string, Paint>();
	return model.name.map((name, i) => {
		const fill = familyColour(model.category[i], theme, hash(model.file[i]) % SHADES, hash(name) % SHADES);
		let paint = made.get(fill);
		if (!paint) {
			paint = { fill, text: theme === "light" ? "#1a1408" : "#f4f6fa" };
			made.set(fill, paint);
		}
		return paint;
	});
}

export const STEPS = 8; // on either side of no change

// change: -1 (all of the scale faster) .. 1 (slower)
export function changePaints(theme: Theme): { steps: Paint[]; fresh: Paint; gone: Paint } {
	const light = theme === "light";
	const steps: Paint[] = [];
	for (let i = -STEPS; i <= STEPS; i++) {
		const size = Math.abs(i) / STEPS;
		const hue = i > 0 ? 8 : 214;
		const saturation = i === 0 ? 6 : 30 + 55 * size;
		const lightness = light ? 90 - 32 * size : 27 + 22 * size;
		const dark = light ? "#1a1d24" : "#f4f6fa";
		steps.push({ fill: `hsl(${hue} ${saturation.toFixed(0)}% ${lightness.toFixed(1)}%)`, text: dark });
	}
	return {
		steps,
		fresh: light ? { fill: "hsl(292 62% 76%)", text: "#1a1d24" } : { fill: "hsl(292 40% 42%)", text: "#fff" },
		gone: light ? { fill: "hsl(150 34% 76%)", text: "#1a1d24" } : { fill: "hsl(150 28% 32%)", text: "#fff" },
	};
}

export function changeOf(node: ViewNode, own: boolean): number {
	return own ? node.own - node.baseOwn : node.total - node.base;
}
