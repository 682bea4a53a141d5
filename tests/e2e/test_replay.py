"""Recordings: what is replayed is what was sampled, whatever ended the recording."""
import json
import os
import random
import signal
import subprocess
import time

import pytest

import recording_reader
from harness import BINARY, PYTHONS, SLOW, collapsed, fails, parts, quiet, tachyscope, total, wait_until

WORKERS = """
import json, threading
def leaf(n):
    return sum(range(n))
def branch(n):
    return leaf(n * 10) + len(json.loads('{"x": [1, 2, 3]}'))
def work():
    while True:
        for n in range(40):
            branch(n)
for i in range(2):
    threading.Thread(target=work, name="worker-%d" % i, daemon=True).start()
print("ready", flush=True)
work()
"""


def replay(path, *args, **more):
    return tachyscope("replay", *args, path, **more)


def stacks_of(path, *args, **more):
    return collapsed(replay(path, "--collapsed", *args, **more).out)


def record(target, path, *args, seconds=1, **more):
    stats = path + ".json"
    result = tachyscope("attach", "--binary", "-o", path, "-d", seconds, "--stats-json", stats, *args, target.pid,
                        **more)
    with open(stats, encoding="utf-8") as file:
        return json.load(file), result


@pytest.fixture
def recording(debian, start, tmp_path):
    """(path, statistics) of a second of three threads."""
    path = str(tmp_path / "a.tachy")
    stats, _ = record(start(debian, WORKERS), path)
    return path, stats


def test_all_that_was_sampled(python, start, tmp_path):
    path = str(tmp_path / "a.tachy")
    stats, _ = record(start(python, WORKERS), path)
    result = replay(path, "--collapsed")
    assert result.err == "", result
    stacks = collapsed(result.out)
    assert total(stacks) == stats["thread_samples"] > 1000, stats
    names = {parts(frame)[0] for stack, _ in stacks for frame in stack}
    assert {"work", "branch", "leaf"} <= names, names
    again = str(tmp_path / "again.json")
    replay(path, "--stats-json", again)
    with open(again, encoding="utf-8") as file:
        told = json.load(file)
    assert {k: told[k] for k in stats if k.startswith("samples")} == \
        {k: stats[k] for k in stats if k.startswith("samples")}
    assert os.path.getsize(path) <= 4 * stats["thread_samples"] + 4000, (os.path.getsize(path), stats)


@pytest.mark.parametrize("rate", ["1000", "333", "max"])
def test_the_format_is_what_its_document_says(debian, start, tmp_path, rate):
    path = str(tmp_path / "a.tachy")
    record(start(debian, WORKERS), path, "-r", rate, seconds=0.7)
    lines = [json.loads(line) for line in replay(path, "--jsonl").out.splitlines()]
    told = [(line["time_ns"], line["weight_ns"], line["n"], [frame["function"] for frame in line["frames"]])
            for line in lines if line["type"] == "sample"]
    assert len(told) > 100
    assert sorted(told) == sorted(recording_reader.Reader(path).samples)


def test_all_forms_agree(recording):
    path, stats = recording
    n = stats["thread_samples"]
    lines = [json.loads(line) for line in replay(path, "--jsonl").out.splitlines()]
    assert sum(line["n"] for line in lines if line["type"] == "sample") == lines[-1]["thread_samples"] == n
    assert total(stacks_of(path)) == n
    by_thread = stacks_of(path, "--by-thread")
    assert total(by_thread) == n
    table = replay(path, "-l", 0, "--no-summary").out.splitlines()
    own = sum(int(line.split()[0]) for line in table[4:] if line.strip())
    assert own == n, table
    # weights too: the real time of all samples
    told = json.loads(replay(path, "--speedscope").out)
    assert told["profiles"], told
    for mode, state in (("gil", "gil"), ("cpu", "on_cpu")):
        some = sum(line["n"] for line in lines if line["type"] == "sample" and state in line["states"])
        assert 0 < total(stacks_of(path, "--mode", mode)) == some < n


