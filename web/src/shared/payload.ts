// What tachyscope put into the page: JSON, deflated (raw), as base64 in <script id="payload">. See src/export/page.h.
export async function readPayload(): Promise<unknown> {
	const text = document.getElementById("payload")?.textContent?.trim() ?? "";
	if (text === "" || text.startsWith("@")) throw new Error("this page holds no profile");
	if (typeof DecompressionStream === "undefined")
		throw new Error("this browser is too old for this page: it has no DecompressionStream");
	const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
	const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
	return JSON.parse(await new Response(stream).text());
}
