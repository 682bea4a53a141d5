// Elements without strings of HTML: what is given as text can only ever be text.
export type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | ((event: never) => void) | undefined>;

export function el<K extends keyof HTMLElementTagNameMap>(
	tag: K,
	attributes: Attributes = {},
	...children: Child[]
): HTMLElementTagNameMap[K] {
	const element = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes)) {
		if (typeof value === "function") element.addEventListener(name, value as EventListener);
		else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : String(value));
	}
	for (const child of children) if (child !== null && child !== undefined && child !== false) element.append(child);
	return element;
}

export function byId<T extends HTMLElement>(id: string): T {
	const element = document.getElementById(id);
	if (!element) throw new Error(`no #${id} in the page`);
	return element as T;
}

// Shows why a page cannot be shown, instead of it.
export function fail(sentence: string): never {
	document.body.replaceChildren(el("p", { class: "fault", role: "alert" }, sentence));
	throw new Error(sentence);
}
