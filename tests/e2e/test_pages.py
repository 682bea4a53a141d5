"""The flame graph page in a real Chromium, from file://: what it shows is what was sampled, whatever it is asked."""
import base64
import json
import os
import random
import re
import subprocess
import zlib

import pytest

from browser import Browser, install
from harness import TOP, quiet, tachyscope

PAGE = os.path.join(TOP, "web/dist/flamegraph.html")
GALLERY = os.path.join(TOP, "tests/golden/formats/gallery.flamegraph.json")
GIL, WAITING, CPU, EXCEPTION, GC = 1, 2, 4, 8, 16
MS = 1000  # in the microseconds of a payload


def unpack(path):
    """What a page holds."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    payload = re.search(r'<script id="payload" type="text/plain">([^<]*)</script>', text).group(1)
    return json.loads(zlib.decompress(base64.b64decode(payload), -15))


def write_page(path, payload):
    """A page as tachyscope writes it, around any payload."""
    pack = zlib.compressobj(6, zlib.DEFLATED, -15)
    data = pack.compress(json.dumps(payload).encode()) + pack.flush()
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    assert text.count("@PAYLOAD@</script>") == 1
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace("@PAYLOAD@</script>", base64.b64encode(data).decode() + "</script>"))
    return path


class Made:
    """A payload made by hand: stacks as "root;...;leaf", with a thread, a bucket, states and samples of a millisecond."""

    def __init__(self, n_buckets=10, threads=("main", "other"), base=False):
        self.strings, self.string_at = [""], {"": 0}
        self.functions = {"name": [], "file": [], "line": [], "kind": []}
        self.function_at, self.node_at = {}, {(): 0}
        self.nodes = {"parent": [0], "frame": [0]}
        self.frames = {"function": [], "line": []}
        self.samples = {key: [] for key in ("bucket", "thread", "node", "states", "count", "weight_us")}
        processes = [{"pid": 1, "command": "python3 app.py", "python": "3.13.0", "base": False}]
        if base:
            processes.append({"pid": 2, "command": "python3 old.py", "python": "3.13.0", "base": True})
        self.told = [{"process": i // len(threads), "tid": 10 + i, "name": name, "main": i == 0, "interpreter": 0}
                     for i, name in enumerate(threads * len(processes))]
        self.processes, self.n_buckets = processes, n_buckets

    def string(self, text):
        if text not in self.string_at:
            self.string_at[text] = len(self.strings)
            self.strings.append(text)
        return self.string_at[text]

    def frame(self, name):
        if name not in self.function_at:
            self.function_at[name] = len(self.functions["name"])
            for column, value in zip(("name", "file", "line", "kind"), (self.string(name), self.string("/srv/app.py"), 1, 0)):
                self.functions[column].append(value)
            self.frames["function"].append(self.function_at[name])
            self.frames["line"].append(7)
        return self.function_at[name]

    def node(self, stack):
        if stack not in self.node_at:
            parent = self.node(stack[:-1])
            self.node_at[stack] = len(self.nodes["parent"])
            self.nodes["parent"].append(parent)
            self.nodes["frame"].append(self.frame(stack[-1]))
        return self.node_at[stack]

    def add(self, stack, n, bucket=0, thread=0, states=0):
        stack = tuple(stack.split(";")) if isinstance(stack, str) else stack
        row = (bucket, thread, self.node(stack), states, n, n * MS)
        for column, value in zip(self.samples, row):
            self.samples[column].append(value)
        return self

    def payload(self):
        n = sum(self.samples["count"])
        run = {"mode": "wall", "rate_hz": 1000, "start_unix_ms": 0, "duration_ns": self.n_buckets * 100_000_000, "n_samples": n,
               "weight_ns": n * 1_000_000, "opcodes": False, "async_aware": False, "ticks": n, "lost": 0, "late": 0}
        told = {"schema": "tachyscope-flamegraph/1", "version": "0", "run": run, "processes": self.processes,
                "threads": self.told, "functions": self.functions, "frames": self.frames, "nodes": self.nodes,
                "buckets": {"n": self.n_buckets, "width_ns": 100_000_000}, "samples": self.samples, "sources": [],
                "strings": self.strings}
        if len(self.processes) > 1:
            told["base"] = run
        return told


def small():
    """100 samples: every filter takes some of them."""
    return (Made()
            .add("main;load;parse", 30, 0, 0, GIL | 64)
            .add("main;work;parse", 20, 3, 0, GIL | 64)
            .add("main;work", 10, 5, 0, GIL | GC | 64)
            .add("main;work;fail", 5, 6, 0, GIL | EXCEPTION | 64)
            .add("thread;wait", 25, 2, 1, WAITING | 64)
            .add("thread;wait;again;wait", 10, 9, 1, 64))


@pytest.fixture(scope="module")
def browser():
    made = Browser()
    yield made
    made.end()


class Shown:
    """The page, asked through its one object; everything is in samples of a millisecond."""

    def __init__(self, browser, path, **more):
        self.browser = browser
        browser.open(path, **more)
        browser.wait("window.tachyscope !== undefined")

    def tree(self, pane=0):
        """{"name;name": (total, own)} of what can be reached, as the page has it."""
        return {key: tuple(value) for key, value in self.browser.evaluate("""(() => {
            const app = window.tachyscope, pane = app.panes[%d], told = {};
            const walk = (node, path) => {
                for (const child of pane.tree.children(node)) {
                    const here = [...path, app.label(child.key)];
                    walk(child, here);
                    told[here.join(";")] = [child.total / 1e6, child.own / 1e6];
                }
            };
            walk(pane.tree.root, []);
            return told;
        })()""" % pane).items()}

    def total(self):
        return self.browser.evaluate("window.tachyscope.weights.all / 1e6")

    def samples(self):
        return self.browser.evaluate("window.tachyscope.weights.allCount")

    def settle(self):
        """Until nothing moves any more."""
        self.browser.evaluate("new Promise((done) => setTimeout(() => requestAnimationFrame(() => done(0)), 350))")

    def place(self, name):
        """The middle of the rectangle of `name`, in the window."""
        at = self.browser.evaluate("""(() => {
            const app = window.tachyscope;
            const box = app.flame.boxes.find((one) => one.node.key >= 0 && app.label(one.node.key) === %s);
            if (!box) return null;
            const left = Math.max(0, box.x), right = Math.min(app.flame.size().width, box.x + box.width);
            const canvas = app.flame.canvas.getBoundingClientRect();
            return [canvas.left + (left + right) / 2, canvas.top + box.y + 9, right - left];
        })()""" % json.dumps(name))
        assert at, f"{name} is not shown"
        return at

    def click(self, name, n=1):
        x, y, _ = self.place(name)
        self.browser.ask("mouse", steps=[["click", x, y, {"clickCount": n, "delay": 5}]])

    def hash(self):
        return self.browser.evaluate("location.hash")


@pytest.fixture
def page(browser, tmp_path):
    shown = Shown(browser, write_page(tmp_path / "small.html", small().payload()))
    yield shown
    browser.is_quiet()


def test_what_is_checked_in_is_what_the_sources_give():
    install()
    done = subprocess.run(["node", os.path.join(TOP, "web/build.mjs"), "--check"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, timeout=300)
    assert done.returncode == 0, done.stdout.decode()
    assert os.path.getsize(PAGE) < 300_000  # a page without a profile


def test_shows_every_sample(page):
    assert page.total() == 100 and page.samples() == 100
    assert page.tree() == {
        "main": (65, 0), "main;load": (30, 0), "main;load;parse": (30, 30), "main;work": (35, 10),
        "main;work;parse": (20, 20), "main;work;fail": (5, 5), "thread": (35, 0), "thread;wait": (35, 25),
        "thread;wait;again": (10, 0), "thread;wait;again;wait": (10, 10)}
    width = page.browser.evaluate("window.tachyscope.flame.size().width")
    assert abs(page.place("main")[2] / width - 0.65) < 0.01
    page.browser.screenshot("small")


def test_inverted(page):
    page.browser.press("i")
    tree = page.tree()
    assert tree["parse"][0] == 50 and tree["parse;work"][0] == 20 and tree["parse;load;main"][0] == 30
    assert tree["wait"][0] == 35 and tree["wait;again;wait;thread"][0] == 10
    assert sum(total for path, (total, _) in tree.items() if ";" not in path) == 100
    page.browser.press("i")
    assert page.tree()["main"] == (65, 0)


def test_sandwich(page):
    page.click("work")
    page.settle()
    page.browser.press("s")
    assert page.tree(0) == {"parse": (20, 20), "fail": (5, 5)}
    assert page.tree(1)["main"][0] == 35
    assert "Sandwich of" in page.browser.text("#focus")
    page.browser.screenshot("sandwich")
    page.browser.press("Backspace")
    assert page.tree()["main"] == (65, 0)


def test_sandwich_counts_recursion_once(page):
    page.browser.click("#hotspots tr:has-text('wait')")
    assert page.browser.evaluate("window.tachyscope.panes[0].tree.root.total / 1e6") == 35
    assert page.tree(1) == {"thread": (35, 35)}


def test_zoom_back_and_reset(page):
    page.click("work")
    page.settle()
    width = page.browser.evaluate("window.tachyscope.flame.size().width")
    assert abs(page.place("work")[2] - width) < 2 and page.hash().startswith("#zoom=")
    page.browser.click("#back")
    page.settle()
    assert abs(page.place("work")[2] / width - 0.35) < 0.01 and page.hash() == ""
    page.click("load")
    page.settle()
    page.browser.press("0")
    page.settle()
    assert abs(page.place("main")[2] / width - 0.65) < 0.01


def test_search_text_and_pattern(page):
    page.browser.press("/")
    page.browser.ask("fill", selector="#query", text="PARSE")
    page.browser.wait("document.querySelector('#matched').textContent.startsWith('50.0')")
    page.browser.screenshot("search")
    page.browser.ask("fill", selector="#query", text="^(wait|fail) ")
    page.browser.wait("document.querySelector('#matched').textContent.startsWith('0.00')")
    page.browser.click("#regex")
    page.browser.wait("document.querySelector('#matched').textContent.startsWith('40.0')")
    assert page.hash() == "#re=%5E%28wait%7Cfail%29+"
    page.browser.ask("fill", selector="#query", text="(")
    page.browser.wait("document.querySelector('#matched').textContent === 'not a pattern'")
    page.browser.ask("fill", selector="#query", text="app.py")  # files are searched too
    page.browser.wait("document.querySelector('#matched').textContent.startsWith('100')")
    page.browser.press("Escape")
    assert page.browser.text("#matched") == ""


def test_filters_by_state(page):
    gil = "[data-state=gil]"
    page.browser.click(gil)
    assert page.total() == 65 and "thread" not in page.tree()
    page.browser.click(gil)
    assert page.total() == 35 and "main" not in page.tree()
    page.browser.click(gil)
    page.browser.click("[data-state=gc]")
    assert page.total() == 10
    page.browser.click("[data-state=gc]")
    page.browser.click("[data-state=exc]")
    assert page.total() == 5 and page.hash() == "#states=-gc.exc"
    page.browser.press("0")
    page.browser.click("[data-state=wait]")
    assert page.total() == 25
    assert not page.browser.evaluate("!!document.querySelector('[data-state=cpu]')")  # nobody looked at the CPU


def test_filters_by_thread(page):
    page.browser.press("T")
    page.browser.click("[data-thread='1'] input")
    assert page.total() == 65
    page.browser.click("[data-thread='1'] .only")
    assert page.total() == 35 and set(page.tree()) == {
        "thread", "thread;wait", "thread;wait;again", "thread;wait;again;wait"}
    page.browser.click("#threads-all")
    assert page.total() == 100
    page.browser.click("[data-process='0'] input")
    assert page.total() == 0 and "No sample" in page.browser.text("#empty")


def test_time_range(page):
    box = page.browser.ask("box", selector="#strip")
    at = [box["x"] + box["width"] * share for share in (0.25, 0.55)]
    y = box["y"] + 20
    page.browser.ask("mouse", steps=[["move", at[0], y], ["down"], ["move", at[1], y, {"steps": 5}], ["up"]])
    assert page.hash() == "#time=2-6" and page.total() == 20 + 10 + 25
    assert page.browser.text("#range") == "200 ms – 600 ms (400 ms)"
    page.browser.screenshot("time-range")
    edge = box["x"] + box["width"] * 0.2
    page.browser.ask("mouse", steps=[["move", edge, y], ["down"], ["move", box["x"] + 1, y, {"steps": 5}], ["up"]])
    assert page.hash() == "#time=0-6" and page.total() == 85
    page.browser.press("]")
    assert page.hash() == "#time=3-9"
    page.browser.press("t")
    assert page.total() == 100


def test_by_line(page):
    page.browser.press("l")
    assert page.tree()["main:7;work:7;parse:7"] == (20, 20)
    page.browser.press("l")
    assert page.tree()["main;work;parse"] == (20, 20)


def test_hotspots(page):
    rows = page.browser.evaluate("""[...document.querySelectorAll('#hotspots tbody tr')].map(
        (row) => [...row.cells].map((cell) => cell.firstChild.textContent))""")
    assert rows[0] == ["parse", "50.0 %", "50.0 %"]
    assert rows[1] == ["wait", "35.0 %", "35.0 %"]
    assert ["main", "0.00 %", "65.0 %"] in rows and len(rows) == 8


def test_keyboard(page):
    page.browser.press("ArrowDown", "ArrowDown")
    selected = "window.tachyscope.flame.selected && window.tachyscope.label(window.tachyscope.flame.selected.key)"
    assert page.browser.evaluate(selected) == "work"
    page.browser.press("ArrowRight")
    assert page.browser.evaluate(selected) == "load"
    page.browser.press("ArrowUp", "ArrowRight")
    assert page.browser.evaluate(selected) == "thread"
    page.browser.press("Enter")
    page.settle()
    assert page.hash().startswith("#zoom=")
    page.browser.press("f")
    assert "layout=flame" in page.hash()
    page.settle()
    root, leaf = page.place("thread"), page.place("again")
    assert root[1] > leaf[1]
    page.browser.press("p")
    assert page.browser.evaluate("document.querySelector('#panel').hidden")
    page.browser.press("?")
    assert page.browser.evaluate("document.querySelector('#help').open")
    told = page.browser.text("#help")
    for word in ("search", "zoom to the selected", "sandwich", "inverted", "light or dark", "save as SVG"):
        assert word in told, word
    page.browser.screenshot("help")


def test_dark(browser, page):
    light = browser.evaluate("getComputedStyle(document.body).backgroundColor")
    page.browser.press("d")
    assert browser.evaluate("document.documentElement.dataset.theme") == "dark"
    assert browser.evaluate("getComputedStyle(document.body).backgroundColor") != light
    pixel = """(() => { const c = window.tachyscope.flame.canvas;
        return [...c.getContext('2d').getImageData(c.width - 3, c.height - 3, 1, 1).data].slice(0, 3); })()"""
    page.settle()
    assert sum(browser.evaluate(pixel)) < 150
    page.browser.screenshot("dark")


def test_dark_as_the_system_has_it(browser, tmp_path):
    Shown(browser, write_page(tmp_path / "small.html", small().payload()), scheme="dark")
    assert browser.evaluate("document.documentElement.dataset.theme") == "dark"
    browser.is_quiet()


def test_permalink_leads_back(browser, page, tmp_path):
    page.browser.press("i", "l", "f")
    page.click("parse:7")
    page.browser.click("[data-state=gil]")
    page.settle()
    page.browser.ask("fill", selector="#query", text="work")
    page.browser.wait("location.hash.includes('q=work')")
    hash, tree, total = page.hash(), page.tree(), page.total()
    again = Shown(browser, tmp_path / "small.html", hash=hash)
    again.settle()
    assert again.hash() == hash and again.tree() == tree and again.total() == total == 65
    width = browser.evaluate("window.tachyscope.flame.size().width")
    assert abs(again.place("parse:7")[2] - width) < 2
    assert browser.evaluate("document.querySelector('#query').value") == "work"
    nonsense = Shown(browser, tmp_path / "small.html", hash="#of=99&zoom=!!&time=7-2&threads=x.77&states=-nope&view=")
    assert nonsense.total() == 0  # no thread of those is there


def test_pictures(page, tmp_path):
    name = page.browser.ask("download", selector="#export-svg", path=str(tmp_path / "a.svg"))
    assert name.endswith(".svg")
    import xml.etree.ElementTree
    root = xml.etree.ElementTree.parse(tmp_path / "a.svg").getroot()
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"main", "work", "parse", "thread"} <= set(texts), texts
    titles = [element.text for element in root.iter("{http://www.w3.org/2000/svg}title")]
    assert any(title.startswith("work  /srv/app.py:1  total 35.0 %") for title in titles), titles
    page.browser.ask("download", selector="#export-png", path=str(tmp_path / "a.png"))
    assert (tmp_path / "a.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_tooltip(page):
    x, y, _ = page.place("work")
    page.browser.ask("mouse", steps=[["move", x, y]])
    told = page.browser.text("#tooltip")
    assert told.startswith("work/srv/app.py:1total35.0 %35.0 ms35 samplesown10.0 %10.0 ms10 samples"), told


# ---- names ----------------------------------------------------------------------------------------------------------

HOSTILE = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(2)>", "<module>", "\"'`&amp;", "a\x1b[31m\nb\x00c",
           "\u202egnp.exe", "\u2066x\u2069", "&lt;", "${alert(3)}", "__proto__", "constructor", "", "\ud800", "日本語🐍", "<!--", "]]>",
           "x" * 5000]


def test_names_are_data(browser, tmp_path):
    made = Made(threads=("</script><b>t", "\u202eother"))
    for name in HOSTILE:
        made.add(("root", name), 10)
    payload = made.payload()
    payload["processes"][0]["command"] = "<img src=x onerror=alert(4)>"
    payload["sources"] = [["/srv/app.py", 7, "</script><script>alert(5)</script>\u202e"]]
    page = Shown(browser, write_page(tmp_path / "hostile.html", payload))
    shown = browser.evaluate("[...document.querySelectorAll('#hotspots td.name')].map((cell) => cell.firstChild.textContent)")
    for name, text in [(HOSTILE[0], HOSTILE[0]), (HOSTILE[1], HOSTILE[1]), ("<module>", "<module>"), (HOSTILE[3], HOSTILE[3]),
                       (HOSTILE[4], "a\\u001b[31m\\u000ab\\u0000c"), (HOSTILE[5], "\\u202egnp.exe"),
                       (HOSTILE[6], "\\u2066x\\u2069"), ("&lt;", "&lt;"), ("", '""'), ("\ud800", "\\ud800"), ("日本語🐍", "日本語🐍"),
                       ("__proto__", "__proto__"), ("constructor", "constructor")]:
        assert text in shown, (name, "\n".join(shown)[:3000])
    for name in ("<module>", "__proto__", HOSTILE[0]):
        page.click(name)
        page.settle()
        browser.press("0")
        page.settle()
        x, y, _ = page.place(name)
        browser.ask("mouse", steps=[["move", x, y]])
        assert browser.text("#tooltip b") == name
        assert "</script><script>alert(5)</script>\\u202e" in browser.text("#tooltip")
    browser.press("T")
    assert "</script><b>t" in browser.text("#threads") and "\\u202eother" in browser.text("#threads")
    page.click("<module>")
    browser.ask("fill", selector="#query", text="</script>")
    browser.wait("document.querySelector('#matched').textContent !== ''")
    browser.click("[data-tab=selected]")
    browser.click("[data-tab=run]")
    browser.screenshot("hostile-names")
    assert browser.evaluate("document.querySelectorAll('img, b b, #panel script').length") == 0
    browser.ask("download", selector="#export-svg", path=str(tmp_path / "a.svg"))
    import xml.etree.ElementTree
    xml.etree.ElementTree.parse(tmp_path / "a.svg")
    browser.is_quiet()


def test_gallery(browser, tmp_path):
    """What the exporter wrote of the profile that all formats are tested with."""
    with open(GALLERY, encoding="utf-8") as file:
        payload = json.load(file)
    page = Shown(browser, write_page(tmp_path / "gallery.html", payload))
    assert page.samples() == sum(payload["samples"]["count"]) == 36
    assert abs(page.total() - 36.5) < 1e-9
    tree = page.tree()
    assert sum(total for path, (total, _) in tree.items() if ";" not in path) == pytest.approx(36.5)
    assert any(path.startswith("<no Python frame>") for path in tree), tree
    browser.press("ArrowDown")
    browser.click("[data-tab=selected]")
    browser.screenshot("gallery")
    browser.is_quiet()


# ---- size and speed -------------------------------------------------------------------------------------------------

def large(n_nodes):
    """A tree of n_nodes with the depth and the branching of real programs, all of its weight in leaves."""
    chance = random.Random(7)
    made = Made(n_buckets=512, threads=tuple(f"worker-{i}" for i in range(8)))
    for i in range(4000):
        made.frame(f"package_{i % 60}.Class{i % 300}.method_{i}")
    parent, frame, depth, has_child = [0], [0], [0], [False]
    last = 0
    while len(parent) < n_nodes:
        at = last if chance.random() < 0.72 and depth[last] < 60 else chance.randrange(len(parent))
        if depth[at] >= 60:
            continue
        has_child[at] = True
        last = len(parent)
        parent.append(at)
        frame.append(chance.randrange(4000))
        depth.append(depth[at] + 1)
        has_child.append(False)
    made.nodes = {"parent": parent, "frame": frame}
    columns = made.samples
    for node in range(1, n_nodes):
        if has_child[node]:
            continue
        n = 1 + int(chance.expovariate(0.2))
        for column, value in zip(columns, (chance.randrange(512), chance.randrange(8), node, chance.choice((64, 65, 66, 81)), n,
                                           n * MS)):
            columns[column].append(value)
    return made.payload()


FRAMES = """(async () => {
    const app = window.tachyscope, flame = app.flame;
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    const told = { draw: [], gap: [] };
    const root = app.panes[0].tree.root;
    let last = performance.now();
    const measure = async (n, act) => {
        for (let i = 0; i < n; i++) {
            act(i);
            await frame();
            await frame();
            const now = performance.now();
            told.draw.push(flame.lastDrawMs);
            told.gap.push((now - last) / 2);
            last = now;
        }
    };
    await measure(10, () => flame.request());
    told.draw = []; told.gap = [];
    await measure(40, (i) => flame.zoomAt(300 + i * 10, i < 20 ? 0.8 : 1.25));
    await measure(40, (i) => flame.panBy(i < 20 ? 25 : -25));
    await measure(20, (i) => flame.scrollBy(i < 10 ? 40 : -40));
    let node = root;
    for (let i = 0; i < 6; i++) {
        const children = app.panes[0].tree.children(node);
        if (!children.length) break;
        node = children[0];
        app.zoom(node);
        await measure(10, () => {});
    }
    const sorted = (list) => [...list].sort((a, b) => a - b);
    const at = (list, share) => sorted(list)[Math.floor((list.length - 1) * share)];
    return { n: told.draw.length, boxes: flame.boxes.length, draw: at(told.draw, 0.5), draw95: at(told.draw, 0.95),
             gap: at(told.gap, 0.5), gap95: at(told.gap, 0.95) };
})()"""


@pytest.mark.alone
def test_two_hundred_thousand_nodes_stay_smooth(browser, tmp_path, record_property):
    few = Shown(browser, write_page(tmp_path / "few.html", large(20_000)))
    base = browser.evaluate(FRAMES)
    assert few.samples() > 10_000
    path = write_page(tmp_path / "many.html", large(200_000))
    many = Shown(browser, path)
    loaded = browser.evaluate("performance.now()")
    assert browser.evaluate("window.tachyscope.model.n") == 200_000 and many.samples() > 100_000
    browser.screenshot("200000-nodes")
    told = browser.evaluate(FRAMES)
    began = browser.evaluate("""(() => { const t = performance.now();
        window.tachyscope.state.filter.range = [100, 300]; window.tachyscope.update('filter'); return performance.now() - t; })()""")
    figures = {"few": base, "many": told, "filter_ms": began, "loaded_ms": loaded, "bytes": os.path.getsize(path)}
    print(json.dumps(figures))
    record_property("frames", json.dumps(figures))
    os.makedirs(os.path.join(TOP, "build/screenshots"), exist_ok=True)
    with open(os.path.join(TOP, "build/screenshots/frames.json"), "w", encoding="utf-8") as file:
        json.dump(figures, file, indent=1)
    # ten times the nodes on the same screen: only what is seen costs
    quiet(told["draw"] < 4 * max(base["draw"], 1), figures)
    browser.is_quiet()


# ---- from a real program --------------------------------------------------------------------------------------------

PROGRAM = """
import threading, time
def spin(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass
def odd():
    spin(0.4)
odd.__code__ = odd.__code__.replace(co_name="</script><script>alert(1)</script>")
try:
    odd.__code__ = odd.__code__.replace(co_qualname="</script><script>alert(1)</script>")
except TypeError:
    pass
thread = threading.Thread(target=time.sleep, args=(0.9,), name="<sleeper>")
thread.start()
spin(0.3)
odd()
thread.join()
"""


def test_a_real_run(browser, tmp_path):
    program = tmp_path / "prog.py"
    program.write_text(PROGRAM)
    path = tmp_path / "out.html"
    tachyscope("run", "-q", "-o", path, "--stats-json", tmp_path / "stats.json", program, cwd=tmp_path)
    payload = unpack(path)
    stats = json.loads((tmp_path / "stats.json").read_text())
    assert sum(payload["samples"]["count"]) == payload["run"]["n_samples"] > 100
    assert payload["run"]["ticks"] == stats["samples_captured"]
    assert sum(payload["samples"]["weight_us"]) == pytest.approx(payload["run"]["weight_ns"] / 1000, abs=1)
    assert os.path.getsize(path) < 400_000
    page = Shown(browser, path)
    assert page.samples() == payload["run"]["n_samples"]
    rows = dict(browser.evaluate("""[...document.querySelectorAll('#hotspots tbody tr')].map(
        (row) => [row.cells[0].firstChild.textContent, row.cells[2].textContent])"""))
    assert "</script><script>alert(1)</script>" in rows and "spin" in rows
    browser.press("/")
    browser.ask("fill", selector="#query", text="spin")
    browser.wait("document.querySelector('#matched').textContent !== ''")
    browser.press("Enter")
    browser.click("[data-tab=selected]")
    assert "while time.monotonic() < end:" in browser.text("#panel-body")
    browser.press("Escape", "T")
    assert "<sleeper>" in browser.text("#threads")
    browser.press("Escape")
    browser.screenshot("real-run")
    browser.is_quiet()


def test_no_profile_and_no_sense_are_told(browser, tmp_path):
    browser.open(PAGE)
    browser.wait("document.querySelector('.fault') !== null")
    assert "holds no profile" in browser.text(".fault")
    browser.open(write_page(tmp_path / "other.html", {"schema": "something/9"}))
    browser.wait("document.querySelector('.fault') !== null")
    assert "another version" in browser.text(".fault")
