"""`run`: the program notices nothing, its status is ours, and nothing of it is missed."""
import json
import os
import pty
import select
import signal
import subprocess
import time

import pytest

from harness import BINARY, PROGRAMS, SLOW, collapsed, fails, parts, profile, quiet, tachyscope, total, wait_until

INTROSPECT = os.path.join(PROGRAMS, "introspect.py")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


@pytest.fixture
def folder(tmp_path):
    return tmp_path


# ---- exit status and signals

@pytest.mark.parametrize("code, status", [
    ("import sys; sys.exit(7)", 7),
    ("pass", 0),
    ("raise SystemExit('x')", 1),
    ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", 143),
    ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", 137),
    ("import os; os._exit(255)", 255),
])
def test_status_is_the_programs_own(code, status, debian, folder):
    out = folder / "profile.txt"
    result = tachyscope("run", "--collapsed", "-o", out, "--", *debian.argv, "-c", f"sum(range(10**7))\n{code}",
                        status=status)
    assert total(collapsed(read(out))) > 0, result


def test_status_of_a_program_that_is_not_python(folder):
    tachyscope("run", "-o", folder / "a.txt", "--", "/bin/sh", "-c", "exit 5", status=5)
    tachyscope("run", "-o", folder / "b.txt", "--", "/bin/sh", "-c", "kill -TERM $$", status=143)


CATCHES = """
import sys, time
print("ready", flush=True)
try:
    while True: sum(range(1000))
except KeyboardInterrupt:
    print("caught", flush=True)
    sys.exit(3)
"""


def begin(folder, *command, **more):
    process = subprocess.Popen([BINARY, "run", "--collapsed", "-o", str(folder / "profile.txt"), "--", *command],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
    line = process.stdout.readline()
    assert line.startswith(b"ready"), (line, process.stderr.read())
    return process, line.decode().split()


def test_interrupt_from_the_terminal(debian, folder):
    """Ctrl-C goes to the whole group; a program that catches it decides how this ends."""
    process, _ = begin(folder, *debian.argv, "-c", CATCHES, start_new_session=True)
    time.sleep(0.3)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=20 * SLOW)
    assert (process.returncode, out) == (3, b"caught\n"), err
    stacks = collapsed(read(folder / "profile.txt"))
    assert total(stacks) > 20


def test_interrupt_that_nobody_catches(debian, folder):
    code = "print('ready', flush=True)\nwhile True: sum(range(1000))"
    process, _ = begin(folder, *debian.argv, "-c", code, start_new_session=True)
    time.sleep(0.3)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=20 * SLOW)
    assert process.returncode == 130, err
    assert total(collapsed(read(folder / "profile.txt"))) > 20


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_us_reaches_the_program(number, debian, folder):
    code = "import os\nprint('ready', os.getpid(), flush=True)\nwhile True: sum(range(1000))"
    process, words = begin(folder, *debian.argv, "-c", code)
    time.sleep(0.3)
    process.send_signal(number)
    _, err = process.communicate(timeout=20 * SLOW)
    assert process.returncode == 128 + number, err
    assert not os.path.exists(f"/proc/{words[1]}"), "the program was left behind"
    assert total(collapsed(read(folder / "profile.txt"))) > 20


def test_killed_by_somebody_else(debian, folder):
    code = "import os\nprint('ready', os.getpid(), flush=True)\nwhile True: sum(range(1000))"
    process, words = begin(folder, *debian.argv, "-c", code)
    time.sleep(0.2)
    os.kill(int(words[1]), signal.SIGTERM)
    _, err = process.communicate(timeout=20 * SLOW)
    assert process.returncode == 143, err
    assert total(collapsed(read(folder / "profile.txt"))) > 10


# ---- what the program sees

