"""Every format in other people's readers: the golden files (which tests/unit/test_formats.c holds to be what is
written) with all their odd names, and what a real run gives."""
import base64
import collections
import gzip
import html
import json
import os
import pstats
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import jsonschema
import pytest

from browser import WEB, Browser, install
from harness import PYTHONS, TOP, Target, collapsed, quiet, tachyscope, total, wait_until

GOLDEN = os.path.join(TOP, "tests/golden/formats")
SAMPLES, WEIGHT = 36, 36_500_000  # of the gallery: tests/unit/gallery.h
HOSTILE = "</script><script>alert(1)</script>"


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def check_facts(told):
    assert told["tool"] == "tachyscope" and told["version"] and told["mode"] == "wall", told
    assert told["rate_hz"] == 1000 and told["samples_captured"] > 0 and "samples_lost" in told, told
    assert all(process["pid"] and process["python"] for process in told["processes"]), told


# ---- one reader per format: what it found, as {thread title: (samples, ns)}, and the names of functions ----------

def read_speedscope(path):
    told = load(path)
    jsonschema.validate(told, load(os.path.join(TOP, "tests/third_party/speedscope/file-format-schema.json")))
    check_facts(told["tachyscope"])
    frames = told["shared"]["frames"]
    weights = collections.Counter()
    for profile in told["profiles"]:
        stack, last = [], profile["startValue"]
        for event in profile["events"]:
            assert event["at"] >= last and frames[event["frame"]]["name"]
            if stack:
                weights[profile["name"]] += event["at"] - last
            last = event["at"]
            if event["type"] == "O":
                stack.append(event["frame"])
            else:
                assert stack.pop() == event["frame"]
        assert not stack and last <= profile["endValue"]
    return told["tachyscope"]["thread_samples"], weights, {frame["name"] for frame in frames}


def read_chrome(path):
    told = load(path)
    check_facts(told["otherData"])
    stacks, last, weights, names = collections.defaultdict(list), {}, collections.Counter(), set()
    tracks = {}
    titles = {}
    for event in told["traceEvents"]:
        key = (event["pid"], event["tid"])
        if event["ph"] == "M":
            titles[key, event["name"]] = event["args"]["name"]
            continue
        time = round(event["ts"] * 1000)
        if event["ph"] in "BE":
            stack = stacks[key]
            assert time >= last.get(key, 0), event
            if stack:
                weights[key] += time - last[key]
            last[key] = time
            if event["ph"] == "B":
                stack.append(event["name"])
                if event["cat"] != "opcode":
                    names.add(event["name"])
            else:
                assert stack.pop() == event["name"]
        else:
            track = (event["pid"], event["cat"], event["id"])
            was = tracks.get(track, ("e", event["name"], 0))
            assert event["ph"] in "be" and event["ph"] != was[0] and time >= was[2], (was, event)
            assert was[1] == event["name"]
            tracks[track] = (event["ph"], event["name"], time)
    assert not any(stacks.values()) and all(track[0] == "e" for track in tracks.values())
    assert all((key, "thread_name") in titles for key in weights)
    return told["otherData"]["thread_samples"], weights, names


def read_jsonl(path):
    with open(path, encoding="utf-8") as file:
        header, *samples, summary = [json.loads(line) for line in file]
    check_facts(header)
    assert (header["type"], summary["type"]) == ("header", "summary")
    assert summary["lines"] == len(samples)
    assert [sample["time_ns"] for sample in samples] == sorted(sample["time_ns"] for sample in samples)
    weights, names = collections.Counter(), set()
    for sample in samples:
        assert sample["type"] == "sample" and sample["n"] >= 1
        weights[sample["pid"], sample["tid"], sample.get("interpreter", 0)] += sample["weight_ns"]
        names |= {frame["function"] for frame in sample["frames"]}
        if not sample["frames"]:
            names.add("<no Python frame>")
    assert summary["weight_ns"] == sum(weights.values())
    return sum(sample["n"] for sample in samples), weights, names


