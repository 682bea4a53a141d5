"""Several processes in one profile: named ones, and all that a program starts."""
import json
import os
import re
import signal
import subprocess
import time

import pytest

from harness import BINARY, PROGRAMS, SLOW, collapsed, fails, parts, profile, quiet, tachyscope, wait_until
from test_caches import interpreter

PROCESS = re.compile(r"process (.*) \((\d+)\)", re.S)

BUSY = """
import sys
def loop_{0}():
    while True:
        sum(range(500))
print("ready", flush=True)
loop_{0}()
"""


def by_process(stacks):
    """{pid: {innermost function: count}} of collapsed stacks whose first level is the process."""
    found = {}
    for stack, count in stacks:
        match = PROCESS.fullmatch(stack[0])
        assert match, stack
        names = found.setdefault(int(match.group(2)), {})
        name = parts(stack[-1])[0]
        names[name] = names.get(name, 0) + count
    return found


def test_several_pids(debian, start):
    targets = [start(debian, BUSY.format(i)) for i in range(3)]
    stacks, stats, _ = profile("attach", "-d", 1, "-r", 500, *(t.pid for t in targets), targets[0].pid)
    found = by_process(stacks)
    assert set(found) == {t.pid for t in targets}, found
    for i, target in enumerate(targets):
        names = found[target.pid]
        assert set(names) <= {f"loop_{j}" for j in [i]} | {"<module>"}, names
        assert sum(names.values()) <= 501 * stats["duration_s"] + 1, (names, stats)
        quiet(sum(names.values()) > 0.8 * 500 * stats["duration_s"], (names, stats))
    assert stats["samples_attempted"] == stats["samples_captured"] + stats["samples_lost"], stats
    assert abs(stats["samples_attempted"] + stats["samples_late"] - 3 * 500 * stats["duration_s"]) < 30, stats


def test_one_that_ends_is_no_loss(debian, start):
    long, short = start(debian, BUSY.format(0)), start(debian, BUSY.format(1).replace("while True:",
                                                                                       "for i in range(40000):"))
    stacks, stats, _ = profile("attach", "-d", 2, "-r", 500, long.pid, short.pid)
    found = by_process(stacks)
    assert set(found) == {long.pid, short.pid}
    quiet(sum(found[short.pid].values()) < sum(found[long.pid].values()), found)
    assert stats["samples_lost"] <= 1, stats


def test_no_process_is_left_out_in_silence(debian, start):
    target = start(debian, BUSY.format(0))
    fails("attach", target.pid, 4194304, words=["4194304"])
    fails("attach", target.pid, "x", status=2, words=["x"])


# ---- what a program starts ---------------------------------------------------------------------------------

KINDS = ["fork", "spawn", "forkserver", "subprocess", "shell", "orphan", "fork_exec", "exec"]
SECONDS = 0.15
# looking instead of being told: what everybody has who is not root
LOOKING = ["setpriv", "--bounding-set=-net_admin"]


def work(stacks):
    """{(pid, function of family.py): samples}"""
    found = {}
    for stack, count in stacks:
        match = PROCESS.fullmatch(stack[0])
        names = [parts(frame)[0] for frame in stack]
        for name in ("work_of_grandchild", "work_of_child"):
            if name in names:
                key = (int(match.group(2)) if match else 0, name)
                found[key] = found.get(key, 0) + count
                break
    return found


def check_work(found, kinds):
    expected = {"work_of_child": sum(kind != "orphan" for kind in kinds),
                "work_of_grandchild": sum(kind in ("orphan", "fork_exec") for kind in kinds)}
    for name, n in expected.items():
        counts = [count for (_, function), count in found.items() if function == name]
        assert len(counts) == n, (name, n, found)
        quiet(all(count > 0.5 * SECONDS * 1000 for count in counts), (name, found))


