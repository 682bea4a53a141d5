// What the rows of a file are: source lines, gaps between them, and sampled lines without source.
import type { Profile, View } from "./data";
import { sourceLines } from "./names";

export interface Row {
	number: number; // of the line; for a gap: how many lines are not here
	line: number; // number in the profile; -1: never sampled
	text: string | null; // null: there is no source for it
	gap: boolean;
	functions: number[]; // that begin here
}

// All rows, or with `hot` only those with samples, where functions begin that have some, and one line around.
export function rowsOf(profile: Profile, view: View, file: number, hot: boolean): Row[] {
	const texts = sourceLines(profile, file);
	const lines = new Map<number, number>();
	const begins = new Map<number, number[]>();
	for (const line of profile.files[file]!.lines) if (view.lines.total[line]! > 0) lines.set(profile.lineNumber[line]!, line);
	for (const func of profile.files[file]!.functions) {
		const first = profile.functions[func]!.line;
		if (view.functions.total[func]! > 0 && first > 0) begins.set(first, [...(begins.get(first) ?? []), func]);
	}
	let numbers = [...new Set([...texts.keys(), ...lines.keys()])];
	if (texts.size === 0) numbers = [...lines.keys()];
	if (hot) numbers = numbers.filter((n) => lines.has(n) || begins.has(n));
	numbers.sort((a, b) => a - b);
	const rows: Row[] = [];
	let last = 0;
	for (const number of numbers) {
		if (number > last + 1 && texts.size > 0) rows.push({ number: number - last - 1, line: -1, text: null, gap: true, functions: [] });
		rows.push({ number, line: lines.get(number) ?? -1, text: texts.get(number) ?? null, gap: false, functions: begins.get(number) ?? [] });
		last = number;
	}
	const all = profile.sources.get(file)?.lines ?? 0;
	if (all > last && texts.size > 0) rows.push({ number: all - last, line: -1, text: null, gap: true, functions: [] });
	return rows;
}

// Own samples on the line whose instruction was specialised, and all whose instruction is known.
export function special(profile: Profile, view: View, line: number): [number, number] {
	let good = 0;
	let all = 0;
	for (const spot of profile.spotsOfLine.get(line) ?? []) {
		const { opcode, base } = profile.spots[spot]!;
		if (opcode === "") continue;
		all += view.spots.own[spot]!;
		if (opcode !== base) good += view.spots.own[spot]!;
	}
	return [good, all];
}
