// All rows of a file in one narrow picture; a click goes there.
import { onTheme, colour } from "../shared/theme";

const WIDTH = 44;

export class Minimap {
	readonly canvas: HTMLCanvasElement;

	constructor(
		private readonly scroller: HTMLElement,
		private readonly heat: number[],
		private readonly measure: string,
	) {
		this.canvas = document.createElement("canvas");
		this.canvas.className = "minimap";
		this.canvas.setAttribute("aria-hidden", "true");
		this.canvas.style.width = `${WIDTH}px`;
		scroller.addEventListener("scroll", () => this.draw(), { passive: true });
		const drag = (event: PointerEvent): void => {
			if (event.buttons & 1) this.goTo(event.offsetY / this.used());
		};
		this.canvas.addEventListener("pointerdown", (event) => {
			this.canvas.setPointerCapture(event.pointerId);
			drag(event);
		});
		this.canvas.addEventListener("pointermove", drag);
		onTheme(() => this.draw());
	}

	// A short file does not fill the height.
	private used(): number {
		return Math.min(4, this.canvas.clientHeight / this.heat.length) * this.heat.length;
	}

	private goTo(share: number): void {
		this.scroller.scrollTop = share * this.scroller.scrollHeight - this.scroller.clientHeight / 2;
	}

	draw(): void {
		const height = this.canvas.clientHeight;
		const context = this.canvas.getContext("2d");
		if (!context || height === 0 || this.heat.length === 0) return;
		const ratio = devicePixelRatio || 1;
		this.canvas.width = WIDTH * ratio;
		this.canvas.height = height * ratio;
		context.scale(ratio, ratio);
		const rgb = colour(`hot-${this.measure}`);
		const step = Math.min(4, height / this.heat.length); // a short file does not fill it
		this.heat.forEach((heat, i) => {
			if (heat <= 0) return;
			context.fillStyle = `rgb(${rgb} / ${0.25 + 0.75 * heat})`;
			context.fillRect(4, i * step, WIDTH - 8, Math.max(1.5, step));
		});
		const { scrollTop, clientHeight, scrollHeight } = this.scroller;
		const used = step * this.heat.length;
		context.strokeStyle = colour("text-faint");
		context.fillStyle = `rgb(${colour("hot-window")} / 0.12)`;
		const top = (scrollTop / scrollHeight) * used;
		const size = Math.max(6, Math.min(1, clientHeight / scrollHeight) * used);
		context.fillRect(0.5, top + 0.5, WIDTH - 1, size - 1);
		context.strokeRect(0.5, top + 0.5, WIDTH - 1, size - 1);
	}
}
