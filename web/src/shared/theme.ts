// Light and dark: as the system has it until the reader chooses; the choice is kept where the browser lets us.
export type Theme = "light" | "dark";

const KEY = "tachyscope-theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const listeners: (() => void)[] = [];

function stored(): Theme | null {
	try {
		const value = localStorage.getItem(KEY);
		return value === "light" || value === "dark" ? value : null;
	} catch {
		return null; // file:// pages may have no storage
	}
}

let chosen: Theme | null = stored();

export function theme(): Theme {
	return chosen ?? (system.matches ? "dark" : "light");
}

function apply(): void {
	document.documentElement.dataset.theme = theme();
	for (const listener of listeners) listener();
}

export function onTheme(listener: () => void): void {
	listeners.push(listener);
}

export function toggleTheme(): void {
	chosen = theme() === "dark" ? "light" : "dark";
	try {
		localStorage.setItem(KEY, chosen);
	} catch {
		// kept for this page only
	}
	apply();
}

// The value of a colour variable of base.css, for canvases.
export function colour(name: string): string {
	return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

export function startTheme(): void {
	system.addEventListener("change", apply);
	apply();
}
