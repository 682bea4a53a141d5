// How hot a number looks. The eye sees small shares too: the strength grows with the root of the share.
export function strength(part: number, most: number): number {
	return part > 0 && most > 0 ? 0.06 + 0.94 * Math.pow(Math.min(1, part / most), 0.55) : 0;
}

// 0: no colour at all. --hot-own, --hot-total, --hot-special are "r g b" in the style sheet.
export function heatColour(measure: string, value: number, full = 0.82): string {
	return value > 0 ? `rgb(var(--hot-${measure}) / ${(full * value).toFixed(3)})` : "";
}