@pytest.mark.parametrize("before", [[], LOOKING], ids=["told", "looking"])
def test_every_kind_under_run(debian, tmp_path, before):
    out = tmp_path / "out.txt"
    done = subprocess.run([*before, BINARY, "run", "--subprocesses", "--collapsed", "-o", str(out), "--", *debian.argv,
                           os.path.join(PROGRAMS, "family.py"), ",".join(KINDS), str(SECONDS)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=60 * SLOW)
    assert done.returncode == 0 and done.stdout == b"ready\n", done
    check_work(work(collapsed(out.read_text())), KINDS)


def attach_while(target, folder, *before):
    """The profile of a target that goes on to do its work once we are there, to its end."""
    out, stats = os.path.join(folder, "out.txt"), os.path.join(folder, "stats.json")
    process = subprocess.Popen([*before, BINARY, "attach", "-q", "--subprocesses", "--collapsed", "-o", out, "--stats-json",
                                stats, str(target.pid)])
    # one thread waits, one samples, one follows
    wait_until(lambda: len(os.listdir(f"/proc/{process.pid}/task")) >= 3, what="the sampling")
    target.tell()
    assert process.wait(timeout=60 * SLOW) == 0
    with open(out, encoding="utf-8") as file:
        stacks = collapsed(file.read())
    with open(stats, encoding="utf-8") as file:
        return stacks, json.load(file)


def test_every_kind_of_every_version(python, start):
    target = start(python, "family.py", ",".join(KINDS), SECONDS, "wait")
    stacks, stats = attach_while(target, target.folder)
    check_work(work(stacks), KINDS)
    assert stats["samples_lost"] <= 0.01 * stats["samples_attempted"], stats


HUNDRED = """
import subprocess, sys, time
CHILD = "import time\\ndef child(s):\\n  while time.perf_counter() - s < 0.15: sum(range(300))\\nchild(time.perf_counter())"
pids, running = [], []
for i in range(100):
    running.append(subprocess.Popen([sys.executable, "-I", "-S", "-c", CHILD]))
    pids.append(running[-1].pid)
    if len(running) >= 4:
        running.pop(0).wait()
for process in running:
    process.wait()
print(*pids, flush=True)
"""


def test_a_hundred_short_children(debian, tmp_path):
    out, program = tmp_path / "out.txt", tmp_path / "program.py"
    program.write_text(HUNDRED)
    result = tachyscope("run", "--subprocesses", "--collapsed", "-o", out, "--", *debian.argv, program, seconds=60)
    pids = [int(word) for word in result.out.split()]
    assert len(set(pids)) == 100
    found = by_process(collapsed(out.read_text()))
    missing = [pid for pid in pids if not any(name in ("child", "<module>") for name in found.get(pid, {}))]
    assert not missing, f"{len(missing)} of 100 children are not in the profile"


def test_what_is_no_python_costs_nothing(debian, tmp_path):
    out, program = tmp_path / "out.txt", tmp_path / "program.py"
    program.write_text("import os, subprocess, time\n"
                       "sleepers = [subprocess.Popen(['sleep', '100']) for i in range(20)]\n"
                       "if os.fork() == 0: os._exit(0)\n"
                       "time.sleep(1)\n"
                       "for sleeper in sleepers: sleeper.kill()\n")
    result = tachyscope("run", "--subprocesses", "--collapsed", "-o", out, "--stats-json", tmp_path / "s.json", "--",
                        *debian.argv, program)
    assert "sleep 100" not in out.read_text(), result
    stats = json.loads((tmp_path / "s.json").read_text())
    quiet(stats["cpu_user_s"] + stats["cpu_system_s"] < 0.4 * SLOW, stats)
    assert stats["samples_attempted"] < 1.2 * (stats["duration_s"] * 1000), stats


def test_a_program_that_is_no_python(debian, tmp_path):
    out = tmp_path / "out.txt"
    code = "import time\nend = time.time() + 0.2\nwhile time.time() < end: sum(range(300))"
    result = tachyscope("run", "--subprocesses", "--collapsed", "-o", out, "--", "/bin/sh", "-c",
                        f"{' '.join(debian.argv)} -c \"$0\"; {' '.join(debian.argv)} -c \"$0\"; exit 5", code, status=5)
    found = by_process(collapsed(out.read_text()))
    assert len(found) == 2 and all(sum(names.values()) > 20 for names in found.values()), (found, result)
    result = tachyscope("run", "--subprocesses", "-o", tmp_path / "none.txt", "--", "/bin/sh", "-c", "exit 6", status=6)
    assert "no Python was seen" in result.err and not (tmp_path / "none.txt").exists(), result
    fails("run", "--subprocesses", "--", "/no/such/program", status=127, words=["no such"])


def open_files(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def test_those_that_ended_are_let_go(debian, start, tmp_path):
    """Descriptors and members do not pile up."""
    target = start(debian, HUNDRED.replace("range(100)", "range(40)").replace("0.15", "0.05"), wait_for=None)
    process = subprocess.Popen([BINARY, "attach", "-q", "--subprocesses", "--snapshot", "stop", "-r", "200", "-o",
                                str(tmp_path / "out.txt"), "-f", "collapsed", str(target.pid)])
    most = 0
    while process.poll() is None:
        try:
            most = max(most, open_files(process.pid))
        except OSError:
            break
        time.sleep(0.01)
    assert process.wait(timeout=10 * SLOW) == 0
    assert 3 < most < 40, most


def test_a_file_for_each(debian, tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    tachyscope("run", "--subprocesses", "--split-processes", "--collapsed", "-o", folder, "--", *debian.argv,
               os.path.join(PROGRAMS, "family.py"), "fork,fork_exec", SECONDS)
    files = {name: collapsed((folder / name).read_text()) for name in os.listdir(folder)}
    pids = [re.fullmatch(r"collapsed_(\d+)(-2)?\.txt", name) for name in sorted(files)]
    assert all(pids) and len(files) == 4 and len({match.group(1) for match in pids}) == 3, files.keys()
    twice = next(match.group(1) for match in pids if match.group(2))
    for name, expected in ((f"collapsed_{twice}.txt", "work_of_grandchild"), (f"collapsed_{twice}-2.txt", "work_of_child")):
        names = {parts(frame)[0] for stack, _ in files[name] for frame in stack}
        assert expected in names and not any(frame.startswith("process ") for stack, _ in files[name] for frame in stack), name
    fails("run", "--split-processes", "--", *debian.argv, "-c", "", status=2, words=["-o"])
    fails("run", "--split-processes", "--binary", "-o", folder / "x.tachy", "--", *debian.argv, "-c", "", status=2,
          words=["replay"])


def test_a_recording_of_several(debian, tmp_path):
    recording = tmp_path / "r.tachy"
    tachyscope("run", "-q", "--subprocesses", "--binary", "-o", recording, "--", *debian.argv,
               os.path.join(PROGRAMS, "family.py"), "fork,subprocess", SECONDS)
    tachyscope("replay", "--split-processes", "--collapsed", "-o", tmp_path / "p.folded", recording)
    names = [name for name in os.listdir(tmp_path) if name.endswith(".folded")]
    assert len(names) == 3, names
    stacks = collapsed(tachyscope("replay", "--collapsed", recording).out)
    assert len(by_process(stacks)) == 3
    check_work(work(stacks), ["fork", "subprocess"])


def test_the_table_of_processes(debian, tmp_path):
    result = tachyscope("run", "--subprocesses", "-l", 2, "--", *debian.argv, os.path.join(PROGRAMS, "family.py"),
                        "fork,subprocess", SECONDS)
    lines = result.out.splitlines()
    assert "3 processes:" in lines, result
    at = next(i for i, line in enumerate(lines) if line.split() == ["stacks", "share", "pid", "Python", "command"])
    counts = [int(line.split()[0]) for line in lines[at + 1:at + 3]]
    assert counts == sorted(counts, reverse=True) and lines[at + 3].split()[:2] == ["1", "more;"], result
    assert "from each process" in lines[1] and "from each process" in result.err, result


@pytest.mark.parametrize("minor, before", [(9, []), (12, []), (13, []), (15, []), (13, LOOKING)],
                         ids=["3.9", "3.12", "3.13", "3.15", "3.13-looking"])
def test_c16_a_family(minor, before, start):
    target = start(interpreter(minor), "c16.py", start_new_session=True)
    try:
        time.sleep(SLOW)  # the grandchild has lost its parent
        out = os.path.join(target.folder, "out.txt")
        subprocess.run([*before, BINARY, "attach", "-q", "--subprocesses", "--collapsed", "-d", "3", "-o", out,
                        str(target.pid)], check=True, timeout=30 * SLOW)
        with open(out, encoding="utf-8") as file:
            stacks = collapsed(file.read())
    finally:
        os.killpg(target.pid, signal.SIGKILL)
    commands, busy = {}, set()
    for stack, count in stacks:
        command, pid = PROCESS.fullmatch(stack[0]).groups()
        counted = commands.setdefault(int(pid), [command, 0])
        counted[1] += count
        if "busy" in {parts(frame)[0] for frame in stack}:
            busy.add(int(pid))
    # told from the start of their code, as one may have been met before it had its own command line
    assert len(busy) == 3, commands
    quiet(all(commands[pid][1] > 1500 for pid in busy), commands)
    orphans = [count for command, count in commands.values() if "while 1: sum(range(999))" in command and
               "import" not in command]
    assert len(orphans) == 1, commands
    quiet(orphans[0] > 1500, commands)
    assert not any("sleep" in command for command, _ in commands.values()), commands
    short = [count for command, count in commands.values() if "sum(range(3*10**6))" in command]
    assert len(short) >= 2 and max(short) > 10, commands
