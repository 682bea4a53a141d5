"""`--live`: a person at a terminal, played by tmux."""
import json
import os
import re
import signal
import time

import pytest

from harness import BINARY, collapsed, fails, tachyscope, wait_until
from tmux_screen import Screen

BUSY = """
import sys
def leaf(n):
    return sum(range(n))
def hot():
    return leaf(2000)
def main():
    print("ready", flush=True)
    while True:
        hot()
main()
"""


@pytest.fixture
def screen(tmp_path):
    screens = []

    def screen(*args, binary=BINARY, **more):
        folder = tmp_path / f"screen{len(screens)}"
        folder.mkdir()
        screens.append(Screen(str(folder), [binary, *args], **more))
        return screens[-1]

    yield screen
    for one in screens:
        one.close()


@pytest.mark.parametrize("cols, rows", [(80, 24), (60, 12), (200, 60)])
def test_functions_of_a_busy_program(cols, rows, start, debian, screen):
    target = start(debian, BUSY)
    live = screen("attach", "--live", target.pid, cols=cols, rows=rows)
    shown = live.wait("leaf")
    assert len(shown) == rows and all(len(row) <= cols for row in shown), shown
    assert str(target.pid) in shown[0] and debian.text_version in shown[0]
    live.wait(lambda text: "100%" in text and "lost 0" in text)
    live.keys("q")
    assert live.wait_end() == 0
    restored(live)
    assert "samples in" in live.text()  # the summary


def test_keys_walk_through_the_views(start, debian, screen):
    target = start(debian, BUSY)
    live = screen("attach", "--live", target.pid)
    live.wait("leaf")
    live.keys("2", "e")
    tree = live.wait(lambda text: "\u25be main" in text and "leaf" in text)
    names = [row.split("%")[-1].split("\u25be")[-1].strip().split(" ")[0] for row in tree[6:10]]
    assert names == ["<module>", "main", "hot", "leaf"], tree
    live.keys("3")
    live.wait(lambda text: "100.0% total" in text and "leaf" in text)
    live.keys("j", "j", "j", "j")
    live.wait(lambda text: "own  leaf" in text)
    live.keys("Enter", "4")
    live.wait(lambda text: f"({target.pid})" in text and "GIL" in text)
    live.keys("1", "Enter")
    live.wait("return sum(range(n))")
    live.keys("5")
    live.wait("no asyncio tasks")
    live.keys("7")
    live.wait("--opcodes")
    live.keys("h")
    live.wait("keys (h or Esc: back)")
    live.keys("Escape", "1")
    live.wait("function file:line")
    live.keys("q")
    assert live.wait_end() == 0


def test_filter_while_typing_and_sort(start, debian, screen):
    target = start(debian, BUSY)
    live = screen("attach", "--live", target.pid)
    live.wait(lambda text: "hot" in text and "leaf" in text)
    live.keys("/")
    live.type("HO")
    shown = live.wait(lambda text: "hot" in text and "leaf" not in text)
    assert "filter: HO" in shown[-1]
    live.keys("Enter")
    live.wait("/HO")
    live.keys("c")
    live.wait("leaf")
    live.keys("s", "s", "s", "s")
    live.wait("\u25bcfunction")
    live.keys("q")
    live.wait_end()


def test_freeze_reset_rate_mode_and_thread(start, debian, screen):
    target = start(debian, BUSY)
    live = screen("attach", "--live", target.pid)
    live.wait("leaf")

    def count():
        row = next(row for row in live.rows() if " leaf " in row)
        return int(row.split()[0])

    live.wait(lambda text: " leaf " in text and count() > 1000)
    live.keys("p")
    live.wait("FROZEN")
    before = count()
    time.sleep(0.5)
    assert count() == before
    live.keys("p")
    live.wait(lambda text: "FROZEN" not in text and count() > before)
    live.keys("r")
    live.wait(lambda text: " leaf " in text and count() < before)
    live.keys("<")
    live.wait("of 500/s")
    live.wait(lambda text: "rate 5" in text or "rate 49" in text)
    live.keys("m", "m")
    live.wait("mode gil")
    live.wait("leaf")
    live.keys("m", "m", "t")
    live.wait(f"({target.pid})")
    live.keys("t", "+")
    live.wait("all threads")
    live.keys("q")
    assert live.wait_end() == 0


