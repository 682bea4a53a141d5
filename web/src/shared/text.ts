// Names are data that the profiled program chose. visible() makes of any of them a text that shows what is in it:
// control characters, what hides and what reorders becomes \uXXXX. Markup is no matter here: nothing of a page is
// made from strings of HTML, dom.ts sets text only.

// C0, DEL, C1, soft hyphen, bidi and zero-width characters, separators, tags, surrogates without a partner
const UNSAFE =
	/[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\ufffe\uffff]|[\u{e0000}-\u{e0fff}]|\p{Surrogate}/gu;

export function escapeOf(c: string): string {
	const code = c.codePointAt(0) ?? 0xfffd;
	return code > 0xffff ? `\\U${code.toString(16).padStart(8, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
}

export function visible(text: string): string {
	return text.replace(UNSAFE, escapeOf);
}

// The same for source code, where a tab is a tab.
export function visibleCode(text: string): string {
	return text
		.split("\t")
		.map(visible)
		.join("    ");
}

// The last part of a path, and the two last.
export function baseName(path: string): string {
	return path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
}

export function shortPath(path: string, parts = 2): string {
	const all = path.split("/");
	return all.length > parts + 1 ? `…/${all.slice(-parts).join("/")}` : path;
}
