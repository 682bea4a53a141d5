// Builds every page: each folder of src with a page.html becomes dist/FOLDER.html, one self-contained file.
// usage: node build.mjs [--check]      --check: say what in dist is not what the sources give, write nothing
//
// page.html may hold the lines @STYLE@ (style.css of the folder, bundled with what it imports) and @SCRIPT@
// (main.ts, bundled). What tachyscope itself fills in, @PAYLOAD@, stays as it is.
import { build } from "esbuild";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const check = process.argv.includes("--check");

async function bundle(entry) {
	const result = await build({
		entryPoints: [entry],
		bundle: true,
		minify: true,
		write: false,
		format: "iife",
		target: ["chrome103", "firefox113", "safari16.4"],
		charset: "ascii", // no byte of the page depends on how it is served
		legalComments: "none",
		logLevel: "warning",
	});
	return result.outputFiles[0].text.trim();
}

async function page(name) {
	const folder = join(here, "src", name);
	let html = readFileSync(join(folder, "page.html"), "utf8");
	for (const [mark, file] of [["@STYLE@", "style.css"], ["@SCRIPT@", "main.ts"]]) {
		if (!html.includes(mark)) continue;
		const text = await bundle(join(folder, file));
		html = html.replace(mark, () => text);
	}
	return html;
}

let bad = 0;
mkdirSync(join(here, "dist"), { recursive: true });
for (const name of readdirSync(join(here, "src")).sort()) {
	if (!existsSync(join(here, "src", name, "page.html"))) continue;
	const path = join(here, "dist", `${name}.html`);
	const want = await page(name);
	if (!check) {
		writeFileSync(path, want);
		console.log(`dist/${name}.html: ${want.length} bytes`);
	} else if (!existsSync(path) || readFileSync(path, "utf8") !== want) {
		console.log(`dist/${name}.html is not what src/${name} gives: run tools/web build`);
		bad++;
	}
}
process.exit(bad ? 1 : 0);