def test_saving_the_screen_and_the_profile(start, debian, screen, tmp_path):
    target = start(debian, BUSY)
    live = screen("attach", "--live", target.pid)
    live.wait("leaf")
    live.keys("w")
    live.wait("save this screen as")
    live.keys("C-u")
    live.type(str(tmp_path / "screen.txt"))
    live.keys("Enter")
    live.wait("saved the screen")
    text = (tmp_path / "screen.txt").read_text(encoding="utf-8")
    assert " leaf " in text and str(target.pid) in text and "\x1b" not in text
    for name, word in (("a.txt", "collapsed"), ("b.html", "flamegraph"), ("c.json", None)):
        live.keys("W")
        live.wait("save the profile as")
        if word is None:  # by Tab
            for _ in range(30):
                live.keys("Tab")
                if "chrome_" in live.wait("save the profile as")[-1]:
                    break
            name = "c.chrome.json"
        live.keys("C-u")
        live.type(str(tmp_path / name))
        live.keys("Enter")
        live.wait(lambda text, name=name: "saved as" in text and name in text)
    stacks = collapsed((tmp_path / "a.txt").read_text(encoding="utf-8"))
    assert any(stack[-1].startswith("leaf ") for stack, _ in stacks)
    assert "<html" in (tmp_path / "b.html").read_text(encoding="utf-8").lower()
    assert json.loads((tmp_path / "c.chrome.json").read_text(encoding="utf-8"))
    live.keys("W", "C-u")
    live.type("/nowhere/x.txt")
    live.keys("Enter")
    live.wait("/nowhere/x.txt")
    live.keys("q")
    assert live.wait_end() == 0


def test_resize_while_it_runs(start, debian, screen):
    target = start(debian, BUSY)
    live = screen("attach", "--live", target.pid)
    live.wait("leaf")
    for cols, rows in ((60, 12), (200, 60), (20, 4), (101, 31)):
        live.resize(cols, rows)
        shown = live.wait(lambda text, rows=rows: len(text.split("\n")) == rows and "leaf" in text or rows == 4)
        assert len(shown) == rows
    live.wait("own s")
    live.keys("q")
    assert live.wait_end() == 0


IDLE = """
import threading, time
for name in ("w\u00f6rker \u597d\u597d", "e\u0301vil \\x1b[31m\\u202e \\n name", "c"):
    threading.Thread(target=time.sleep, args=(1000,), name=name, daemon=True).start()
print("ready", flush=True)
time.sleep(1000)
"""


def test_idle_threads_with_names_that_are_hostile(start, debian, screen):
    target = start(debian, IDLE)
    live = screen("attach", "--live", target.pid, cols=200)
    live.wait("Thread.run")
    live.keys("4")
    shown = live.wait(lambda text: "\u597d\u597d" in text and text.count("sleeps") == 4)
    rows = [row for row in shown if "sleeps" in row]
    assert len(rows) == 4, shown
    assert any("\\u001b[31m\\u202e \\u000a name" in row for row in rows), rows
    # what follows the name begins in the same column of the terminal, whatever the name's characters
    places = set()
    for row in rows:
        head = row[:row.index("Thread.run") if "Thread.run" in row else row.index("<module>")]
        places.add(sum(2 if ord(c) > 0x2e80 else 0 if c == "\u0301" else 1 for c in head))
    assert len(places) == 1, (places, rows)
    live.keys("q")
    assert live.wait_end() == 0


def test_no_color_and_ascii(start, debian, screen):
    target = start(debian, BUSY)
    live = screen("attach", "--live", target.pid, environment={"NO_COLOR": "1", "LC_ALL": "C"})
    live.wait("leaf")
    assert ";5;" not in live.styled() and live.text().isascii()
    live.keys("q")
    assert live.wait_end() == 0
    colored = screen("attach", "--live", target.pid)
    colored.wait("leaf")
    assert ";5;" in colored.styled()
    colored.keys("q")
    assert colored.wait_end() == 0


def test_the_end_of_the_program_is_told_and_can_be_read(start, debian, screen):
    target = start(debian, BUSY)
    live = screen("attach", "--live", target.pid)
    live.wait("leaf")
    target.process.kill()
    live.wait("the process has ended: q leaves")
    time.sleep(0.3)
    live.keys("2", "e")
    live.wait("leaf")
    live.keys("q")
    assert live.wait_end() == 0


# ---- ends

def restored(live):
    assert live.flags() == ("0", "1", "0")
    modes = set(live.modes().replace(";", " ").split())
    assert {"echo", "icanon", "isig", "opost", "icrnl"} <= modes, modes


@pytest.mark.parametrize("number, status", [
    (signal.SIGTERM, 0), (signal.SIGHUP, 0), (signal.SIGINT, 0),
    (signal.SIGSEGV, 139), (signal.SIGABRT, 134), (signal.SIGQUIT, 131), (signal.SIGUSR2, 140),
])
def test_a_signal_gives_the_terminal_back(number, status, start, debian, screen):
    target = start(debian, BUSY)
    live = screen("attach", "--live", target.pid)
    live.wait("leaf")
    assert live.flags() == ("1", "0", "1")
    os.kill(live.tachyscope_pid(), number)
    assert live.wait_end() == status
    restored(live)


