// A real Chromium on a line of JSON per request: browser.py writes requests to stdin and reads answers from stdout.
// usage: node browser.mjs PATH-TO-PLAYWRIGHT-CORE CHROMIUM
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [, , core, executablePath] = process.argv;
const { chromium } = await import(pathToFileURL(`${core}/index.mjs`).href);
const browser = await chromium.launch({
	executablePath,
	// root has no sandbox in a container; what is opened here was written by the tests
	args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
});
let page = null;
let context = null;
let complaints = [];

const requests = {
	async open({ url, width = 1440, height = 860, scheme = "light" }) {
		await context?.close();
		context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme, acceptDownloads: true });
		page = await context.newPage();
		complaints = [];
		page.on("console", (message) => {
			if (["error", "warning"].includes(message.type())) complaints.push(`${message.type()}: ${message.text()}`);
		});
		page.on("pageerror", (error) => complaints.push(`exception: ${error.stack}`));
		page.on("dialog", (dialog) => {
			complaints.push(`dialog: ${dialog.message()}`);
			dialog.dismiss();
		});
		page.on("request", (request) => {
			if (!/^(file|data|blob):/.test(request.url())) complaints.push(`network: ${request.url()}`);
		});
		await page.goto(url);
	},
	evaluate: ({ js }) => page.evaluate(js),
	// asked again and again from outside: the pages' own rules let no text become code
	async wait({ js, ms = 10000 }) {
		for (const end = Date.now() + ms; !(await page.evaluate(js)); await page.waitForTimeout(15))
			if (Date.now() > end) throw new Error(`not so within ${ms} ms: ${js}`);
		return true;
	},
	click: ({ selector, ...options }) => page.click(selector, { timeout: 5000, ...options }),
	fill: ({ selector, text }) => page.fill(selector, text, { timeout: 5000 }),
	text: ({ selector }) => page.textContent(selector, { timeout: 5000 }),
	press: ({ key }) => page.keyboard.press(key),
	mouse: async ({ steps }) => {
		for (const [name, ...args] of steps) await page.mouse[name](...args);
	},
	box: ({ selector }) => page.locator(selector).boundingBox(),
	screenshot: ({ path }) => page.screenshot({ path }).then(() => true),
	async download({ selector, path }) {
		const [download] = await Promise.all([page.waitForEvent("download"), page.click(selector)]);
		await download.saveAs(path);
		return download.suggestedFilename();
	},
	complaints: () => complaints,
};

for await (const line of createInterface({ input: process.stdin })) {
	const { what, ...args } = JSON.parse(line);
	let answer;
	try {
		answer = { value: (await requests[what](args)) ?? null };
	} catch (error) {
		answer = { error: String(error.stack ?? error) };
	}
	process.stdout.write(`${JSON.stringify(answer)}\n`);
}
await browser.close();
