// Where the reader is, kept in the address, so that it can be sent to somebody else and Back goes back.
export type Measure = "own" | "total" | "special";
export type Scale = "file" | "run";

export interface Place {
	file: string | null; // path; null: the index
	line: number; // 0: none
	view: string;
	measure: Measure;
	scale: Scale;
	hot: boolean; // only lines with samples
	query: string;
	sort: string; // of the index: column, "-" in front for rising
}

const START: Place = {
	file: null,
	line: 0,
	view: "all",
	measure: "own",
	scale: "file",
	hot: false,
	query: "",
	sort: "own",
};

export function parsePlace(hash: string): Place {
	const words = new URLSearchParams(hash.replace(/^#/, ""));
	const measure = words.get("m");
	return {
		file: words.get("f"),
		line: Math.max(0, Math.trunc(Number(words.get("l"))) || 0),
		view: words.get("v") ?? START.view,
		measure: measure === "total" || measure === "special" ? measure : START.measure,
		scale: words.get("c") === "run" ? "run" : START.scale,
		hot: words.get("hot") === "1",
		query: words.get("q") ?? START.query,
		sort: words.get("s") ?? START.sort,
	};
}

export function formatPlace(place: Place): string {
	const words = new URLSearchParams();
	if (place.file !== null) words.set("f", place.file);
	if (place.line > 0) words.set("l", String(place.line));
	if (place.view !== START.view) words.set("v", place.view);
	if (place.measure !== START.measure) words.set("m", place.measure);
	if (place.scale !== START.scale) words.set("c", place.scale);
	if (place.hot) words.set("hot", "1");
	if (place.query !== START.query) words.set("q", place.query);
	if (place.sort !== START.sort) words.set("s", place.sort);
	const text = words.toString();
	return text ? `#${text}` : "#";
}

let current = parsePlace(location.hash);
let listener: (now: Place, before: Place) => void = () => {};

export function place(): Place {
	return current;
}

function become(next: Place): void {
	const before = current;
	current = next;
	listener(next, before);
}

// A step that Back undoes (another file, another line), or a setting (replace).
export function go(changes: Partial<Place>, replace = false): void {
	const next = { ...current, ...changes };
	const hash = formatPlace(next);
	if (hash !== formatPlace(current)) {
		if (replace) history.replaceState(null, "", hash);
		else history.pushState(null, "", hash);
	}
	become(next);
}

export function onPlace(then: (now: Place, before: Place) => void): void {
	listener = then;
	const follow = (): void => {
		if (formatPlace(parsePlace(location.hash)) !== formatPlace(current)) become(parsePlace(location.hash));
	};
	addEventListener("popstate", follow);
	addEventListener("hashchange", follow);
}
