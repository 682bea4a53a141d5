"""What each thread is doing: states in samples, modes as filters, marker frames."""
import json
import os

import pytest

from harness import dump, profile, quiet, tachyscope, threads_of, total
from test_caches import interpreter

MINORS = (8, 9, 10, 11, 12, 13, 14, 15)
SOME = (9, 12, 13, 15)  # of the cases


def samples_of(pid, *args, seconds=1.2):
    """The weights (share of the run) of each thread's states."""
    result = tachyscope("attach", "-f", "jsonl", "-d", seconds, *args, pid)
    lines = [json.loads(line) for line in result.out.splitlines()]
    shares, whole = {}, {}
    for one in lines:
        if one["type"] != "sample":
            continue
        whole[one["thread"]] = whole.get(one["thread"], 0) + one["weight_ns"]
        for state in one["states"]:
            key = one["thread"], state
            shares[key] = shares.get(key, 0) + one["weight_ns"]
    return {key: weight / whole[key[0]] for key, weight in shares.items()}, whole, lines[-1]


# To be stopped wakes a thread that sleeps: it runs for a moment before it sleeps again, as soon as it gets a CPU.
HOW = {"ride": ["-r", 1000], "stop": ["-r", 50, "--snapshot", "stop"]}


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("minor", MINORS)
def test_states(minor, how, start):
    target = start(interpreter(minor), "states.py")
    shares, whole, _ = samples_of(target.pid, *HOW[how])

    def share(name, state):
        return shares.get((name, state), 0)

    asleep = ("sleeps) S x (", "locked", "handles", "handles_in_generator", "has_handled", "MainThread")
    assert set(whole) == {*asleep, "busy_1", "busy_2", "computes"}
    for name in asleep:
        for state in ("gil", "gil_waiting", "on_cpu"):
            quiet(share(name, state) < (0.1 if how == "ride" else 0.5), (name, state, shares))
    for name in ("busy_1", "busy_2"):
        quiet(0.2 < share(name, "gil") < 0.8, shares)
        # one that was called to take the GIL, and waits for a CPU, is no longer asleep at it
        quiet(share(name, "gil_waiting") > 0.01, shares)
        quiet(share(name, "gil_waiting") + share(name, "on_cpu") > 0.8, shares)
    quiet(share("busy_1", "gil") + share("busy_2", "gil") > 0.8, shares)
    quiet(share("computes", "on_cpu") > 0.6 and share("computes", "gil") < 0.1, shares)
    for name in ("handles", "handles_in_generator"):
        assert share(name, "exception") > 0.99, shares
    for name in set(whole) - {"handles", "handles_in_generator"}:
        assert share(name, "exception") < 0.01, (name, shares)


@pytest.mark.parametrize("minor", SOME)
def test_dump_tells_who_waits_for_the_gil(minor, start):
    target = start(interpreter(minor), "states.py")
    waiting = {}
    for _ in range(20):
        for thread in threads_of(dump(target.pid)):
            assert not {"gil", "gil_waiting"} <= set(thread["status"]), thread
            waiting[thread["name"]] = waiting.get(thread["name"], 0) + ("gil_waiting" in thread["status"])
    quiet(waiting["busy_1"] + waiting["busy_2"] > 0, waiting)
    assert waiting["locked"] == waiting["has_handled"] == 0, waiting


@pytest.mark.parametrize("minor", SOME)
def test_modes(minor, start):
    """Modes that save work show what the states say."""
    target = start(interpreter(minor), "states.py")

    def threads(mode):
        stacks, stats, _ = profile("attach", "--by-thread", "--mode", mode, "-d", 1, target.pid)
        assert stats["samples_captured"] >= 0.99 * stats["samples_attempted"]
        names = {}
        for stack, count in stacks:
            name = stack[0][len("thread "):].rsplit(" (", 1)[0]
            names[name] = names.get(name, 0) + count
        return {name: count / total(stacks) for name, count in names.items() if count > 0.02 * total(stacks)}

    assert set(threads("gil")) == {"busy_1", "busy_2"}
    assert set(threads("exception")) == {"handles", "handles_in_generator"}
    assert {"computes"} <= set(threads("cpu")) <= {"busy_1", "busy_2", "computes"}
    wall = threads("wall")
    assert len(wall) == 9, wall
    quiet(max(wall.values()) < 1.1 / 9, wall)


