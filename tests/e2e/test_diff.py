"""What changed since a recording: as a table, and as a page in a real Chromium; and opening pages."""
import os
import re
import time

import pytest

from browser import Browser
from harness import fails, quiet, tachyscope, wait_until
from test_pages import Made, Shown, unpack, write_page

# what a machine that is busy makes of the times asked for is for the program itself to say
TIMED = """
with open(__file__ + ".times", "w") as told:
    for function in ({}):
        start = time.monotonic()
        function()
        print(function.__name__, time.monotonic() - start, file=told)
"""
OLD = """
import time
def spin(ms):
    end = time.thread_time() + ms / 1000
    while time.thread_time() < end:
        pass
def slow():
    spin(600)
def same():
    spin(200)
def gone():
    spin(150)
""" + TIMED.format("slow, same, gone")
NEW = """
# a line more
import time
def spin(ms):
    end = time.thread_time() + ms / 1000
    while time.thread_time() < end:
        pass
def slow():
    spin(200)
def same():
    spin(200)
def fresh():
    spin(300)
""" + TIMED.format("slow, same, fresh")
ROW = re.compile(r"^ *(\S+) +(\S+) +(\S+) +(\S+) +(\S+) +(\S+)  (\S+) \((.*):(\d+)\)$")


def table(text):
    """{section: {function: (own change, own, own before, total change, total, total before, file)}}"""
    told, section = {}, None
    for line in text.splitlines():
        head = re.match(r"(functions in both|new functions|gone functions): (\d+)$", line)
        row = ROW.match(line)
        if head:
            section = told.setdefault(head.group(1), {})
        elif row:
            section[row.group(7)] = (*map(float, row.groups()[:6]), row.group(8))
    return told


def times(program):
    """{function: seconds that its last run took}, as the program itself wrote them down"""
    rows = (line.split() for line in open(f"{program}.times", encoding="utf-8"))
    return {name: float(seconds) for name, seconds in rows}


@pytest.fixture(scope="module")
def checkouts(tmp_path_factory):
    """A recording of the old program, and the new one in another folder."""
    folder = tmp_path_factory.mktemp("diff")
    for name, text in (("old", OLD), ("new", NEW)):
        (folder / name / "proj").mkdir(parents=True)
        (folder / name / "proj/app.py").write_text(text)
    base = folder / "base.tachy"
    tachyscope("run", "-q", "--binary", "-r", "500", "-o", base, folder / "old/proj/app.py")
    return folder, base, folder / "new/proj/app.py"


def test_table(checkouts):
    folder, base, program = checkouts
    done = tachyscope("run", "-q", "-r", "1khz", "--limit", "0", "--diff", base, program)
    told = table(done.out)
    before, now = times(folder / "old/proj/app.py"), times(program)
    for name in ("slow", "same"):  # the rates differ and do not matter
        _, _, _, change, total, total_before, file = told["functions in both"][name]
        assert file == str(program)
        assert abs(change - (total - total_before)) < 0.002, told
        quiet(abs(total - now[name]) < 0.05 + 0.2 * now[name], (name, total, now))
        quiet(abs(total_before - before[name]) < 0.05 + 0.2 * before[name], (name, total_before, before))
    assert told["new functions"]["fresh"][5] == 0 and told["new functions"]["fresh"][4] > 0
    assert told["gone functions"]["gone"][4] == 0 and told["gone functions"]["gone"][5] > 0
    assert "under another path now" in done.out and "differ" not in done.out
    first = next(line for line in done.out.splitlines() if line.startswith("base:"))
    assert "wall mode" in first and "old/proj/app.py" in first


def test_replay_compares_two_recordings(checkouts, tmp_path):
    folder, base, program = checkouts
    now = tmp_path / "now.tachy"
    tachyscope("run", "-q", "--binary", "-o", now, program)
    one = table(tachyscope("replay", "-q", "--limit", "0", "--diff", base, now).out)
    assert one["gone functions"]["gone"] and one["new functions"]["fresh"]
    same = table(tachyscope("replay", "-q", "--limit", "0", "--diff", now, now).out)
    assert not same["new functions"] and not same["gone functions"]
    assert all(row[0] == 0 and row[3] == 0 for row in same["functions in both"].values())


def test_modes_that_differ_are_told(checkouts, tmp_path):
    folder, base, program = checkouts
    done = tachyscope("run", "-q", "--mode", "gil", "--diff", base, program)
    assert "differ" not in done.out  # the wall recording is looked at as gil, too
    gil = tmp_path / "gil.tachy"
    tachyscope("run", "-q", "--mode", "gil", "--binary", "-o", gil, program)
    done = tachyscope("run", "-q", "--diff", gil, program)
    assert "the modes differ (wall, base gil)" in done.out


def test_what_is_wrong_is_told_before_anything_runs(checkouts, tmp_path):
    folder, base, program = checkouts
    mark = tmp_path / "ran"
    (tmp_path / "touch.py").write_text(f"open({str(mark)!r}, 'w')")
    fails("run", "--diff", tmp_path / "none.tachy", tmp_path / "touch.py", words=["base", "No such file"])
    fails("run", "--diff", program, tmp_path / "touch.py", words=["base", "app.py"])
    fails("run", "-f", "diff", tmp_path / "touch.py", status=2, words=["--diff BASE"])
    fails("run", "--diff", base, "--collapsed", tmp_path / "touch.py", status=2, words=["two formats"])
    fails("run", "--diff", "", tmp_path / "touch.py", status=2, words=["--diff"])
    assert not mark.exists()


