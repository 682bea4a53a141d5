"""Builds without a GIL: threads that really run at once, each with a whole stack of its own."""
import re

import pytest

from harness import PYTHONS, dump, functions, profile, tachyscope, threads_of, total

BUILDS = [p for p in PYTHONS if p.free_threaded]
MODES = ["ride", "parallel", "stop"]

# every thread runs one chain after the other; a stack that mixes letters never was
CHAINS = """
import sys, threading
text = ""
for letter in "abcdefgh":
    for level in range(1, 6):
        text += f"def {letter}{level}(n):\\n    return {letter}{level + 1}(n)\\n"
    text += f"def {letter}6(n):\\n    s = 0\\n    for k in range(n): s += k\\n    return s\\n"
exec(compile(text, "chains.py", "exec"))
chains = [globals()[letter + "1"] for letter in "abcdefgh"]
def work():
    while True:
        for chain in chains:
            chain(20)
for _ in range(int(sys.argv[1]) - 1):
    threading.Thread(target=work, daemon=True).start()
print("ready", flush=True)
work()
"""

STATES = """
import threading, time
def spin():
    while True:
        pass
def sleep():
    time.sleep(1000)
def lock():
    held = threading.Lock()
    held.acquire()
    held.acquire()
for function in (spin, sleep, lock):
    threading.Thread(target=function, name=function.__name__, daemon=True).start()
time.sleep(0.3)
print("ready", flush=True)
time.sleep(1000)
"""

GARBAGE = """
import gc, threading
keep = [[] for _ in range(300000)]
def collect():
    while True:
        gc.collect()
def spin():
    while True:
        pass
threading.Thread(target=collect, name="collect", daemon=True).start()
threading.Thread(target=spin, name="spin", daemon=True).start()
print("ready", flush=True)
threading.Event().wait()
"""


@pytest.fixture(params=BUILDS or [None], ids=str)
def free(request):
    if request.param is None:
        pytest.skip("there is no free-threaded Python: tools/setup_interpreters --free-threaded builds one")
    return request.param


def check(stacks):
    """(samples in the chains, those that never were)"""
    n = wrong = 0
    for stack, count in stacks:
        names = [m[0] for m in (re.match(r"[a-h][1-6](?= )", frame) for frame in stack) if m]
        real = [int(name[1]) for name in names] == list(range(1, len(names) + 1)) and len({n[0] for n in names}) < 2
        n += count
        wrong += 0 if real else count
    return n, wrong


@pytest.mark.alone
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("threads", [1, 3])
def test_stacks_of_threads_that_run_at_once(free, start, threads, mode):
    target = start(free, CHAINS, threads)
    stacks, stats, result = profile("attach", "-d", "1.5", "-r", "2k", "--snapshot", mode, target.pid)
    n, wrong = check(stacks)
    assert stats["samples_lost"] <= 0.001 * stats["samples_attempted"], result
    assert stats["snapshots"][mode] >= 0.9 * stats["samples_captured"], stats
    # a rider proves one stack; copies of threads that run on are right but for some tens in a million
    allowed = 0 if mode == "stop" or (mode == "ride" and threads == 1) else 2
    assert n > 60 and wrong <= allowed, (wrong, n, result)


def test_attached_takes_the_place_of_holding_the_gil(free, start):
    target = start(free, STATES)
    told = dump(target.pid)
    assert told["python"]["free_threaded"] is True
    status = {thread["name"]: thread["status"] for thread in threads_of(told)}
    assert "gil" in status["spin"] and "on_cpu" in status["spin"], status
    assert "gil" not in status["sleep"] and "gil" not in status["lock"], status
    text = tachyscope("dump", target.pid).out
    assert "(free-threaded)" in text and re.search(r'"spin" \(attached', text), text
    stacks, _, _ = profile("attach", "-d", "0.5", "--mode", "gil", target.pid)
    assert {stack[-1].split(" ")[0] for stack, _ in stacks} == {"spin"}


def test_only_who_collects_is_marked(free, start):
    target = start(free, GARBAGE)
    stacks, _, _ = profile("attach", "-d", "1", "--by-thread", target.pid)
    marked = {stack[0].split(" (")[0] for stack, _ in stacks if stack[-1] == "<GC>"}
    assert marked == {"thread collect"}, stacks
    in_collect = [(stack, count) for stack, count in stacks if stack[0].startswith("thread collect")]
    n_marked = sum(count for stack, count in in_collect if stack[-1] == "<GC>")
    assert n_marked > 0.5 * total(in_collect), stacks


def test_a_gil_that_is_switched_on(free, start):
    """The same build with its GIL: whoever is attached holds it."""
    target = start(free, CHAINS, 2, options=["-X", "gil=1"])
    stacks, stats, result = profile("attach", "-d", "1", target.pid)
    n, wrong = check(stacks)
    assert n > 60 and wrong <= 1 and stats["samples_lost"] == 0, result
    assert all(functions(thread) for thread in threads_of(dump(target.pid)))