def test_a_copy_of_a_part(recording, tmp_path):
    path, stats = recording
    copy, part = str(tmp_path / "copy.tachy"), str(tmp_path / "part.tachy")
    replay(path, "-o", copy)
    assert sorted(stacks_of(copy)) == sorted(stacks_of(path))
    replay(path, "--from", "0.25", "--to", "500ms", "-o", part)
    assert total(stacks_of(part)) == total(stacks_of(path, "--from", "0.25", "--to", "0.5")) > 0
    assert sum(total(stacks_of(path, *range)) for range in
               (("--to", "0.3"), ("--from", "0.3", "--to", "0.6"), ("--from", "0.6"))) == stats["thread_samples"]


def test_filters(recording):
    path, stats = recording
    everything = stacks_of(path, "--by-thread")
    workers = stacks_of(path, "--by-thread", "--thread", "worker-*")
    assert {stack[0].split()[1] for stack, _ in workers} == {"worker-0", "worker-1"}
    assert sorted(workers) == sorted(s for s in everything if s[0][0].startswith("thread worker-"))
    inner = stacks_of(path, "--include", "module:json")
    assert inner and all(any("/json/" in frame for frame in stack) for stack, _ in inner)
    assert total(inner) + total(stacks_of(path, "--exclude", "module:json")) == stats["thread_samples"]
    assert total(stacks_of(path, "--include", "leaf", "--exclude", "branch")) == 0


def test_filters_of_a_running_program(debian, start, tmp_path):
    target = start(debian, WORKERS)
    out = tachyscope("attach", "-d", "0.7", "--collapsed", "--by-thread", "--thread", "worker-1", "--include", "leaf",
                     target.pid).out
    stacks = collapsed(out)
    assert stacks and all(stack[0].startswith("thread worker-1 ") for stack, _ in stacks), stacks
    assert all(any(frame.startswith("leaf ") for frame in stack) for stack, _ in stacks), stacks
    path = str(tmp_path / "some.tachy")
    stats, _ = record(target, path, "--thread", "worker-0", "--from", "0.5")
    some = stacks_of(path, "--by-thread")
    assert {stack[0].split()[1] for stack, _ in some} == {"worker-0"}
    assert total(some) > 0
    quiet(total(some) < 0.6 * stats["samples_captured"], stats)


def test_a_pipe(debian, start, tmp_path):
    target = start(debian, WORKERS)
    result = subprocess.run(f"{BINARY} attach --binary -q -d 0.5 {target.pid} | {BINARY} replay --collapsed -",
                            shell=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=30 * SLOW)
    assert result.returncode == 0 and result.stderr == b"", result
    assert total(collapsed(result.stdout.decode())) > 60
    # a reader that leaves ends the sampling, and is told
    result = subprocess.run(f"({BINARY} attach --binary -d 20 {target.pid}; echo $? >&2) | head -c 100 >/dev/null",
                            shell=True, stderr=subprocess.PIPE, timeout=15 * SLOW)
    err = result.stderr.decode()
    assert err.split()[-1] == "1" and "Broken pipe" in err, err


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, "target"], ids=str)
def test_whole_at_every_ending(debian, start, tmp_path, ending):
    target = start(debian, WORKERS)
    path = str(tmp_path / "a.tachy")
    process = subprocess.Popen([BINARY, "attach", "--binary", "-o", path, str(target.pid)], stderr=subprocess.PIPE)
    wait_until(lambda: os.path.exists(path) and os.path.getsize(path) > 2000, what="a recording")
    if ending == "target":
        target.harmless = False
        target.process.kill()
    else:
        process.send_signal(ending)
    _, err = process.communicate(timeout=10 * SLOW)
    assert process.returncode == 0, err
    result = replay(path, "--collapsed")
    assert result.err == "" and total(collapsed(result.out)) > 20, result


