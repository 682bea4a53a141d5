// Names of the profile as text, links to places, and the source lines that the page holds.
import { el, type Child } from "../shared/dom";
import { visible, visibleCode } from "../shared/text";
import type { Profile, Source } from "./data";
import { formatPlace, go, place, type Place } from "./place";

export function nameOf(profile: Profile, func: number): string {
	return visible(profile.functions[func]?.name ?? "") || "(no name)";
}

export function whereOf(profile: Profile, line: number): string {
	return `${visible(profile.files[profile.lineFile[line]!]!.short)}:${profile.lineNumber[line] || "?"}`;
}

// A real link, so that it can be opened in another tab and copied.
export function linkTo(changes: Partial<Place>, ...children: Child[]): HTMLAnchorElement {
	const target = { ...changes, query: changes.file === null ? place().query : "" };
	return el("a", { href: formatPlace({ ...place(), ...target }), click: (event: MouseEvent) => {
		if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
		event.preventDefault();
		go(target);
	} }, ...children);
}

const known = new Map<number, Map<number, string>>();

// Lines of a file by number, as they are; none when the source is not there.
export function sourceLines(profile: Profile, file: number): Map<number, string> {
	let lines = known.get(file);
	if (!lines) {
		lines = new Map();
		const source: Source | undefined = profile.sources.get(file);
		for (const [first, text] of source?.parts ?? []) {
			const all = text.split("\n");
			all.pop(); // behind the last end of line
			for (let i = 0; i < all.length; i++) lines.set(first + i, all[i]!);
		}
		known.set(file, lines);
	}
	return lines;
}

export function sourceText(profile: Profile, line: number): string {
	return visibleCode(sourceLines(profile, profile.lineFile[line]!).get(profile.lineNumber[line]!) ?? "");
}

// Columns of code objects count bytes of UTF-8.
export function cutBytes(text: string, from: number, to: number): [string, string, string] {
	const bytes = new TextEncoder().encode(text);
	const decoder = new TextDecoder();
	const end = to < 0 || to > bytes.length ? bytes.length : to;
	return [decoder.decode(bytes.slice(0, from)), decoder.decode(bytes.slice(from, end)), decoder.decode(bytes.slice(end))];
}