# ---- the page -------------------------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def browser():
    made = Browser()
    yield made
    made.end()


def test_page_of_a_real_run(browser, checkouts, tmp_path):
    folder, base, program = checkouts
    path = tmp_path / "diff.html"
    tachyscope("run", "-q", "--diff-flamegraph", base, "-o", path, program)
    payload = unpack(path)
    assert [process["base"] for process in payload["processes"]] == [False, True]
    of_base = [payload["processes"][thread["process"]]["base"] for thread in payload["threads"]]
    sums = [0, 0]
    for thread, n in zip(payload["samples"]["thread"], payload["samples"]["count"]):
        sums[of_base[thread]] += n
    assert sums == [payload["run"]["n_samples"], payload["base"]["n_samples"]]
    Shown(browser, path)
    for list_id, name in (("fresh", "fresh"), ("gone", "gone")):
        assert name in browser.text(f"#{list_id}"), list_id
    browser.screenshot("diff")
    browser.is_quiet()


def test_page_shows_each_change(browser, tmp_path):
    made = (Made(base=True)
            .add("main;slow", 40).add("main;same", 20).add("main;fresh;inner", 10)
            .add("main;slow", 10, thread=2).add("main;same", 20, thread=2).add("main;gone", 30, thread=2))
    page = Shown(browser, write_page(tmp_path / "diff.html", made.payload()))
    assert page.total() == 70 and browser.evaluate("window.tachyscope.weights.baseAll / 1e6") == 60
    assert page.tree()["main;slow"] == (40, 40) and page.tree()["main;gone"] == (0, 0)
    rows = """(id) => [...document.querySelectorAll(id + ' tbody tr')].map(
        (row) => [row.cells[0].firstChild.textContent, row.cells[1].textContent])"""
    assert browser.evaluate(f"({rows})('#slower')") == [["slow", "+30.0 ms"]]
    assert browser.evaluate(f"({rows})('#fresh')") == [["fresh", "+10.0 ms"], ["inner", "+10.0 ms"]]
    assert browser.evaluate(f"({rows})('#gone')") == [["gone", "−30.0 ms"]]
    colours = """Object.fromEntries(window.tachyscope.flame.boxes.filter((box) => box.node.key >= 0).map(
        (box) => [window.tachyscope.label(box.node.key), box.paint.fill]))"""
    now = browser.evaluate(colours)
    assert len({now["slow"], now["same"], now["fresh"]}) == 3 and "gone" not in now
    assert "30.0 ms" in browser.text("#legend") and "new" in browser.text("#legend")
    browser.click("#compare button:has-text('Base')")
    page.settle()
    then = browser.evaluate(colours)
    assert "gone" in then and "fresh" not in then
    assert page.hash() == "#width=base"
    browser.click("#compare button:has-text('Share')")
    assert "scaled by 1.17" in browser.text("#compare")
    browser.screenshot("diff-base")
    browser.is_quiet()


def test_page_says_that_modes_differ(browser, tmp_path):
    payload = Made(base=True).add("main", 1).add("main", 1, thread=2).payload()
    payload["base"] = dict(payload["base"], mode="cpu")
    payload["processes"][1]["python"] = "3.9.1"
    Shown(browser, write_page(tmp_path / "diff.html", payload))
    assert "Modes differ: this run wall, base cpu" in browser.text("#compare")
    assert "Python 3.13.0, base 3.9.1" in browser.text("#compare")
    browser.is_quiet()


# ---- --browser ------------------------------------------------------------------------------------------------------

def test_browser_opens_the_page(tmp_path):
    told = tmp_path / "told"
    opener = tmp_path / "opener"
    opener.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$#\" \"$@\" > {told}.part && mv {told}.part {told}\n")
    opener.chmod(0o755)
    program = tmp_path / "prog.py"
    program.write_text("sum(range(3000000))")
    page = tmp_path / "a b;$(touch pwned)'\".html"
    environment = dict(os.environ, BROWSER=f"{tmp_path}/no-such-browser:{opener} --new %s x")
    tachyscope("run", "-q", "--flamegraph", "--browser", "-o", page, program, env=environment, cwd=tmp_path)
    wait_until(told.exists, what="the browser")
    words = told.read_text().splitlines()
    assert words == ["3", "--new", f"file://{tmp_path}/a%20b%3B%24%28touch%20pwned%29%27%22.html", "x"]
    assert not (tmp_path / "pwned").exists() and page.exists()


def test_browser_that_cannot_be(tmp_path):
    program = tmp_path / "prog.py"
    program.write_text("pass")
    fails("run", "--flamegraph", "--browser", program, status=2, words=["-o FILE.html"])
    fails("run", "--collapsed", "--browser", "-o", tmp_path / "a.txt", program, status=2, words=["pages", "collapsed"])
    program.write_text("sum(range(3000000))")
    path = tmp_path / "a.html"
    done = tachyscope("run", "-q", "--flamegraph", "--browser", "-o", path, "--", os.path.realpath("/usr/bin/python3"), program,
                      env={"PATH": str(tmp_path)})
    assert "no browser could be started" in done.err and path.exists()
