// What is shown, as a file: SVG made of the same rectangles, or PNG of the canvas.
import { visible } from "../shared/text";
import { ROW, type Box } from "./flame";

function xml(text: string): string {
	return visible(text).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}

export function svgOf(
	boxes: Box[],
	size: { width: number; height: number },
	label: (box: Box) => string,
	title: (box: Box) => string,
	ground: string,
	heading: string,
): string {
	const parts = [
		`<svg xmlns="http://www.w3.org/2000/svg" width="${size.width}" height="${size.height + 28}" ` +
			`viewBox="0 -28 ${size.width} ${size.height + 28}" font-family="system-ui,sans-serif" font-size="11.5">`,
		`<rect x="0" y="-28" width="100%" height="100%" fill="${ground}"/>`,
		`<text x="6" y="-10" font-size="13" fill="#888">${xml(heading)}</text>`,
	];
	boxes.forEach((box, i) => {
		const left = Math.max(0, box.x);
		const width = Math.min(size.width, box.x + box.width) - left;
		if (width < 0.3) return;
		parts.push(`<g><title>${xml(title(box))}</title>`);
		parts.push(
			`<rect x="${left.toFixed(1)}" y="${box.y}" width="${Math.max(0.3, width - (width > 3 ? 1 : 0)).toFixed(1)}" ` +
				`height="${ROW - 1}" fill="${box.paint.fill}"/>`,
		);
		if (width > 26)
			parts.push(
				`<clipPath id="c${i}"><rect x="${left.toFixed(1)}" y="${box.y}" width="${(width - 3).toFixed(1)}" height="${ROW}"/></clipPath>` +
					`<text x="${(left + 4).toFixed(1)}" y="${box.y + 13}" fill="${box.paint.text}" clip-path="url(#c${i})">${xml(label(box))}</text>`,
			);
		parts.push("</g>");
	});
	parts.push("</svg>\n");
	return parts.join("");
}

export function save(name: string, blob: Blob): void {
	const link = document.createElement("a");
	link.href = URL.createObjectURL(blob);
	link.download = name;
	link.click();
	setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
