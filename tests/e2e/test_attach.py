"""`attach`: enough samples, the right shares, the right files."""
import json
import os
import signal
import subprocess
import time

import pytest

from harness import (BINARY, SLOW, asleep, collapsed, dump, functions, parts, peak_memory_kb, proc_status, profile,
                     quiet, settled, tachyscope, threads_of, total, wait_until)

HALVES = """
import time
def a():
    sum(range(20000))
def b():
    sum(range(20000))
def c():
    a(); a(); a(); b()
print("ready", flush=True)
while True: c()
"""

STATISTICS = """samples_attempted samples_captured samples_retried samples_lost samples_late lost_by_reason
threads_seen duration_s cpu_user_s cpu_system_s max_rss_kb snapshots syscalls bytes_read
total_samples frame_cache_hits frame_cache_misses frame_cache_partial_hits frames_read_from_cache
frames_read_from_memory memory_reads memory_bytes_read code_object_cache_hits code_object_cache_misses
stale_cache_invalidations batched_read_attempts batched_read_successes batched_read_misses
batched_read_segments_requested batched_read_segments_completed""".split()


@pytest.mark.alone
def test_a_thousand_samples_a_second(python, start):
    """>= 99.5 % of what 1 kHz means, or what a busy machine lets a sleeper have; each that is missing is told."""
    target = start(python, "busy.py")
    seconds = 3
    with asleep() as late:
        stacks, stats, _ = profile("attach", "-r", 1000, "-d", seconds, target.pid)
    due = stats["samples_attempted"] + stats["samples_late"]
    assert abs(due - 1000 * seconds) <= 0.005 * 1000 * seconds + 1000 * abs(stats["duration_s"] - seconds) + 1, stats
    assert stats["samples_captured"] == stats["samples_attempted"] == total(stacks), stats
    quiet(stats["samples_late"] <= 0.005 * due + 2 * late[0], (late, stats))
    quiet(abs(stats["duration_s"] - seconds) < 0.05, stats)
    names = {tuple(parts(f)[0] for f in stack) for stack, _ in stacks}
    allowed = [("<module>", "main", "branch", "leaf")[:n] for n in range(1, 5)]
    assert names <= set(allowed) and allowed[-1] in names, names


@pytest.mark.alone
def test_memory_and_cost(debian, start):
    target = start(debian, "busy.py")
    _, stats, _ = profile("attach", "-r", 1000, "-d", 2, target.pid)
    peak = peak_memory_kb(subprocess.Popen([BINARY, "attach", "-q", "-d", "2", "-o", target.folder + "/p.txt",
                                            str(target.pid)]))
    assert 500 < peak < 8 * 1024
    assert 0.7 * peak < stats["max_rss_kb"] < 1.5 * peak, (stats, peak)
    quiet(stats["cpu_user_s"] + stats["cpu_system_s"] < 0.5 * SLOW, stats)
    assert stats["syscalls"]["process_vm_readv"] >= stats["samples_captured"] and stats["bytes_read"] > 10_000, stats


@pytest.mark.alone
def test_shares_are_right(python, start):
    target = start(python, HALVES)
    stacks, _, _ = profile("attach", "-r", 1000, "-d", 2, target.pid)
    leaf = {}
    for stack, count in stacks:
        name = parts(stack[-1])[0]
        leaf[name] = leaf.get(name, 0) + count
    share = leaf["a"] / (leaf["a"] + leaf["b"])
    quiet(abs(share - 0.75) < 0.05, leaf)
    quiet(leaf["a"] + leaf["b"] > 0.95 * total(stacks), leaf)


def test_statistics_are_complete(debian, start):
    target = start(debian, WORKERS)
    stacks, stats, _ = profile("attach", "-r", 200, "-d", 0.5, target.pid)
    assert set(STATISTICS) <= set(stats), set(STATISTICS) - set(stats)
    assert set(stats["snapshots"]) == {"ride", "parallel", "stop"}
    assert sum(stats["snapshots"].values()) > 0
    assert stats["threads_seen"] == 4
    lost = stats["samples_lost"]
    assert stats["samples_captured"] + lost == stats["samples_attempted"], stats
    assert sum(stats["lost_by_reason"].values()) == lost
    if "thread_samples" in stats:
        assert stats["thread_samples"] == total(stacks)
    assert total(stacks) == 4 * stats["samples_captured"]


WORKERS = """
import threading, time
def wait():
    time.sleep(1000)
for _ in range(3):
    threading.Thread(target=wait, daemon=True).start()
print("ready", flush=True)
wait()
"""


