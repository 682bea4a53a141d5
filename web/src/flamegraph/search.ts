// Text or regular expression over "name (file:line)"; and what share of the samples has a match in its stack.
import { type Weights } from "./filter";
import { type Model } from "./model";

export interface Matches {
	functions: Uint8Array; // 1: matches
	stacks: Uint8Array; // by node: it or something above it does
	n: number; // functions that match
	error: string; // of a regular expression; then nothing matches
}

function matcher(text: string, regex: boolean): (candidate: string) => boolean {
	if (regex) {
		const pattern = new RegExp(text, "iu");
		return (candidate) => pattern.test(candidate);
	}
	const small = text.toLowerCase();
	return (candidate) => candidate.toLowerCase().includes(small);
}

export function search(model: Model, text: string, regex: boolean): Matches | null {
	if (text === "") return null;
	const functions = new Uint8Array(model.name.length);
	const stacks = new Uint8Array(model.n);
	let error = "";
	let n = 0;
	try {
		const matches = matcher(text, regex);
		for (let i = 0; i < functions.length; i++)
			if (matches(model.file[i] ? `${model.name[i]} (${model.file[i]}:${model.line[i]})` : model.name[i])) {
				functions[i] = 1;
				n++;
			}
	} catch (fault) {
		error = (fault as Error).message.replace(/^Invalid regular expression: /, "");
	}
	for (let i = 1; i < model.n; i++)
		stacks[i] = stacks[model.parent[i]] | functions[model.frameFunction[model.frame[i]]];
	return { functions, stacks, n, error };
}

export function matchedWeight(weights: Weights, matches: Matches): { weight: number; count: number } {
	let weight = 0;
	let count = 0;
	for (let i = 1; i < matches.stacks.length; i++)
		if (matches.stacks[i]) {
			weight += weights.own[i];
			count += weights.ownCount[i];
		}
	return { weight, count };
}
