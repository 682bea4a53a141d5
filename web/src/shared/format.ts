// Numbers for people. Everything is independent of the reader's locale, so that two people read the same.

export function count(n: number): string {
	return Math.round(n).toString().replace(/\B(?=(\d{3})+(?!\d))/g, "\u2009");
}

export function percent(part: number, whole: number): string {
	if (!(whole > 0)) return "–";
	const share = (100 * part) / whole;
	if (share < 0) return `−${percent(-part, whole)}`;
	return share !== 0 && Math.abs(share) < 0.01 ? "<0.01 %" : `${share.toFixed(Math.abs(share) < 10 ? 2 : 1)} %`;
}

// Nanoseconds as the unit that gives three or four digits.
export function time(ns: number): string {
	const size = Math.abs(ns);
	const [unit, divisor] =
		size >= 1e9 ? ["s", 1e9] : size >= 1e6 ? ["ms", 1e6] : size >= 1e3 ? ["µs", 1e3] : ["ns", 1];
	const value = ns / divisor;
	if (size >= 600e9) return `${Math.floor(size / 60e9)} min ${Math.round((size % 60e9) / 1e9)} s`;
	const digits = unit === "ns" || Math.abs(value) >= 100 ? (unit === "s" ? 1 : 0) : Math.abs(value) >= 10 ? 1 : 2;
	return `${value.toFixed(digits)} ${unit}`;
}

export function signedTime(ns: number): string {
	return ns > 0 ? `+${time(ns)}` : ns < 0 ? `−${time(-ns)}` : "0";
}

export function date(unixMs: number): string {
	const d = new Date(unixMs);
	const two = (n: number): string => String(n).padStart(2, "0");
	return (
		`${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())} ` +
		`${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`
	);
}