@pytest.fixture(scope="session")
def profile_pb2(tmp_path_factory):
    """Python classes of the published profile.proto, made by protoc."""
    folder = tmp_path_factory.mktemp("proto")
    subprocess.run(["protoc", f"--python_out={folder}", f"--proto_path={TOP}/third_party/pprof", "profile.proto"],
                   check=True)
    sys.path.insert(0, str(folder))
    import profile_pb2
    return profile_pb2


def read_pprof(path):
    """`profile_pb2` must have been made."""
    with gzip.open(path) as file:
        told = sys.modules["profile_pb2"].Profile.FromString(file.read())
    strings = list(told.string_table)
    assert strings[0] == "" and len(set(strings)) == len(strings)
    types = [(strings[one.type], strings[one.unit]) for one in told.sample_type]
    assert types == [("samples", "count"), ("wall", "nanoseconds")]
    assert strings[told.default_sample_type] == "wall" and told.period == 1_000_000
    assert abs(told.duration_nanos - told.sample[0].value[1]) < 100e9 and told.time_nanos > 1.6e18
    comments = [strings[comment] for comment in told.comment]
    assert " lost, " in comments[0] and "wall mode, tachyscope" in comments[0] and "Python 3." in comments[1], comments
    functions = {function.id: strings[function.name] for function in told.function}
    locations = {location.id: functions[location.line[0].function_id] for location in told.location}
    assert 0 not in functions and 0 not in locations
    assert len(functions) == len(told.function) and len(locations) == len(told.location)
    samples, weights, names = 0, collections.Counter(), set()
    for sample in told.sample:
        labels = {strings[label.key]: strings[label.str] or label.num for label in sample.label}
        samples += sample.value[0]
        weights[labels["pid"], labels["tid"], labels.get("thread")] += sample.value[1]
        names |= {locations[location] for location in sample.location_id}
    return samples, weights, names


def read_pstats(path):
    stats = pstats.Stats(str(path)).stats
    keys = set(stats)
    for (file, line, function), (cc, nc, tt, ct, callers) in stats.items():
        assert isinstance(file, str) and isinstance(line, int) and isinstance(function, str)
        assert 0 <= cc <= nc and 0 <= tt <= ct and set(callers) <= keys
        assert all(len(sums) == 4 and sums[0] <= sums[1] <= nc for sums in callers.values())
        if callers and (file, line, function) not in callers:  # all of it came through one of its callers, or from none
            assert sum(sums[1] for sums in callers.values()) <= nc
    weights = {"all": round(sum(value[2] for value in stats.values()) * 1e9)}
    return sum(value[0] for value in stats.values()), weights, {key[2] for key in keys}


TITLE = re.compile(r"(.*)\ntotal (\d+) samples, ([\d.]+) s \(([\d.]+) %\)\nown (\d+) samples, ([\d.]+) s .*", re.S)


def read_svg(path):
    root = xml.etree.ElementTree.parse(path).getroot()
    svg = "{http://www.w3.org/2000/svg}"
    assert root.tag == svg + "svg" and len(root.findall(svg + "script")) == 1
    assert " lost, " in root.find(svg + "desc").text and "wall mode, tachyscope" in root.find(svg + "desc").text
    samples, weight, names, rows = 0, 0, set(), collections.defaultdict(list)
    for group in root.findall(svg + "g"):
        assert [child.tag for child in group] == [svg + "title", svg + "rect", svg + "text"]
        name, total, _, share, own, own_s = TITLE.fullmatch(group[0].text).groups()
        x, y, width = (float(group[1].get(key)) for key in ("x", "y", "width"))
        assert abs(width - 1180 * float(share) / 100) < 0.1 and int(own) <= int(total)
        rows[y].append((x, x + width))
        samples += int(own)
        weight += round(float(own_s) * 1e9)
        names.add(re.sub(r" \([^()]*:\d+\)$", "", name))
    for y, row in rows.items():
        row.sort()
        assert all(one[1] <= next[0] + 0.01 for one, next in zip(row, row[1:])), "frames overlap"
        for begin, end in row:  # each lies below one that it fits under
            assert y == min(rows) or any(a - 0.01 <= begin and end <= b + 0.01 for a, b in rows[y - 17])
    return samples, {"all": weight}, names