@pytest.mark.alone
def test_rates(debian, start):
    target = start(debian, "busy.py")
    for rate, hertz in (("100", 100), ("0.5k", 500), ("0.2khz", 200), ("250hz", 250)):
        _, stats, _ = profile("attach", "-r", rate, "-d", 0.5, target.pid)
        due = stats["samples_attempted"] + stats["samples_late"]
        assert abs(due - hertz * stats["duration_s"]) <= 0.03 * hertz + 1, (rate, stats)
    _, stats, _ = profile("attach", "-r", "max", "-d", 0.5, target.pid)
    quiet(stats["samples_attempted"] > 2000, stats)


def test_lines_split_functions_and_only_on_request(debian, start):
    target = start(debian, "busy.py")
    stacks, _, _ = profile("attach", "-r", 1000, "-d", 1, target.pid)
    assert len({f for stack, _ in stacks for f in stack if parts(f)[0] == "leaf"}) == 1
    stacks, _, _ = profile("attach", "--lines", "-r", 1000, "-d", 1, target.pid)
    lines = {parts(f)[2] for stack, _ in stacks for f in stack if parts(f)[0] == "leaf"}
    assert {9, 10} <= lines <= {7, 8, 9, 10, 11}


# ---- ends

def test_the_target_ends_while_it_is_sampled(python, start):
    target = start(python, "import time\nprint('ready', flush=True)\nend = time.time() + 0.5\n"
                           "while time.time() < end: sum(range(1000))\n")
    stacks, stats, result = profile("attach", "-r", 1000, target.pid)
    assert total(stacks) > 40
    assert result.seconds < 10 * SLOW
    assert target.process.wait() == 0