def test_killed_at_random_moments(debian, start, tmp_path):
    """SIGKILL: what is there reaches to within a second of it."""
    target = start(debian, WORKERS)
    dice = random.Random(4711)
    began = {}
    for i in range(10):
        path = str(tmp_path / f"{i}.tachy")
        began[path] = subprocess.Popen([BINARY, "attach", "--binary", "-q", "-r", "300", "-o", path, str(target.pid)])
        wait_until(lambda: os.path.exists(path) and os.path.getsize(path) > 16, what="a recording")
        time.sleep(0.6 + dice.random())
        began[path].send_signal(signal.SIGKILL)
        killed = time.time()
        began[path].wait()
        result = replay(path, "--jsonl")
        lines = [json.loads(line) for line in result.out.splitlines()]
        start_s = lines[0]["start_unix_us"] / 1e6
        last = max(line["time_ns"] + line["weight_ns"] for line in lines if line["type"] == "sample") / 1e9
        quiet(killed - (start_s + last) < 1.0 * SLOW, (i, killed - start_s, last))
        assert "not whole: it breaks off at" in result.err, result


def test_damaged(recording, tmp_path):
    path, stats = recording
    with open(path, "rb") as file:
        data = bytearray(file.read())
    data[len(data) * 2 // 3] ^= 0x10
    bad = str(tmp_path / "bad.tachy")
    with open(bad, "wb") as file:
        file.write(data)
    result = replay(bad, "--collapsed", status=1)
    assert 0 < total(collapsed(result.out)) < stats["thread_samples"]
    assert "damaged from byte" in result.err, result


def test_what_cannot_be_replayed(debian, start, recording, tmp_path):
    path, _ = recording
    empty, text = str(tmp_path / "empty.tachy"), str(tmp_path / "text.tachy")
    open(empty, "w").close()
    with open(text, "w", encoding="utf-8") as file:
        file.write("no recording at all\n" * 10)
    fails("replay", empty, words=["empty"])
    fails("replay", text, words=["no recording"])
    fails("replay", str(tmp_path / "none"), words=["No such file"])
    fails("replay", str(tmp_path), status=2, words=["directory"])
    gil = str(tmp_path / "gil.tachy")
    record(start(debian, WORKERS), gil, "--mode", "gil", seconds=0.5)
    fails("replay", "--mode", "cpu", gil, status=2, words=["--mode gil"])
    assert total(stacks_of(gil, "--mode", "gil")) == total(stacks_of(gil)) > 20


def test_a_full_disk(debian, start, tmp_path):
    """A file that may not grow: what was written stays good, and we say what is missing."""
    target = start(debian, WORKERS)
    path = str(tmp_path / "a.tachy")
    result = subprocess.run(["bash", "-c", f"trap '' XFSZ; ulimit -f 4; {BINARY} attach --binary -o {path} -d 2.5 "
                             f"{target.pid}"], stderr=subprocess.PIPE, timeout=30 * SLOW)
    err = result.stderr.decode()
    assert result.returncode == 1 and "cannot write all of" in err and "at the moment" in err, err
    assert 0 < os.path.getsize(path) <= 4096
    result = replay(path, "--collapsed")
    assert total(collapsed(result.out)) > 20 and "breaks off" in result.err, result


def test_progress_only_on_a_terminal(recording):
    path, _ = recording
    assert replay(path).err == ""
    assert replay(path, "-q").err == ""


# ---- CPython's own profiler -----------------------------------------------------------------------------

THEIRS = """
import _remote_debugging, collections, json, sys
counts = collections.Counter()
class Collector:
    def collect(self, interpreters, times=None):
        for interpreter in interpreters:
            for thread in interpreter.threads:
                stack = [[f.funcname, f.filename, f.location[0] if f.location else 0] for f in thread.frame_info]
                counts[json.dumps([thread.thread_id, stack])] += len(times)
reader = _remote_debugging.BinaryReader(sys.argv[1])
n = reader.replay(Collector())
print(json.dumps({"n": n, "info": reader.get_info(), "counts": [[*json.loads(k), v] for k, v in counts.items()]}))
"""


@pytest.fixture
def tachyon():
    """Python 3.15, whose profiler reads and writes recordings of its own."""
    found = [p for p in PYTHONS if p.version[:2] == (3, 15) and not p.debug]
    if not found:
        pytest.skip("this machine has no Python 3.15")
    return found[0]


def theirs(tachyon, folder, path):
    """{(tid, stack): samples} as their own reader tells them, and all of its answer."""
    script = os.path.join(folder, "theirs.py")
    with open(tachyon.root + script, "w", encoding="utf-8") as file:
        file.write(THEIRS)
    out = subprocess.run([*tachyon.argv, script, path], check=True, stdout=subprocess.PIPE, timeout=60 * SLOW).stdout
    told = json.loads(out)
    return {(tid, tuple(map(tuple, stack))): n for tid, stack, n in told["counts"]}, told


def ours(path):
    counts = {}
    for line in replay(path, "--jsonl").out.splitlines():
        told = json.loads(line)
        if told["type"] == "sample":
            stack = tuple((f["function"], f.get("file") or "~", f.get("line", 0)) for f in told["frames"])
            counts[told["tid"], stack] = counts.get((told["tid"], stack), 0) + told["n"]
    return counts


@pytest.mark.parametrize("compression", ["none", "zstd"])
def test_a_recording_of_tachyon(tachyon, start, compression):
    target = start(tachyon, WORKERS)
    path = os.path.join(target.inside, "t.bin")
    subprocess.run([*tachyon.argv, "-m", "profiling.sampling", "attach", "--binary", "--compression", compression, "-a",
                    "--opcodes", "-d", "1", "-o", path, str(target.pid)], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, timeout=60 * SLOW)
    counts, told = theirs(tachyon, target.inside, path)
    assert told["n"] > 100
    assert ours(tachyon.root + path) == counts
    head = json.loads(replay(tachyon.root + path, "--jsonl").out.splitlines()[0])
    assert head["thread_samples"] == told["n"] and head["opcodes"], head
    # real time: three threads for a second each, whatever the rate was that it reached
    quiet(0.8 * 3e9 < head["weight_ns"] < 1.2 * 3e9 * SLOW, head)
    # through ours and back
    copy = os.path.join(target.inside, "copy.tachy")
    replay(tachyon.root + path, "-o", tachyon.root + copy)
    assert ours(tachyon.root + copy) == counts


def test_tachyon_reads_ours(tachyon, start, debian):
    target = start(tachyon, WORKERS)
    recording, path = os.path.join(target.folder, "a.tachy"), os.path.join(target.inside, "o.bin")
    stats, _ = record(target, recording)
    replay(recording, "-f", "tachyon-binary", "-o", tachyon.root + path)
    counts, told = theirs(tachyon, target.inside, path)
    assert told["n"] == stats["thread_samples"] and counts == ours(recording)
    info = told["info"]
    assert info["python_version"] == list(tachyon.version) and info["sample_interval_us"] == 1000, info
    quiet(abs(info["duration_sec"] - 1) < 0.2 * SLOW, info)
    # their command line, to another form
    text = os.path.join(target.inside, "c.txt")
    subprocess.run([*tachyon.argv, "-m", "profiling.sampling", "replay", "--collapsed", "-o", text, path], check=True,
                   stdout=subprocess.DEVNULL, timeout=60 * SLOW)
    with open(tachyon.root + text, encoding="utf-8") as file:
        assert sum(int(line.rsplit(" ", 1)[1]) for line in file) > 0.95 * stats["thread_samples"]


def test_a_broken_recording_of_tachyon(tachyon, start):
    target = start(tachyon, WORKERS)
    recording, path = os.path.join(target.folder, "a.tachy"), os.path.join(target.folder, "o.bin")
    record(target, recording, seconds=0.3)
    replay(recording, "-o", path)
    with open(path, "rb") as file:
        data = file.read()
    with open(path, "wb") as file:
        file.write(data[:-40])
    fails("replay", path, words=["Python's own profiler"])