def column_lengths(table):
    """Every column of a table of the Firefox Profiler is as long as it says."""
    for name, column in table.items():
        assert not isinstance(column, list) or len(column) == table["length"], (name, table["length"])


def within(indices, length, null=False):
    assert all((null and index is None) or 0 <= index < length for index in indices)


def check_gecko_stacks(thread, strings, categories):
    stacks, frames, functions = thread["stackTable"], thread["frameTable"], thread["funcTable"]
    within(stacks["frame"], frames["length"])
    assert all(prefix is None or 0 <= prefix < index for index, prefix in enumerate(stacks["prefix"]))
    within(frames["func"], functions["length"])
    within(frames["category"], categories)
    within(functions["name"], len(strings))
    within(functions["fileName"], len(strings), null=True)
    assert all(line is None or line > 0 for line in frames["line"] + functions["lineNumber"])
    assert set(frames["subcategory"]) <= {0} and set(functions["resource"]) <= {-1}


def check_gecko_markers(markers, strings, meta, end):
    types = {schema["name"] for schema in meta["markerSchema"]}
    within(markers["name"], len(strings))
    within(markers["category"], len(meta["categories"]))
    assert all(data["type"] in types for data in markers["data"]) and set(markers["phase"]) <= {1}
    assert all(0 <= begin < until <= end for begin, until in zip(markers["startTime"], markers["endTime"]))
    return {strings[name] for name in markers["name"]}


def read_gecko(path):
    told = load(path)
    meta, strings = told["meta"], told["shared"]["stringArray"]
    check_facts(told["tachyscope"])
    assert meta["preprocessedProfileVersion"] == 57 and meta["interval"] == 1 and meta["startTime"] > 1.6e12
    assert any(category["color"] == "grey" for category in meta["categories"])
    assert all(category["subcategories"][0] == "Other" for category in meta["categories"])
    assert "wall mode, tachyscope" in meta["extra"][0]["entries"][0]["value"]
    weights, names, markers = collections.Counter(), set(), set()
    pids = {str(process["pid"]) for process in told["tachyscope"]["processes"]}
    assert len({(thread["pid"], thread["tid"]) for thread in told["threads"]}) == len(told["threads"])
    for thread in told["threads"]:
        assert thread["pid"] in pids and thread["name"] and thread["processName"]
        samples = thread["samples"]
        for name in ("samples", "markers", "stackTable", "frameTable", "funcTable", "resourceTable", "nativeSymbols"):
            column_lengths(thread[name])
        assert samples["time"] == sorted(samples["time"]) and samples["weightType"] == "tracing-ms"
        within(samples["stack"], thread["stackTable"]["length"], null=True)
        assert all(weight == 0 for weight, stack in zip(samples["weight"], samples["stack"]) if stack is None)
        check_gecko_stacks(thread, strings, len(meta["categories"]))
        markers |= check_gecko_markers(thread["markers"], strings, meta, samples["time"][-1] + 1e-6)
        names |= {strings[name] for name in thread["funcTable"]["name"]}
        weights[thread["pid"], thread["tid"]] = round(sum(samples["weight"]) * 1e6)
    assert "holds GIL" in markers and (markers & {"on CPU", "off CPU"}), markers
    return told["tachyscope"]["thread_samples"], weights, names


READERS = {
    "gallery.speedscope.json": read_speedscope,
    "lines.speedscope.json": read_speedscope,
    "gallery.trace.json": read_chrome,
    "lines.trace.json": read_chrome,
    "gallery.jsonl": read_jsonl,
    "gallery.pstats": read_pstats,
    "lines.pstats": read_pstats,
    "gallery.svg": read_svg,
    "lines.svg": read_svg,
    "gallery.gecko.json": read_gecko,
    "gallery.pprof": read_pprof,
    "threads.pprof": read_pprof,
}


@pytest.mark.parametrize("name", READERS)
def test_golden(name, profile_pb2):
    samples, weights, names = READERS[name](os.path.join(GOLDEN, name))
    assert samples == SAMPLES
    if set(weights) != {"all"}:
        assert sorted(weights.values()) == [4_000_000, 7_000_000, 11_500_000, 14_000_000]
    assert sum(weights.values()) == WEIGHT
    assert names >= {HOSTILE, "<module>", "fib", "<GC>", "<native>", "<cut>", "Task-1 & \"co\"", "<no Python frame>",
                     "Klasse.größe<T>.日本🐍"}