def test_the_target_is_killed_while_it_is_sampled(debian, start):
    target = start(debian, "busy.py")
    process = subprocess.Popen([BINARY, "attach", "--collapsed", "-o", target.folder + "/p.txt", str(target.pid)],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(0.4)
    target.process.kill()
    _, err = process.communicate(timeout=10 * SLOW)
    assert process.returncode == 0, err
    with open(target.folder + "/p.txt", encoding="utf-8") as file:
        assert total(collapsed(file.read())) > 20


def test_the_target_becomes_another_program(python, start):
    """exec to something that is no Python: what was seen is kept; nothing is made up after."""
    target = start(python, "import os, time\nprint('ready', flush=True)\nend = time.time() + 0.5\n"
                           "while time.time() < end: sum(range(1000))\nos.execv('/bin/sleep', ['sleep', '2'])\n")
    stacks, _, result = profile("attach", "-r", 1000, "-d", 1, target.pid, status=None)
    assert result.status == 0, result
    assert total(stacks) > 40
    assert {parts(stack[0])[:2] for stack, _ in stacks} == {("<module>", target.path)}


def test_the_target_becomes_another_python(python, start):
    """exec to the same interpreter: never a mixture, never a crash."""
    target = start(python, """
import os, sys, time
print("ready" if len(sys.argv) < 2 else "again", flush=True)
def first(): sum(range(1000))
end = time.time() + 0.4
while time.time() < end: first()
if len(sys.argv) < 2:
    os.execv(sys.executable, [sys.executable, sys.argv[0], "x"])
""")
    stacks, _, _ = profile("attach", "-r", 1000, "-d", 0.7, target.pid)
    assert total(stacks) > 40
    for stack, _ in stacks:
        names = [parts(f)[0] for f in stack]
        if parts(stack[0])[1] == target.path:
            assert names in (["<module>"], ["<module>", "first"]), stack


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupting_us_keeps_the_profile(number, debian, start):
    target = start(debian, "busy.py")
    out = target.folder + "/p.txt"
    process = subprocess.Popen([BINARY, "attach", "--collapsed", "-o", out, str(target.pid)], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(0.5)
    process.send_signal(number)
    _, err = process.communicate(timeout=10 * SLOW)
    assert process.returncode in (0, 128 + number), err
    with open(out, encoding="utf-8") as file:
        assert total(collapsed(file.read())) > 40


# ---- forms

def test_the_table(debian, start):
    target = start(debian, HALVES)

    def rows(*options):
        out = tachyscope("attach", "-d", 0.5, *options, target.pid).out
        return [line.split() for line in out.splitlines() if "program.py:" in line]

    all_rows = rows()
    own, own_share, _, total_samples, total_share = all_rows[0][:5]
    assert all_rows[0][6] == "a" and {row[6] for row in all_rows} == {"a", "b", "c", "<module>"}
    assert 60 < float(own_share.rstrip("%")) < 90 and own == total_samples and own_share == total_share
    assert [int(row[0]) for row in all_rows] == sorted((int(row[0]) for row in all_rows), reverse=True)
    assert [row[6] for row in rows("-l", 2)] == ["a", "b"]
    by_total = rows("--sort", "cumtime")
    assert {row[6] for row in by_total[:2]} == {"<module>", "c"} and by_total[0][4] == "100.0%", by_total
    assert len(rows("--sort", "total", "-l", 1)) == 1
    assert [row[6] for row in rows("--sort", "name")] == ["<module>", "a", "b", "c"]


def test_the_form_follows_the_name(debian, start):
    target = start(debian, "busy.py")
    for name, more in (("a.txt", []), ("b.out", ["-f", "collapsed"]), ("c.out", ["--format", "collapsed"]),
                       ("d", ["--collapsed"])):
        path = os.path.join(target.folder, name)
        tachyscope("attach", "-d", 0.2, *more, "-o", path, target.pid)
        with open(path, encoding="utf-8") as file:
            assert total(collapsed(file.read())) > 20, name
    result = tachyscope("attach", "-d", 0.2, "--collapsed", "-o", "-", target.pid)
    assert total(collapsed(result.out)) > 20


def test_an_existing_file_is_replaced_whole(debian, start):
    target = start(debian, "busy.py")
    path = os.path.join(target.folder, "p.txt")
    with open(path, "w", encoding="utf-8") as file:
        file.write("old\n" * 100_000)
    tachyscope("attach", "-d", 0.2, "-o", path, target.pid)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    assert "old" not in text and total(collapsed(text)) > 20
    assert sorted(os.listdir(target.folder)) == ["busy.py", "p.txt", "standstill.py", "stderr"]


# ---- dump as text

def test_dump_text_reads_like_a_traceback(python, start):
    target = start(python, WORKERS)
    settled(target.pid, ["wait", "<module>"])
    text = tachyscope("dump", target.pid).out
    assert str(target.pid) in text and python.text_version in text
    told = dump(target.pid)
    main = next(t for t in threads_of(told) if t["main"])
    assert functions(main) == ["wait", "<module>"]
    lines = text.splitlines()
    outer = next(i for i, line in enumerate(lines) if "<module>" in line and target.path in line)
    inner = next(i for i in range(outer, len(lines)) if "wait" in lines[i] and target.path in lines[i])
    assert outer < inner, "root first"
    assert lines[outer + 1].strip() == "wait()", text
    assert lines[inner + 1].strip() == "time.sleep(1000)", text
    assert "MainThread" in text and str(target.pid) in text
    for thread in threads_of(told):
        assert str(thread["tid"]) in text


MAIN_ENDS = """
import ctypes, sys, threading
def work():
    while True:
        sum(range(2000))
threading.Thread(target=work, daemon=True).start()
print("ready", flush=True)
sys.stdin.readline()
ctypes.CDLL(None).pthread_exit(None)
"""


@pytest.mark.pythons("minors")
def test_the_main_thread_ends_before_the_others(python, start):
    """By pthread_exit. The kernel shows nothing under the process's own id from then on."""
    target = start(python, MAIN_ENDS)
    process = subprocess.Popen([BINARY, "attach", "-r", "500", "-d", "1.5", "--collapsed", "-o",
                                target.folder + "/p.txt", str(target.pid)], stderr=subprocess.PIPE)
    time.sleep(0.5)
    target.tell()
    err = process.communicate(timeout=30 * SLOW)[1].decode()
    wait_until(lambda: proc_status(target.pid)["State"].startswith("Z"), what="the end of the main thread")
    assert " 0 lost" in err, err
    with open(target.folder + "/p.txt", encoding="utf-8") as file:
        stacks = collapsed(file.read())
    assert sum(count for stack, count in stacks if "work" in {parts(frame)[0] for frame in stack}) > 100, (stacks, err)
    for snapshot in "auto", "parallel", "stop":
        stacks, stats, _ = profile("attach", "--snapshot", snapshot, "-r", 200, "-d", 0.3, target.pid)
        assert stats["samples_lost"] == 0 and stats["samples_captured"] > 10, stats
        assert any("work" in {parts(frame)[0] for frame in stack} for stack, _ in stacks), stacks
    assert any("work" in functions(thread) for thread in threads_of(dump(target.pid)))
    assert str(target.pid) in tachyscope("ps").out


def test_dump_text_without_the_source(debian, start):
    target = start(debian, WORKERS)
    os.unlink(target.folder + "/program.py")
    text = tachyscope("dump", target.pid).out
    assert target.path in text and "time.sleep(1000)" not in text


def test_json_is_one_document_and_nothing_else(debian, start):
    target = start(debian, "busy.py")
    result = tachyscope("dump", "--json", target.pid)
    assert result.err == "" and isinstance(json.loads(result.out), dict)
    result = tachyscope("dump", "--json", "-o", target.folder + "/d.json", target.pid)
    assert result.out == ""
    with open(target.folder + "/d.json", encoding="utf-8") as file:
        assert json.load(file)["pid"] == target.pid


def test_main_thread_only(debian, start):
    target = start(debian, WORKERS)
    assert [t["main"] for t in threads_of(dump(target.pid, "--main-thread"))] == [True]
    assert len(threads_of(dump(target.pid, "-a"))) == 4