def test_stdin_and_stdout_pass_through(debian, folder):
    result = tachyscope("run", "-o", folder / "p.txt", "--", *debian.argv, "-c",
                        "import sys; data = sys.stdin.read(); print(len(data), data[-1]); print('e', file=sys.stderr)",
                        input=b"x" * 300_000 + b"y")
    assert result.out == "300001 y\n"
    assert "e" in result.err.splitlines()


def told(argv, **more):
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=30 * SLOW, check=True, **more)
    return json.loads(done.stdout.decode().splitlines()[-1])


def same(argv, argv_profiled, **more):
    alone, profiled = told(argv, **more), told(argv_profiled, **more)
    assert len(alone) > 15
    for told_alone in (alone, profiled):
        told_alone["environment"].pop("_", None)
    assert profiled == alone


@pytest.mark.pythons("all")
def test_nothing_is_added_to_the_program(python, folder, start):
    target = start(python, "introspect.py", wait_for=None)  # for its folder inside the root
    command = [*python.argv, target.path, "a", "--b"]
    same(command, [BINARY, "run", "-o", str(folder / "p.txt"), "--", *command])


def test_a_script_and_a_module_run_as_python_would(folder):
    """Without --, the program is a script of the python3 on the PATH."""
    os.symlink(INTROSPECT, folder / "module_name.py")
    out = str(folder / "p.txt")
    same(["python3", INTROSPECT, "a", "-o", "b"], [BINARY, "run", "-o", out, INTROSPECT, "a", "-o", "b"])
    same(["python3", "-m", "module_name", "a", "--flag"],
         [BINARY, "run", "-o", out, "-m", "module_name", "a", "--flag"], cwd=folder)
    assert total(collapsed(read(out))) > 0


def test_the_terminal_is_the_programs(debian, folder):
    """On a terminal the program reads what is typed, and is in the foreground."""
    code = ("import os, sys\nprint('tty', sys.stdin.isatty(), sys.stdout.isatty(), os.tcgetpgrp(0) == os.getpgrp(),"
            " flush=True)\nprint('got', input(), flush=True)")
    try:
        pid, terminal = pty.fork()
    except OSError:
        pytest.skip("this machine has no pseudo-terminals")
    if pid == 0:
        os.execv(BINARY, [BINARY, "run", "-o", str(folder / "p.txt"), "--", *debian.argv, "-c", code])
    text = b""

    def until(word):
        nonlocal text
        deadline = time.monotonic() + 20 * SLOW
        while word not in text and time.monotonic() < deadline:
            if select.select([terminal], [], [], 0.5)[0]:
                text += os.read(terminal, 4096)
        assert word in text, text

    until(b"tty True True True")
    os.write(terminal, b"typed\n")
    until(b"got typed")
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == 0, text


# ---- what is seen of the program

FROM_THE_START = """
import time
t = time.perf_counter
end = t() + 0.1
while t() < end: pass           # line 5
def later():
    end = t() + 0.1
    while t() < end: pass       # line 8
later()
"""


def where_it_was(python, path):
    """Samples of the module's own loop, of later()'s, and of what is neither, such as the interpreter's start."""
    stacks, stats, _ = profile("run", "--lines", "-r", 1000, "--", *python.argv, path)
    module = later = other = 0
    for stack, count in stacks:
        rows = [parts(frame) for frame in stack]
        if rows[0][:2] != ("<module>", path):
            other += count
        elif len(rows) == 1:
            module += count * (rows[0][2] in (4, 5))
        else:
            later += count * (rows[-1][0] == "later" and rows[-1][2] in (7, 8))
    assert stats["duration_s"] * 1000 > 0.9 * (module + later), (stats, stacks)
    return module, later, other


@pytest.mark.alone
def test_sampled_from_the_first_bytecode(python, start):
    """A machine with other work may let us look late: not every time."""
    target = start(python, FROM_THE_START, wait_for=None)
    seen = []
    for _ in range(3):
        module, later, start_up = where_it_was(python, target.path)
        seen.append((module, later, start_up))
        if 40 / SLOW < module < 150 * SLOW and 40 / SLOW < later < 150 * SLOW and start_up:
            return
    quiet(False, seen)