def test_every_golden_file_has_a_reader():
    pages = {name for name in os.listdir(GOLDEN) if ".flamegraph." in name}  # read by the page's own tests
    assert set(os.listdir(GOLDEN)) - pages == set(READERS)


# ---- one recording in all forms --------------------------------------------------------------------------------------

THREADS = """
import threading, time
def spin(n):
    while True:
        try:
            sum(range(n))
            int("x")
        except ValueError:
            pass
def rest():
    while True:
        time.sleep(0.002)
for name, code, args in (("spinner</script>", spin, (300,)), ("sleeper", rest, ())):
    threading.Thread(target=code, args=args, name=name, daemon=True).start()
print("ready", flush=True)
spin(100)
"""
FORMS = {"speedscope": read_speedscope, "chrome": read_chrome, "gecko": read_gecko, "jsonl": read_jsonl,
         "pprof": read_pprof, "pstats": read_pstats, "svg": read_svg}


@pytest.fixture(scope="module")
def recording(tmp_path_factory, debian):
    """Two processes, the newest Python that can be asked for opcodes among them."""
    folder = tmp_path_factory.mktemp("recording")
    pythons = [p for p in PYTHONS if p.version >= (3, 11) and not (p.root or p.is_embedded or p.debug)] or [debian]
    targets = [Target(max(pythons, key=lambda python: python.version), THREADS), Target(debian, "busy.py")]
    try:
        options = ["--opcodes"] if pythons != [debian] else []
        tachyscope("attach", "-d", 1, "--native", *options, "--binary", "-o", folder / "all.tachy",
                   *(target.pid for target in targets))
    finally:
        for target in targets:
            target.end()
    return folder / "all.tachy"


def test_totals_agree(recording, tmp_path, profile_pb2):
    """To the sample and the nanosecond, whatever the form."""
    stacks = collapsed(tachyscope("replay", "--collapsed", recording).out)
    found = {}
    for form, read in FORMS.items():
        for options in ([], ["--lines"], ["--by-thread"]):
            path = tmp_path / "out"
            tachyscope("replay", "-f", form, "-o", path, *options, recording)
            found[form, *options] = samples, weights, names = read(path)
            assert samples == total(stacks), (form, options)
            assert names >= {"<module>", "spin", "rest"}, (form, names)
    weights = {key: value[1] for key, value in found.items()}
    exact = sum(weights["jsonl",].values())
    rounded = {"pstats": 10, "svg": 100_000}  # floats; microseconds of each frame
    for key, value in weights.items():
        assert abs(sum(value.values()) - exact) <= rounded.get(key[0], 0), (key, value, exact)
    for form in ("speedscope", "chrome", "gecko", "pprof"):
        assert sorted(weights[form,].values()) == sorted(weights["jsonl",].values()), form
    assert 1.9e9 < exact < 8e9, exact  # four threads for a second


# ---- real runs -------------------------------------------------------------------------------------------------------

SUFFIXES = {"speedscope": ".speedscope.json", "chrome": ".Trace.JSON", "gecko": ".gecko.json", "jsonl": ".jsonl",
            "pprof": ".pb.gz", "pstats": ".prof", "svg": ".svg"}


@pytest.mark.parametrize("form", FORMS)
def test_real(start, debian, recording, tmp_path, profile_pb2, form):
    """The flag, -f, the suffix and standard output give the same bytes; a live run gives the same form."""
    out = [tachyscope("replay", f"--{form}", recording, raw=True).out]
    for path, options in ((tmp_path / "out", ["-f", form]), (tmp_path / f"out{SUFFIXES[form]}", [])):
        tachyscope("replay", *options, "-o", path, recording)
        out.append(path.read_bytes())
    assert out[0] == out[1] == out[2]
    target = start(debian, "busy.py")
    tachyscope("attach", "-d", 0.5, f"--{form}", "-o", tmp_path / "live", target.pid)
    samples, weights, names = FORMS[form](tmp_path / "live")
    assert samples > 60 and "<module>" in names, (samples, names)
    quiet(0.45e9 < max(weights.values()) < 0.7e9, weights)


