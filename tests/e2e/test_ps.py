"""`ps`: every Python of the machine, and why not where we could not attach."""
import re
import subprocess

import pytest

from harness import tachyscope
from test_wrong_targets import as_nobody, needs_root, public_binary  # noqa: F401


def row(text, pid):
    rows = [line for line in text.splitlines() if re.match(rf"\s*{pid}\b", line)]
    assert len(rows) <= 1, rows
    return rows[0] if rows else ""


@pytest.mark.pythons("all")
def test_a_python_is_listed(python, start):
    target = start(python, "import threading, time\nfor _ in range(2): threading.Thread(target=time.sleep,"
                           " args=(100,), daemon=True).start()\nprint('ready', flush=True)\ntime.sleep(100)\n")
    line = row(tachyscope("ps").out, target.pid)
    words = line.split()
    assert python.text_version in words, line
    assert "3" in words, line
    assert target.path in line, line


@pytest.mark.pythons("old")
def test_one_too_old_is_listed_with_the_reason(python, start):
    target = start(python, "import sys, time\nsys.stdout.write('ready\\n')\nsys.stdout.flush()\ntime.sleep(100)\n")
    line = row(tachyscope("ps").out, target.pid)
    assert "%d.%d" % python.version[:2] in line and "3.8" in line, line


def test_others_are_not(debian, start):
    start(debian, "busy.py")
    sleeper = subprocess.Popen(["sleep", "100"])
    zombie = subprocess.Popen(["true"])
    try:
        result = tachyscope("ps")
        assert not row(result.out, sleeper.pid) and not row(result.out, zombie.pid), result
        assert not row(result.out, 1) or "python" in result.out
        assert result.err == "", result
    finally:
        sleeper.kill()
        sleeper.wait()
        zombie.wait()


@needs_root
def test_why_not(debian, start, public_binary):  # noqa: F811
    """As another user: listed, by its looks, with the reason."""
    target = start(debian, "busy.py")
    mine = start(debian, "busy.py", preexec_fn=as_nobody())
    result = tachyscope("ps", binary=public_binary, preexec_fn=as_nobody(), cwd="/")
    assert re.search("permi|allowed", row(result.out, target.pid)), result
    assert debian.text_version in row(result.out, mine.pid), result