@pytest.mark.pythons("all")
def test_a_very_short_program(python, folder):
    """Nothing to sample, perhaps, but never an error of ours."""
    out = folder / "p.txt"
    for _ in range(20):  # some are met as they start, some as they end
        result = tachyscope("run", "--collapsed", "-o", out, "--", *python.argv, "-c", "raise SystemExit(4)", status=4)
        assert "cannot" not in result.err and len(result.err.splitlines()) <= 2, result  # the file, the summary
        assert out.exists() or "ended before a Python was seen" in result.err, result
        out.unlink(missing_ok=True)


def test_the_table_goes_to_stdout_after_the_program(debian):
    code = "def work():\n    for _ in range(300): sum(range(20000))\nprint('first line')\nwork()"
    result = tachyscope("run", "--", *debian.argv, "-c", code)
    lines = result.out.splitlines()
    assert lines[0] == "first line"
    assert any("work" in line for line in lines[1:]), result


def test_a_program_that_runs_another(debian, folder):
    """exec in the target: the same pid becomes another program, then ends with its own status."""
    code = ("import os, time\nend = time.time() + 0.1\nwhile time.time() < end: sum(range(1000))\n"
            "os.execv('/bin/sh', ['sh', '-c', 'sleep 0.3; exit 6'])")
    tachyscope("run", "--collapsed", "-o", folder / "a.txt", "--", *debian.argv, "-c", code, status=6)
    assert total(collapsed(read(folder / "a.txt"))) > 10


WORK_AND_TELL = """import time
begin = time.monotonic()
sum(range(5 * 10**7))
print(time.monotonic() - begin)
"""


@pytest.mark.alone
@pytest.mark.parametrize("wait_s", [0.2, 2.2])
def test_a_program_behind_a_shell_is_found(wait_s, debian, start, folder):
    """The first Python may come by exec, after a wrapper, and is sampled from then on however long that takes."""
    target = start(debian, WORK_AND_TELL, wait_for=None)
    shares = []
    while len(shares) < 3 and max(shares, default=0) < 0.9:
        stacks, stats, result = profile("run", "--", "/bin/sh", "-c",
                                        f"sleep {wait_s}; exec {debian.argv[0]} {target.path}")
        assert total(stacks) > 0, result
        shares.append(stats["duration_s"] / float(result.out))
    quiet(max(shares) >= 0.9, shares)


# ---- what cannot be run

def test_no_such_command(folder):
    fails("run", "-o", folder / "p.txt", "--", "no-such-command-at-all", words=["no-such-command-at-all"], status=127)
    assert os.listdir(folder) == []


def test_a_command_that_cannot_be_executed(folder):
    path = folder / "file"
    path.write_text("x")
    fails("run", "-o", folder / "p.txt", "--", path, words=["permi"], status=126)


def test_no_such_script(folder):
    fails("run", "-o", folder / "p.txt", folder / "nothing.py", words=["nothing.py", "no such"], status=127)
    assert os.listdir(folder) == []


def test_duration_ends_the_sampling_not_the_program(debian, folder):
    out = folder / "p.txt"
    result = tachyscope("run", "-d", 0.2, "--collapsed", "-o", out, "--", *debian.argv, "-c",
                        "import time; time.sleep(0.8); print('whole')")
    assert result.out == "whole\n"
    assert 0 < total(collapsed(read(out))) < 400


def test_no_zombie_and_no_orphan(debian, folder):
    code = "print('ready', __import__('os').getpid(), flush=True)\nimport time; time.sleep(0.5)"
    process, words = begin(folder, *debian.argv, "-c", code)
    process.communicate(timeout=20 * SLOW)
    wait_until(lambda: not os.path.exists(f"/proc/{words[1]}"))