PROFILER_CLI = os.path.join(WEB, "node_modules/.bin/profiler-cli")


def test_gecko_in_the_firefox_profiler():
    """Mozilla's own reader, which upgrades the profile to its newest format first."""
    install()
    with tempfile.TemporaryDirectory(prefix="tachyscope-e2e-") as folder:  # short: there will be a socket in it
        def ask(*args):
            done = subprocess.run([PROFILER_CLI, *args, "--session", "e2e"], timeout=60, encoding="utf-8",
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  env=dict(os.environ, PROFILER_CLI_SESSION_DIR=folder))
            return done.stdout
        def loaded():
            ask("load", os.path.join(GOLDEN, "gallery.gecko.json"))
            return "4 threads across 2 processes" in ask("profile", "info", "--all")
        try:
            wait_until(loaded, what="the loading of the profile")
            told = ask("profile", "info", "--all")
            for line in ("p-0: python3 app.py --x=</script> [pid 100]", "t-0: MainThread [tid 100] - 5.500ms",
                         "[pid 200]", "t-3: sub [tid 4194308]"):
                assert line in told, told
            told = ask("profile", "meta")
            assert "Started: 2023-11-14T22:13:20.123Z" in told and "Imported from: tachyscope" in told, told
            told = ask("thread", "samples-top-down", "--thread", "t-0")
            for line in ("<module> [total: 91.3%, self: 0.0%]", "main [total: 91.3%, self: 8.7%]",
                         "<GC> [total: 17.4%, self: 17.4%]", "<no Python frame> [total: 8.7%, self: 8.7%]"):
                assert line in told, told
            told = ask("thread", "markers", "--thread", "t-0")
            for line in ("holds GIL", "waits for GIL", "on CPU", "off CPU", "GC", "opcode"):
                assert line in told, told
        finally:
            ask("stop")


@pytest.fixture(scope="module")
def browser():
    made = Browser()
    yield made
    made.end()


@pytest.mark.parametrize("name", ["gallery.speedscope.json", "gallery.trace.json", "gallery.pprof"])
def test_in_speedscope(browser, tmp_path, name):
    """speedscope itself reads three of our formats: no complaint, all threads, all functions."""
    with open(os.path.join(GOLDEN, name), "rb") as file:
        encoded = base64.b64encode(file.read()).decode()
    script = tmp_path / "profile.js"
    script.write_text(f"speedscope.loadFileFromBase64({json.dumps(name)}, {json.dumps(encoded)})", encoding="utf-8")
    browser.open(os.path.join(WEB, "node_modules/speedscope/dist/release/index.html"),
                 hash=f"#localProfilePath={str(script)[1:]}")
    several = "" if name.endswith(".pprof") else "(1/4)"
    browser.wait(f"document.body.innerText.includes('Sandwich') && document.body.innerText.includes('{several}')")
    browser.wait("(() => { const tab = [...document.querySelectorAll('div')].filter((one) => "
                 "one.textContent.endsWith('Sandwich')).pop(); tab.click(); "
                 "return document.body.innerText.includes('Symbol Name'); })()")
    browser.wait("document.body.innerText.includes('<no Python frame>')")
    text = browser.evaluate("document.body.innerText")
    assert "fib" in text and "<GC>" in text and "<module>" in text, text
    complaints = [one for one in browser.ask("complaints") if "GL Driver" not in one and "WebGL" not in one]
    assert not complaints, complaints
    browser.screenshot(f"speedscope-{name}")


@pytest.mark.skipif(not shutil.which("go"), reason="this machine has no go")
def test_go_tool_pprof():
    def top(*options):
        done = subprocess.run(["go", "tool", "pprof", *options, os.path.join(GOLDEN, "gallery.pprof")], check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, encoding="utf-8")
        return done.stdout
    text = top("-top", "-nodecount=50")
    assert "Showing nodes accounting for 36.50ms, 100% of 36.50ms total" in text, text
    assert "<module>" in text and HOSTILE in text and "<GC>" in text, text
    assert "of 36 total" in top("-top", "-sample_index=samples")
    assert "of 36.50ms total" in top("-top", "-tagfocus=gil_waiting")
    tags = top("-tags")
    assert "opcode" in tags and "BINARY_OP_ADD_INT" in tags and "MainThread" in tags, tags