def test_a_crash_of_the_sampling_thread_gives_the_terminal_back(start, debian, screen):
    target = start(debian, BUSY)
    live = screen("attach", "--live", target.pid)
    live.wait("leaf")
    pid = live.tachyscope_pid()
    other = next(int(tid) for tid in os.listdir(f"/proc/{pid}/task") if int(tid) != pid)
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.syscall(234, pid, other, int(signal.SIGSEGV)) == 0  # tgkill
    assert live.wait_end() == 139
    restored(live)


def test_suspend_and_foreground(start, debian, screen):
    target = start(debian, BUSY)
    live = screen("--norc", "-i", binary="bash", environment={"PS1": "PROMPT "})
    live.wait("PROMPT")
    live.type(f"{BINARY} attach --live {target.pid}\n")
    live.wait("leaf")
    live.keys("C-z")
    live.wait("Stopped")
    assert live.flags()[0] == "0"  # the modes are those of the shell's own line editor now
    live.type("echo still $((40 + 2))\n")
    live.wait("still 42")
    live.type("fg\n")
    live.wait(lambda text: "leaf" in text and "own%" in text)
    assert live.flags() == ("1", "0", "1")
    live.keys("q")
    live.wait("samples in")
    assert live.flags() == ("0", "1", "0")


def test_needs_a_terminal(start, debian):
    target = start(debian, BUSY)
    fails("attach", "--live", target.pid, words=["terminal"], start_new_session=True)
    fails("run", "--live", "--", "/bin/true", words=["terminal"], start_new_session=True)
    fails("attach", "--live", "--realtime-stats", target.pid, words=["realtime-stats"], status=2)


# ---- run

TALKS = """
import sys
print("hello \x1b[1mworld\x1b[0m", sys.stdin.isatty(), sys.stdout.isatty(), flush=True)
def work():
    sum(range(10**6))
for line in sys.stdin:
    print("got", line.strip().upper(), flush=True)
    if line.startswith("end"):
        sys.exit(7)
    work()
"""


def test_output_and_input_of_a_program_under_run(debian, screen, tmp_path):
    program = tmp_path / "talks.py"
    program.write_text(TALKS)
    live = screen("run", "--live", "--python", debian.argv[0], program)
    live.wait("8 Output")
    assert "hello" not in live.text()  # the program's output does not tear the screen
    live.keys("8")
    live.wait("hello world True True")
    live.keys("i")
    live.type("first line\n")
    live.wait("got FIRST LINE")
    live.type("end\n")
    live.wait("got END")
    live.keys("Escape")
    live.wait("the process has ended")
    live.keys("q")
    assert live.wait_end() == 7
    shown = live.text()
    assert "hello world True True" in shown and "got FIRST LINE" in shown and "samples in" in shown
    restored(live)


def test_leaving_the_screen_leaves_the_program_running(debian, screen, tmp_path):
    program = tmp_path / "talks.py"
    program.write_text(TALKS)
    live = screen("run", "--live", "--python", debian.argv[0], program)
    live.wait("8 Output")
    live.keys("q")
    live.wait("hello world")
    live.type("more\n")
    live.wait("got MORE")
    live.type("end\n")
    assert live.wait_end() == 7
    restored(live)


def test_interrupt_goes_to_the_program(debian, screen, tmp_path):
    """What it writes on its way out is passed on to the last byte."""
    program, sent = tmp_path / "catches.py", tmp_path / "sent"
    program.write_text("""
def busy():
    while True: sum(range(1000))
try:
    busy()
except KeyboardInterrupt:
    for i in range(50000): print("line", i)
    raise SystemExit(3)
""")
    live = screen("run", "--live", "--python", debian.argv[0], program)
    live.record(sent)
    live.wait("busy")
    live.keys("C-c")
    assert live.wait_end() == 3
    live.wait("line 49999")
    wait_until(lambda: b"status 3" in sent.read_bytes())
    # without our own words, which may come in the middle
    written = re.sub(rb"tachyscope: [^\n]*\n", b"", sent.read_bytes())
    assert [int(n) for n in re.findall(rb"line (\d+)\r", written)] == list(range(50000))
    restored(live)


