// The strip of time above the graph: how many threads were where, stretch by stretch; dragging selects a range.
import { type Series } from "./filter";
import { time } from "../shared/format";

export interface StripColours {
	ground: string;
	idle: string;
	busy: string;
	mark: string;
	axis: string;
	text: string;
	shade: string;
	handle: string;
	fontFamily: string;
}

const AXIS = 16;
const GRIP = 5;

export class Strip {
	private series: Series | null = null;
	private colours: StripColours | null = null;
	private range: [number, number] = [0, 1];
	private bucketNs = 1;
	private width = 0;
	private height = 0;
	private drag: { from: number; edge: 0 | 1 | null; moved: boolean } | null = null;
	private readonly context: CanvasRenderingContext2D;

	constructor(
		private readonly canvas: HTMLCanvasElement,
		private readonly onRange: (range: [number, number], done: boolean) => void,
	) {
		this.context = canvas.getContext("2d") as CanvasRenderingContext2D;
		canvas.addEventListener("pointerdown", (event) => this.down(event));
		canvas.addEventListener("pointermove", (event) => this.move(event));
		canvas.addEventListener("pointerup", (event) => this.up(event));
		canvas.addEventListener("dblclick", () => this.onRange([0, this.n], true));
	}

	private get n(): number {
		return this.series?.all.length ?? 1;
	}

	show(series: Series, range: [number, number], bucketNs: number, colours: StripColours): void {
		this.series = series;
		this.range = range;
		this.bucketNs = bucketNs;
		this.colours = colours;
		this.draw();
	}

	resize(width: number, height: number): void {
		const ratio = window.devicePixelRatio || 1;
		this.width = width;
		this.height = height;
		this.canvas.width = Math.round(width * ratio);
		this.canvas.height = Math.round(height * ratio);
		this.canvas.style.width = `${width}px`;
		this.canvas.style.height = `${height}px`;
		this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
		this.draw();
	}

	private x(bucket: number): number {
		return (bucket / this.n) * this.width;
	}

	private bucketAt(event: PointerEvent, round: (n: number) => number): number {
		const x = event.clientX - this.canvas.getBoundingClientRect().left;
		return Math.max(0, Math.min(this.n, round((x / this.width) * this.n)));
	}

	private edgeAt(event: PointerEvent): 0 | 1 | null {
		if (this.range[0] === 0 && this.range[1] === this.n) return null;
		const x = event.clientX - this.canvas.getBoundingClientRect().left;
		if (Math.abs(x - this.x(this.range[0])) <= GRIP) return 0;
		return Math.abs(x - this.x(this.range[1])) <= GRIP ? 1 : null;
	}

	private down(event: PointerEvent): void {
		if (event.button !== 0) return;
		this.canvas.setPointerCapture(event.pointerId);
		this.drag = { from: this.bucketAt(event, Math.floor), edge: this.edgeAt(event), moved: false };
	}

	private dragged(event: PointerEvent): [number, number] {
		const drag = this.drag as NonNullable<typeof this.drag>;
		const at = this.bucketAt(event, Math.round);
		if (drag.edge === 0) return [Math.min(at, this.range[1] - 1), this.range[1]];
		if (drag.edge === 1) return [this.range[0], Math.max(at, this.range[0] + 1)];
		const from = Math.min(drag.from, at);
		return [from, Math.max(drag.from + 1, at, from + 1)];
	}

	private move(event: PointerEvent): void {
		if (!this.drag) {
			this.canvas.style.cursor = this.edgeAt(event) === null ? "crosshair" : "ew-resize";
			return;
		}
		this.drag.moved ||= this.drag.edge !== null || Math.abs(this.bucketAt(event, Math.round) - this.drag.from) > 1;
		if (this.drag.moved) this.onRange(this.dragged(event), false);
	}

	private up(event: PointerEvent): void {
		const drag = this.drag;
		if (!drag) return;
		if (drag.moved) this.onRange(this.dragged(event), true);
		this.drag = null;
	}

	draw(): void {
		const { series, colours, context: c } = this;
		if (!series || !colours || !this.width) return;
		const high = this.height - AXIS;
		c.fillStyle = colours.ground;
		c.fillRect(0, 0, this.width, this.height);
		let peak = 1e-9;
		// a column a pixel: what several stretches of it have on average
		const columns = Math.max(1, Math.min(this.n, Math.floor(this.width)));
		const sums = [series.all, series.busy, series.matched].map((values) => {
			const sum = new Float64Array(columns);
			for (let i = 0; i < this.n; i++) sum[Math.floor((i * columns) / this.n)] += values[i];
			return sum;
		});
		for (const value of sums[0]) peak = Math.max(peak, value);
		const wide = this.width / columns;
		for (const [sum, colour] of [
			[sums[0], colours.idle],
			[sums[1], colours.busy],
			[sums[2], colours.mark],
		] as const) {
			c.fillStyle = colour;
			for (let i = 0; i < columns; i++) {
				const h = (sum[i] / peak) * (high - 2);
				if (h > 0) c.fillRect(i * wide, high - h, Math.max(wide, 1), h);
			}
		}
		this.drawAxis(c, colours, high);
		this.drawRange(c, colours, high);
	}

	private drawAxis(c: CanvasRenderingContext2D, colours: StripColours, high: number): void {
		const whole = this.n * this.bucketNs;
		const raw = (whole / this.width) * 90;
		const power = 10 ** Math.floor(Math.log10(raw));
		const step = [1, 2, 5, 10].map((m) => m * power).find((candidate) => candidate >= raw) ?? raw;
		c.fillStyle = colours.axis;
		c.fillRect(0, high, this.width, 1);
		c.font = `10.5px ${colours.fontFamily}`;
		c.textBaseline = "top";
		for (let at = 0; at < whole; at += step) {
			const x = (at / whole) * this.width;
			c.fillStyle = colours.axis;
			c.fillRect(x, high, 1, 4);
			c.fillStyle = colours.text;
			if (x < this.width - 40) c.fillText(at === 0 ? "0" : time(at).replace(/(\.\d*?)0+ /, "$1 ").replace(". ", " "), x + 3, high + 3);
		}
	}

	private drawRange(c: CanvasRenderingContext2D, colours: StripColours, high: number): void {
		const [from, upto] = this.range;
		if (from === 0 && upto === this.n) return;
		c.fillStyle = colours.shade;
		c.fillRect(0, 0, this.x(from), high);
		c.fillRect(this.x(upto), 0, this.width - this.x(upto), high);
		c.fillStyle = colours.handle;
		for (const edge of [from, upto]) c.fillRect(Math.min(this.x(edge) - 1, this.width - 2), 0, 2, high);
	}
}
