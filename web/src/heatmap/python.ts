// Colours for Python source: a line at a time, with what is open (a string over several lines) carried along. Knows
// enough of the language to read well, and never fails: what it does not know is plain.
export type Kind = "" | "comment" | "string" | "keyword" | "number" | "name" | "decorator";
export interface Token {
	kind: Kind;
	text: string;
}

const KEYWORDS = new Set(
	("False None True and as assert async await break class continue def del elif else except finally for from global " +
		"if import in is lambda nonlocal not or pass raise return try while with yield match case type").split(" "),
);
const PATTERN =
	/(?<comment>#.*$)|(?<string>[rRbBfFuUtT]{0,2}(?:"""|'''|"|'))|(?<number>\b(?:0[xXoObB][\w]+|\d[\w.]*))|(?<word>[\p{L}_][\p{L}\p{N}_]*)|(?<decorator>^\s*@[\w.]+)/gu;

export interface Open {
	quote: string; // "" none
}

// The end of a string that `quote` opened, from `from` on; -1: not in this line.
function endOf(text: string, quote: string, from: number): number {
	for (let i = from; i < text.length; i++) {
		if (text[i] === "\\") i++;
		else if (text.startsWith(quote, i)) return i + quote.length;
	}
	return -1;
}

export function tokens(text: string, open: Open): Token[] {
	const result: Token[] = [];
	const add = (kind: Kind, from: number, to: number): void => {
		if (to > from) result.push({ kind, text: text.slice(from, to) });
	};
	let at = 0;
	let definition = false;
	if (open.quote) {
		const end = endOf(text, open.quote, 0);
		add("string", 0, end < 0 ? text.length : end);
		if (end < 0) return result;
		open.quote = "";
		at = end;
	}
	PATTERN.lastIndex = at;
	for (let match = PATTERN.exec(text); match; match = PATTERN.exec(text)) {
		add("", at, match.index);
		const groups = match.groups ?? {};
		let end = match.index + match[0].length;
		let kind: Kind = groups.comment ? "comment" : groups.number ? "number" : groups.decorator ? "decorator" : "";
		if (groups.string) {
			const quote = /"""|'''|"|'/.exec(groups.string)![0];
			const close = endOf(text, quote, end);
			if (close < 0 && quote.length === 3) open.quote = quote;
			end = close < 0 ? text.length : close;
			kind = "string";
		} else if (groups.word) {
			kind = KEYWORDS.has(groups.word) ? "keyword" : definition ? "name" : "";
			definition = groups.word === "def" || groups.word === "class";
		}
		add(kind, match.index, end);
		at = end;
		PATTERN.lastIndex = end;
	}
	add("", at, text.length);
	return result;
}
