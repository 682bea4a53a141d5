"""The heatmap: what is in the page of a real program, and the page in a real browser."""
import base64
import collections
import json
import os
import re
import shutil
import zlib

import pytest

from harness import PROGRAMS, PYTHONS, collapsed, parts, tachyscope


def payload(path):
    with open(path, encoding="ascii") as file:  # nothing of the target is in it as text
        text = file.read()
    packed = re.search(r'<script id="payload" type="text/plain">([A-Za-z0-9+/=]*)</script>', text).group(1)
    return json.loads(zlib.decompress(base64.b64decode(packed), -15))


def heat_of(told, view, what):
    """{number: (own, total)}"""
    numbers = told["views"][view][what]
    return {numbers[i]: (numbers[i + 1], numbers[i + 2]) for i in range(0, len(numbers), 5)}


def lines_of(told, path):
    """{line: (own, total)} of a file, all samples"""
    file = [f[0] for f in told["files"]].index(path)
    heat = heat_of(told, 0, "lines")
    return {told["lines"][2 * i + 1]: heat[i] for i in heat if told["lines"][2 * i] == file}


def source_of(told, path):
    file = [f[0] for f in told["files"]].index(path)
    return next(source for source in told["sources"] if source["file"] == file)


def number_of(path, mark):
    with open(path, encoding="utf-8") as file:
        return next(number for number, line in enumerate(file, 1) if line.rstrip().endswith(mark))


def test_says_what_was_sampled(python, start, tmp_path):
    out = str(tmp_path / "page.html")
    target = start(python, "busy.py")
    result = tachyscope("attach", "-d", 0.7, "--heatmap", "-o", out, target.pid)
    told = payload(out)
    assert told["schema"] == "tachyscope-heatmap/1" and told["run"]["processes"][0]["pid"] == target.pid, result
    n = told["run"]["n_samples"]
    assert n == told["views"][0]["n_samples"] > 20
    # own times of files are the whole, whatever markers there were; no total is more than all
    files = heat_of(told, 0, "files")
    assert sum(own for own, _ in files.values()) == n
    assert max(total for _, total in files.values()) <= n
    lines = lines_of(told, target.path)
    assert sum(own for own, _ in lines.values()) > n / 2, lines
    # the very file, though it lies in the target's own root
    source = source_of(told, target.path)
    assert source["state"] == "shown" and source["whole"] and not source["changed"] and source["beyond"] == 0
    with open(os.path.join(PROGRAMS, "busy.py"), encoding="utf-8") as file:
        assert source["parts"] == [[1, file.read()]]
    # what was sampled by thread is what was sampled
    threads = [view["n_samples"] for view in told["views"] if view["kind"] == "thread"]
    assert not threads or sum(threads) == n


def test_is_there_when_the_program_has_ended(debian, tmp_path):
    """Under run the program is gone when the page is written, and so may be its files."""
    program, out = str(tmp_path / "heat.py"), str(tmp_path / "page.html")
    shutil.copy(os.path.join(PROGRAMS, "heat.py"), program)
    tachyscope("run", "--heatmap", "-o", out, "--", *debian.argv, program, 0.5)
    told = payload(out)
    hot = lines_of(told, program)[number_of(program, "# hot")]
    assert hot[0] > told["run"]["n_samples"] / 2
    assert source_of(told, program)["state"] == "shown"
    # the line that called it, with as many samples
    call = lines_of(told, program)[number_of(program, "hot(20000)")]
    assert call[1] >= hot[1] * 0.95

    # a program that takes its own source away
    run = str(tmp_path / "run.py")
    with open(run, "w", encoding="utf-8") as file:
        file.write(f"import os, sys\ntext = open({program!r}).read()\nos.remove({program!r})\n"
                   f"exec(compile(text, {program!r}, 'exec'))\n")
    tachyscope("run", "--heatmap", "-o", out, "--", *debian.argv, run, 0.5)
    told = payload(out)
    assert source_of(told, program)["state"] == "missing"
    assert max(own for own, _ in lines_of(told, program).values()) > told["run"]["n_samples"] / 2


def test_reads_no_other_files(debian, tmp_path):
    """A target may call its code as it likes: no FIFO is opened, no file that is not Python is shown."""
    out, secret, fifo = str(tmp_path / "page.html"), str(tmp_path / "secret"), str(tmp_path / "fifo.py")
    with open(secret, "w", encoding="utf-8") as file:
        file.write("root:x:a secret\n")
    os.symlink(secret, str(tmp_path / "link"))
    os.mkfifo(fifo)
    names = [secret, fifo, "/dev/zero", "/proc/kcore", str(tmp_path / "link"), str(tmp_path), "../" * 9 + secret[1:],
             "/dev/zero/x.py", str(tmp_path / "none.py")]
    program = str(tmp_path / "program.py")
    with open(program, "w", encoding="utf-8") as file:
        file.write("import time\nfor name in %r * 2:\n    exec(compile('end = time.monotonic() + 0.03\\n"
                   "while time.monotonic() < end: pass', name, 'exec'))\n" % (names,))
    tachyscope("run", "--heatmap", "-o", out, "--", *debian.argv, program)
    told = payload(out)
    states = {told["files"][source["file"]][0]: source["state"] for source in told["sources"]}
    assert {states[name] for name in names} <= {"missing", "not_python", "unreadable", "denied"}, states
    assert states[secret] == states[names[4]] == "not_python" and states[fifo] == "missing"
    assert states[program] == "shown"
    assert "a secret" not in json.dumps(told)


def test_two_roots(start, debian, tmp_path):
    """Files of one root are not shown for a process with another."""
    python = next((p for p in PYTHONS if p.root), None)
    if not python:
        pytest.skip("this machine has no Python with a root of its own")
    text = "import time\nprint('ready', flush=True)\nwhile True:\n    time.time()  # %s\n"
    ours, theirs = start(debian, text % "ours"), start(python, text % "theirs")
    out = str(tmp_path / "page.html")
    tachyscope("attach", "-d", 0.5, "--heatmap", "-o", out, ours.pid, theirs.pid)
    told = payload(out)
    assert source_of(told, ours.path)["state"] == "shown"
    assert source_of(told, theirs.path)["state"] == "other_root"
    tachyscope("attach", "-d", 0.5, "--heatmap", "-o", out, theirs.pid)
    assert "# theirs" in source_of(payload(out), theirs.path)["parts"][0][1]


def test_agrees_with_collapsed(start, debian, tmp_path):
    """Own and total of every line are those of the stacks, added up by somebody else."""
    target = start(debian, "busy.py")
    recording, out = str(tmp_path / "r.tachy"), str(tmp_path / "page.html")
    tachyscope("attach", "-d", 1, "--binary", "-o", recording, target.pid)
    tachyscope("replay", "--heatmap", "-o", out, recording)
    own, totals, n = collections.Counter(), collections.Counter(), 0
    for stack, count in collapsed(tachyscope("replay", "--collapsed", "--lines", "-o", "-", recording).out):
        places = [parts(frame)[1:] for frame in stack]
        own[places[-1]] += count
        totals.update({place: count for place in set(places)})
        n += count
    told = payload(out)
    assert n == told["run"]["n_samples"] > 100 and told["replayed"]
    heat = heat_of(told, 0, "lines")
    seen = {(told["files"][told["lines"][2 * i]][0], told["lines"][2 * i + 1]): heat[i] for i in heat}
    wanted = {place: (own[place], totals[place]) for place in totals if place[0]}
    assert len(wanted) > 2 and seen == wanted
