"""What a run does when it is told something: to end, to end now, to show what there is so far; and when it is killed."""
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from harness import BINARY, SLOW, TOP, collapsed, proc_status, quiet, total, wait_until

LOOP = """
def loop():
    while True:
        sum(range(500))
print("ready", flush=True)
loop()
"""


@pytest.fixture
def begin(tmp_path):
    """begin(verb, *args, out=...) -> Popen that samples already; all are ended."""
    processes = []

    def begin(verb, *args, **more):
        process = subprocess.Popen([BINARY, verb, *map(str, args)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, **more)
        processes.append(process)
        # the second thread samples
        wait_until(lambda: process.poll() is not None or len(os.listdir(f"/proc/{process.pid}/task")) >= 2)
        time.sleep(0.3 * SLOW)
        assert process.poll() is None, process.communicate()
        return process

    yield begin
    for process in processes:
        process.kill()
        process.communicate()


def is_unharmed(pid):
    status = proc_status(pid)
    return status["TracerPid"].strip() == "0" and status["State"][0] not in "tT"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
@pytest.mark.parametrize("snapshot", ["auto", "stop"])
def test_end_with_everything_written(debian, start, begin, tmp_path, number, snapshot):
    target, out = start(debian, LOOP), tmp_path / "out.txt"
    process = begin("attach", "--collapsed", "--snapshot", snapshot, "-o", out, "--stats-json", tmp_path / "s.json", target.pid)
    process.send_signal(number)
    assert process.wait(timeout=10 * SLOW) == 0
    stats = json.loads((tmp_path / "s.json").read_text())
    assert total(collapsed(out.read_text())) == stats["thread_samples"] > 10, stats
    assert is_unharmed(target.pid)


def test_a_second_interrupt_ends_now(debian, start, begin, tmp_path):
    target, out = start(debian, LOOP), tmp_path / "pipe"
    os.mkfifo(out)
    process = begin("attach", "-q", "-o", out, "-f", "collapsed", target.pid)
    process.send_signal(signal.SIGINT)  # writes, and waits for a reader
    time.sleep(0.5 * SLOW)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=5 * SLOW) == -signal.SIGINT
    assert is_unharmed(target.pid)


def saved(out, more_than):
    """The stacks of a file, once it has more than so many; it is whole whenever it is there."""
    def look():
        if not out.exists():
            return None
        stacks = collapsed(out.read_text())
        return stacks if total(stacks) > more_than else None
    return wait_until(look, what=f"a file with more than {more_than} samples")


def test_what_there_is_so_far(debian, start, begin, tmp_path):
    target, out = start(debian, LOOP), tmp_path / "out.txt"
    process = begin("attach", "--collapsed", "-o", out, "--stats-json", tmp_path / "s.json", target.pid)
    assert not out.exists()
    process.send_signal(signal.SIGUSR1)
    first = saved(out, 0)
    assert {frame.split(" ")[0] for frame in first[0][0]} == {"<module>", "loop"}
    time.sleep(0.3)
    process.send_signal(signal.SIGUSR1)
    second = saved(out, total(first))
    assert sorted(os.listdir(tmp_path)) == ["out.txt", "s.json"], "nothing is left beside it"
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    errors = process.communicate(timeout=10 * SLOW)[1].decode()
    assert process.returncode == 0 and errors.count("samples so far: see") == 2, errors
    stats = json.loads((tmp_path / "s.json").read_text())
    assert total(collapsed(out.read_text())) == stats["thread_samples"] > total(second), stats
    # nobody was kept waiting for it
    assert stats["samples_lost"] == 0, stats
    quiet(stats["samples_late"] < 0.1 * stats["samples_attempted"], stats)


def test_what_there_is_so_far_on_standard_output(debian, start, begin):
    target = start(debian, LOOP)
    process = begin("attach", "-q", "--no-summary", target.pid)
    for i in range(2):
        process.send_signal(signal.SIGUSR1)
        time.sleep(0.5 * SLOW)
    process.send_signal(signal.SIGINT)
    out = process.communicate(timeout=10 * SLOW)[0].decode()
    heads = [line for line in out.splitlines() if " samples in " in line]
    counts = [int(head.split()[0]) for head in heads]
    assert len(counts) == 3 and counts == sorted(set(counts)), out


def test_run_keeps_the_signal_to_itself(debian, begin, tmp_path):
    out = tmp_path / "out.txt"
    code = "import time\nend = time.time() + 2\nwhile time.time() < end: sum(range(500))\nraise SystemExit(9)"
    process = begin("run", "--collapsed", "-o", out, "--", *debian.argv, "-c", code)
    process.send_signal(signal.SIGUSR1)
    first = saved(out, 0)
    assert process.wait(timeout=20 * SLOW) == 9
    assert total(collapsed(out.read_text())) > total(first)


def test_several_processes_so_far(debian, begin, tmp_path):
    code = "import os, time\nos.fork()\nend = time.time() + 2\nwhile time.time() < end: sum(range(500))"
    process = begin("run", "-q", "--subprocesses", "--split-processes", "-f", "collapsed", "-o", tmp_path / "p-%p.x", "--",
                    *debian.argv, "-c", code)
    process.send_signal(signal.SIGUSR1)
    names = wait_until(lambda: len(os.listdir(tmp_path)) == 2 and sorted(os.listdir(tmp_path)), what="two files")
    counts = [total(collapsed((tmp_path / name).read_text())) for name in names]
    assert all(count > 0 for count in counts), counts
    assert process.wait(timeout=20 * SLOW) == 0
    assert sorted(os.listdir(tmp_path)) == names
    assert all(total(collapsed((tmp_path / name).read_text())) > count for name, count in zip(names, counts))


def test_the_death_of_the_target(debian, start, begin, tmp_path):
    target, out = start(debian, LOOP), tmp_path / "out.txt"
    process = begin("attach", "-q", "--collapsed", "-o", out, target.pid)
    target.process.kill()
    assert process.wait(timeout=5 * SLOW) == 0
    assert total(collapsed(out.read_text())) > 20


def test_killed_at_any_moment():
    """bench/kill does the same 200 times."""
    done = subprocess.run([sys.executable, os.path.join(TOP, "bench/kill"), "--times", "3", "--seed", str(os.getpid())],
                          env=dict(os.environ, TACHYSCOPE=BINARY), stdout=subprocess.PIPE, timeout=100 * SLOW)
    assert done.returncode == 0 and done.stdout.count(b" 0 harmed") == 9, done.stdout.decode()