def test_pstats_in_every_python():
    """marshal has had several versions: all of ours load what is written."""
    code = ("import pstats, sys; s = pstats.Stats(sys.argv[1]); s.sort_stats('cumtime').print_stats(); "
            "s.print_callers(); s.print_callees(); print(s.prim_calls, round(s.total_tt * 1e9))")
    best = {python.version[:2]: python for python in PYTHONS
            if python.version >= (3, 8) and not (python.root or python.is_embedded or python.debug)}
    assert best
    for python in best.values():
        done = subprocess.run([*python.argv, "-c", code, os.path.join(GOLDEN, "gallery.pstats")], check=True, timeout=30,
                              stdout=subprocess.PIPE, encoding="utf-8", env=dict(os.environ, PYTHONIOENCODING="utf-8"))
        assert done.stdout.splitlines()[-1] == f"{SAMPLES} {WEIGHT}", (python, done.stdout)
        assert "\x1b" not in done.stdout and "fib.py:3(fib)" in done.stdout


PLAY = """
<script><![CDATA[
var said = [], text = function (id) { return document.getElementById(id).textContent; };
var group = function (name) {
  return Array.prototype.filter.call(document.querySelectorAll('g.f'), function (g) {
    return g.querySelector('title').textContent.indexOf(name) === 0;
  })[0];
};
var click = function (element) { element.dispatchEvent(new MouseEvent('click', {bubbles: true})); };
var press = function (key) { document.dispatchEvent(new KeyboardEvent('keydown', {key: key, bubbles: true})); };
var wide = function (name) { return +group(name).querySelector('rect').getAttribute('width'); };
var seen = function (name) { return group(name).style.display !== 'none'; };
try {
  said.push(['all', wide('all'), seen('fib')]);
  click(group('process w').querySelector('rect'));
  said.push(['zoomed', wide('process w'), seen('fib'), seen('Task-1'), seen('all')]);
  click(document.getElementById('reset'));
  said.push(['reset', wide('all'), seen('fib')]);
  ['/', 'f', 'i', 'b', 'x', 'Backspace', 'Enter'].forEach(press);
  said.push(['found', text('matched'), text('find')]);
  press('Escape');
  ['/', '^', '<', 'm', '.', '*', 'e', '>'].forEach(press);
  said.push(['pattern', text('matched')]);
  press('Escape');
  said.push(['none', text('matched')]);
  group('<GC>').querySelector('rect').dispatchEvent(new MouseEvent('mouseover', {bubbles: true}));
  said.push(['detail', text('detail')]);
} catch (error) { said.push(['error', String(error)]); }
document.documentElement.setAttribute('said', JSON.stringify(said));
]]></script></svg>
"""


@pytest.mark.skipif(not shutil.which("chromium"), reason="this machine has no chromium")
def test_svg_script(tmp_path):
    """Zoom and search, in a real browser, from file://."""
    with open(os.path.join(GOLDEN, "gallery.svg"), encoding="utf-8") as file:
        text = file.read()
    (tmp_path / "play.svg").write_text(text.replace("</svg>", PLAY), encoding="utf-8")
    done = subprocess.run(["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--dump-dom",
                           f"--user-data-dir={tmp_path}/chromium", f"file://{tmp_path}/play.svg"], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60, encoding="utf-8")
    said = re.search(r' said="([^"]*)"', done.stdout)
    assert said, done.stdout[:2000]
    told = json.loads(html.unescape(said.group(1)))
    assert told == [
        ["all", 1180, True],
        ["zoomed", 1180, False, True, True],
        ["reset", 1180, True],
        ["found", "matched: 15.1 %", "search: fib"],
        ["pattern", "matched: 47.9 %"],
        ["none", ""],
        ["detail", "<GC>: total 2 samples, 0.002000 s (5.48 %); own 2 samples, 0.002000 s (5.48 %)"],
    ]
