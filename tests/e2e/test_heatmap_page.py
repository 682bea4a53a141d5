"""The heatmap page in a real Chromium, from file://: what it shows, where it leads, and that names are only text."""
import os
import re
import shutil
import subprocess

import pytest

from browser import Browser, install
from harness import PROGRAMS, TOP, quiet, tachyscope

MAIN = "#f=%2Fsrv%2Fapp%2Fmain.py"


@pytest.fixture(scope="module")
def browser():
    browser = Browser()
    yield browser
    browser.end()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """A folder with gallery.html, unread.html, empty.html and deep.html (of tests/unit/test_heatmap.c), and with run.html
    and long.html (of tests/programs/heat.py, the second with a file of 20000 lines)."""
    install()
    folder = tmp_path_factory.mktemp("pages")
    unit = os.path.join(TOP, "build/tests/test_heatmap")
    if not os.path.exists(unit):
        pytest.skip("the unit tests are not built: this machine has no cmocka")
    subprocess.run([unit], env=dict(os.environ, TACHYSCOPE_PAGES=str(folder)), check=True, cwd=TOP,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    program = str(folder / "heat.py")
    shutil.copy(os.path.join(PROGRAMS, "heat.py"), program)
    for name, more in (("run", []), ("long", [20000])):
        tachyscope("run", "--heatmap", "-o", folder / f"{name}.html", "--", "/usr/bin/python3", program, 1, *more)
    return folder


@pytest.fixture
def open_page(browser, pages):
    """open_page(name, hash) -> the browser; whatever goes wrong in the page fails the test."""
    def open_page(name, hash=""):
        browser.open(pages / f"{name}.html", hash)
        browser.wait("!!document.querySelector('main')")
        return browser
    yield open_page
    browser.is_quiet()


def texts(page, selector):
    return page.evaluate(f"[...document.querySelectorAll({selector!r})].map((e) => e.innerText.trim())")


def count(page, selector):
    return page.evaluate(f"document.querySelectorAll({selector!r}).length")


def row(number, part=""):
    return f'.row[data-line="{number}"] {part}'


def where(page):
    return page.evaluate("location.hash")


def type_into(page, text):
    page.ask("fill", selector="#search", text=text)


def choose(page, value):
    page.evaluate(f"""(() => {{ const view = document.querySelector("#view"); view.value = {value!r};
                  view.dispatchEvent(new Event("change")); }})()""")


def is_warm(page, number):
    return count(page, row(number).strip() + ".warm") == 1


def test_index(open_page):
    page = open_page("gallery")
    groups = [re.sub(r"[▸\s\d]+", " ", text).strip() for text in texts(page, ".group-head .fold")]
    assert groups == ["Project", "Generated code", "Not on a line"]
    own = [float(text.split()[0]) if text[0].isdigit() else 0 for text in texts(page, ".group-head td:nth-child(2)")]
    assert abs(sum(own) - 100) < 0.2, own  # all samples, each once
    paths = ".group:first-of-type .file .name"
    assert texts(page, paths)[0] == "srv/größe.py"
    page.click(".sort[data-key=total]")
    assert texts(page, paths)[0] == "srv/app/main.py"
    page.click(".sort[data-key=total]")
    assert texts(page, paths)[-1] == "srv/app/main.py"
    page.click(".sort[data-key=name]")
    assert texts(page, paths) == sorted(texts(page, paths))
    assert "s=name" in where(page)
    page.click(".fold[data-group=project]")
    assert count(page, ".file") == 6
    page.click(".fold[data-group=project]")
    assert count(page, ".file") == 11
    page.screenshot("heatmap-index")


def test_search(open_page):
    page = open_page("gallery")
    page.press("/")
    assert page.evaluate("document.activeElement.id") == "search"
    type_into(page, "FIB")
    assert texts(page, ".file .name") == ["srv/app/fib.py"]
    type_into(page, "größe<T>")  # the name of a function finds its file
    assert texts(page, ".file .name") == ["srv/größe.py"]
    type_into(page, "nowhere to be found")
    assert count(page, ".nothing") == 1
    page.press("Escape")
    assert count(page, ".file") == 11


def test_hostile_names(open_page):
    page = open_page("gallery")
    assert "python3 app.py --x=</script>" in page.evaluate("document.title")
    body = page.evaluate("document.body.innerText")
    for text in ("tmp/\\u202eyp.x", "a;b\\u000ac\\u001b[0m", "<![CDATA[", 'C:\\x\\"y".py', 'Task-1 & "co"'):
        assert text in body, text
    assert "</title>\\u202e & <x>" in page.text("#view")
    page = open_page("gallery", MAIN)
    assert texts(page, row(4, ".text")) == ["x = '</script><script>document.title = \"taken\"</script>'"]
    assert texts(page, row(5, ".text")) == ["# \\u202e reversed \\u001b[31m red \\u0007 \ufffd"]
    assert page.evaluate("document.title") != "taken"
    assert count(page, "script") == 2
    page.screenshot("heatmap-hostile")


def test_heat(open_page):
    page = open_page("gallery", MAIN)
    assert texts(page, row(12, ".own")) == ["13.9 %"] and texts(page, row(12, ".total")) == ["25.0 %"]
    assert texts(page, row(13, ".own")) == [""] and is_warm(page, 12) and not is_warm(page, 13)
    page.press("t")
    assert is_warm(page, 13) and "m=total" in where(page)
    # a line behind the end of the file is there, and it is said
    assert texts(page, row(40, ".text")) == ["in <module>"]
    assert "1 sampled line lies behind the end" in page.text(".warning")
    page.press("h")
    assert texts(page, ".row:not(.gap) .no") == ["1", "10", "12", "13", "40"]


def test_callers_and_calls(open_page):
    page = open_page("gallery", MAIN + "&l=13")
    assert texts(page, ".calls .name.mono") == ["fib"] and texts(page, ".calls .weight .number") == ["5"]
    assert texts(page, ".callers .where") == ["srv/app/main.py:40"]
    page.click(".calls a")
    assert "fib.py&l=3" in where(page)
    assert texts(page, ".callers .weight .number") == ["5", "2"]  # recursion: once a stack
    page.click(".callers a")
    assert "main.py&l=13" in where(page)
    page.press("d")
    assert "fib.py&l=3" in where(page)
    page.press("u")
    assert "main.py&l=13" in where(page)
    page.press("Backspace")
    page.wait("document.querySelector('h1')?.textContent === '/srv/app/fib.py'")


def test_instructions(open_page):
    page = open_page("gallery", "#f=%2Fsrv%2Fapp%2Ffib.py&l=5")
    assert texts(page, ".opcode") == ["BINARY_OP_ADD_INT", "CALL_PY_EXACT_ARGS"]
    assert re.search(r"specialised from\s+BINARY_OP$", texts(page, ".instruction")[0])
    assert "100.0 % of 5 own samples" in page.text(".spots .sentence")
    assert "written to after the sampling began" in page.text(".warning")
    page.click("[data-value=special]")
    assert "m=special" in where(page)
    page.screenshot("heatmap-instructions")


def test_views_and_permalinks(open_page):
    page = open_page("gallery", MAIN)
    choose(page, "state:gil_waiting")
    assert texts(page, row(12, ".total")) == ["28.6 %"]  # 2 of 7
    assert "v=state%3Agil_waiting" in where(page)
    choose(page, "process:1")
    assert count(page, ".row.warm") == 0
    hash = where(page)
    page = open_page("gallery", hash)
    assert page.evaluate("document.querySelector('#view').value") == "process:1"


def test_says_why_there_is_no_source(open_page):
    page = open_page("gallery", "#f=%2Fsrv%2Fgr%C3%B6%C3%9Fe.py")
    assert "may not be read" in page.text(".warning") and count(page, ".row") == 1
    page = open_page("gallery", "#f=%3Cstring%3E")
    assert "has no file" in page.text(".remark")
    page = open_page("gallery", "#f=nowhere.py")
    assert "no file nowhere.py" in page.text(".body > .warning")
    page = open_page("unread", MAIN)
    assert "not read" in page.text(".warning")


def test_nothing_and_much(open_page):
    assert open_page("empty").text(".nothing") == "No samples were taken."
    assert "fib.py" in texts(open_page("deep"), ".file .name")


def test_light_and_dark(open_page):
    page = open_page("run")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.press("m")
    assert page.evaluate(ground) != light
    page.screenshot("heatmap-index-dark")
    page.click(".file a")
    page.screenshot("heatmap-file-dark")
    page.press("?")
    assert page.evaluate("document.querySelector('dialog.help').open")
    page.press("Escape")
    assert not page.evaluate("document.querySelector('dialog.help').open")
    page.click("#theme")
    assert page.evaluate(ground) == light


def test_real_program(open_page):
    page = open_page("run")
    page.click(".file a")
    page.press("n")
    assert "# hot" in page.text(".row.selected .text")
    assert float(texts(page, ".row.selected .own")[0].split()[0]) > 30
    page.press("j", "k", "p")
    assert "# hot" in page.text(".row.selected .text")
    page.screenshot("heatmap-file")
    # the part of a line that is pointed at is marked in the source
    if count(page, ".spot[tabindex]"):
        page.evaluate("document.querySelector('.spot[tabindex]').focus()")
        assert count(page, ".row.selected mark") == 1
    # text in a file
    page.press("/")
    type_into(page, "def main")
    page.press("Enter")
    assert "def main" in page.text(".row.selected .text")


def test_long_file(open_page):
    page = open_page("long")
    page.evaluate("[...document.querySelectorAll('.file a')].find((a) => a.textContent === 'long.py').click()")
    assert page.evaluate("document.querySelector('.scroller').scrollHeight") > 20000 * 20
    assert 1000 < count(page, ".row") < 10000  # the others are made when they come into sight
    page.evaluate("document.querySelector('.scroller').scrollTo(0, 12000 * 20)")
    page.wait("!!document.querySelector('.row[data-line=\"12010\"]')")
    quiet(count(page, ".row.warm") == 0)  # it only called what was hot
    page.press("t", "n")
    assert "# end" in page.text(".row.selected .text")
    page.press("h")
    assert count(page, ".row:not(.gap)") < 100
    # the minimap leads through the file
    page.press("h")
    box = page.ask("box", selector=".minimap")
    page.ask("mouse", steps=[["click", box["x"] + 10, box["y"] + 100]])
    top = page.evaluate("document.querySelector('.scroller').scrollTop")
    assert 0 < top < 20000 * 20