@pytest.mark.parametrize("minor", SOME)
def test_cpu_mode_keeps_up_with_many_threads(minor, start):
    """60 threads of which one is busy: those that sleep are not asked about each time, and cost no sample."""
    text = "import threading, time\nfor i in range(59):\n    threading.Thread(target=time.sleep, args=(1000,)," \
           " daemon=True).start()\nprint('ready', flush=True)\nwhile True:\n    sum(range(1000))\n"
    target = start(interpreter(minor), text)
    stacks, stats, result = profile("attach", "--mode", "cpu", "-r", 1000, "-d", 2, target.pid)
    assert stats["samples_lost"] == 0, result
    quiet(stats["samples_late"] < 0.1 * stats["samples_attempted"], result)
    assert stats["syscalls"]["other"] < 40 * stats["samples_attempted"], stats
    assert stats["threads_seen"] == 60 and total(stacks) > 0.9 * stats["samples_captured"], result


def gc_shares(target):
    """(as the target measures, as we see it)"""
    target.tell()
    target.expect("gc")
    stacks, _, _ = profile("attach", "--main-thread", "-r", 1000, "-d", 2, target.pid)
    target.tell()
    truth = float(target.expect("gc"))
    # on top: the callback that measures does not count itself
    return truth, sum(count for stack, count in stacks if stack[-1] == "<GC>") / total(stacks)


@pytest.mark.parametrize("minor", SOME)
def test_gc_marker(minor, start):
    """<GC> for as long as the target itself measures; c10."""
    target = start(interpreter(minor), "collects.py")
    shares = [gc_shares(target), gc_shares(target)]  # the two windows are not the same to the millisecond: twice
    quiet(min(abs(seen - truth) for truth, seen in shares) < 0.05, shares)
    assert all(truth > 0.1 for truth, _ in shares), shares
    stacks, _, _ = profile("attach", "--main-thread", "--no-gc", "-d", 0.5, target.pid)
    assert not any("<GC>" in stack for stack, _ in stacks)


@pytest.mark.parametrize("minor", SOME)
def test_no_gc_marker_without_collections(minor, start):
    target = start(interpreter(minor), "collects.py", "off")
    stacks, _, _ = profile("attach", "-r", 1000, "-d", 1, target.pid)
    assert not any("<GC>" in stack for stack, _ in stacks)


@pytest.mark.parametrize("minor", MINORS)
def test_native_marker(minor, start):
    """From 3.11 on the instruction tells that a leaf is in C; before, nothing does, and nothing is guessed."""
    target = start(interpreter(minor), "native.py")
    stacks, _, _ = profile("attach", "--native", "-r", 1000, "-d", 1, target.pid)
    counts = {}
    for stack, count in stacks:
        names = [frame.split(" (")[0] for frame in stack]
        leaf = names[-1] if names[-1] != "<native>" else names[-2]
        key = leaf, names[-1] == "<native>"
        counts[key] = counts.get(key, 0) + count
        assert "<native>" not in names[:-1], stack  # nothing in C calls Python here
    for leaf in ("in_c", "sleeper"):
        share = counts.get((leaf, True), 0) / (counts.get((leaf, True), 0) + counts.get((leaf, False), 0))
        assert share > 0.9 if minor >= 11 else share == 0, counts
    assert counts.get(("in_python", True), 0) < 0.05 * counts["in_python", False], counts
    plain, _, _ = profile("attach", "-d", 0.3, target.pid)
    assert not any("<native>" in stack for stack, _ in plain)