def test_a_signal_to_us_ends_the_program_and_the_screen(debian, screen):
    live = screen("run", "--live", "--", *debian.argv, "-c", "while True: sum(range(1000))")
    live.wait("<module>")
    os.kill(live.tachyscope_pid(), signal.SIGTERM)
    assert live.wait_end() == 143
    restored(live)


def test_pipes_and_files_of_the_program_stay_what_they_are(debian, screen, tmp_path):
    out = tmp_path / "out.txt"
    code = "import sys; sum(range(10**7)); print(sys.stdin.read(), sys.stderr.isatty())"
    command = f"echo piped | {BINARY} run --live -- {debian.argv[0]} -c '{code}' >{out}"
    live = screen("-c", command, binary="sh")
    live.wait("the process has ended")
    live.keys("q")
    assert live.wait_end() == 0
    assert out.read_text() == "piped\n True\n"


def test_a_program_that_is_no_python_keeps_its_output(screen):
    live = screen("run", "--live", "--", "/bin/sh", "-c", "echo one; echo two; exit 5")
    assert live.wait_end() == 5
    live.wait(lambda text: "one" in text and "two" in text and "not a Python" in text or "ended before" in text)


def test_much_output_is_taken(debian, screen, tmp_path):
    """More than a pipe holds: the program must not wait for the screen."""
    program = tmp_path / "writes.py"
    program.write_text("for i in range(200000): print('line', i)\nimport time\ntime.sleep(0.5)\n")
    live = screen("run", "--live", "--python", debian.argv[0], program)
    live.wait("the process has ended", 20)
    live.keys("8")
    live.wait("line 199999")
    live.keys("g")
    live.wait(lambda text: "line 199999" not in text and "line " in text)
    live.keys("q")
    assert live.wait_end() == 0
    live.wait("line 199999")


# ---- asyncio, and what drawing costs

TASKS = """
import asyncio
async def inner(n):
    for _ in range(100):
        sum(range(n))
        await asyncio.sleep(0)
async def work(n):
    while True:
        await inner(n)
async def main():
    print("ready", flush=True)
    await asyncio.gather(*(asyncio.create_task(work(2000), name=f"job-{i}") for i in range(3)))
asyncio.run(main())
"""


def test_asyncio(start, debian, screen):
    target = start(debian, TASKS)
    live = screen("attach", "--live", "--async-aware", target.pid, cols=100)
    live.wait("inner")
    live.keys("5")
    live.wait(lambda text: all(f"job-{i}" in text for i in range(3)))
    live.keys("j", "Enter")
    live.wait(lambda text: "/job-" in text and "calls, by" in text)
    live.keys("G", "e")
    live.wait("inner")
    live.keys("q")
    assert live.wait_end() == 0


@pytest.mark.alone
def test_drawing_does_not_make_ticks_late(start, debian, screen, tmp_path):
    """Twenty screens a second, of the widest kind, and the views changed all the time: not a larger share of
    late ticks than without a screen (a busy machine has some of its own)."""
    target = start(debian, BUSY)

    def late(stats):
        with open(stats, encoding="utf-8") as file:
            told = json.load(file)
        assert told["samples_captured"] > 100, told
        return told["samples_late"] / told["samples_captured"]

    for attempt in range(3):
        alone, drawn = tmp_path / f"alone{attempt}.json", tmp_path / f"drawn{attempt}.json"
        tachyscope("attach", "-d", 3, "-o", tmp_path / "p.txt", "--stats-json", alone, target.pid)
        live = screen("attach", "--live", "--stats-json", drawn, target.pid, cols=200, rows=60)
        live.wait("leaf")
        live.keys("+")
        for i in range(30):
            live.keys("12345h"[i % 6])
            time.sleep(0.1)
        live.keys("q")
        assert live.wait_end() == 0
        if late(drawn) <= late(alone) + 0.01:
            return
    raise AssertionError((late(drawn), late(alone)))


CHILDREN = """
import multiprocessing
def work(n):
    while True:
        sum(range(n))
if __name__ == "__main__":
    for i in range(2):
        multiprocessing.Process(target=work, args=(1000,), daemon=True).start()
    multiprocessing.Event().wait(60)
"""


def test_processes_are_a_level(debian, screen, tmp_path):
    program = tmp_path / "children.py"
    program.write_text(CHILDREN)
    live = screen("run", "--live", "--subprocesses", "--python", debian.argv[0], program, cols=120)
    live.wait("work")
    live.keys("2")
    shown = live.wait(lambda text: text.count(" process ") == 3)
    assert f"Python {debian.text_version}" in shown[0] and "and 2 more" in shown[0], shown[0]
    live.wait("of 3 x 1000/s")
    live.keys("C-c")
    assert live.wait_end(20) != 0
    restored(live)
