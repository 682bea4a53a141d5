"""All threads, with their names; threads without frames; sub-interpreters."""
import os
import time

import pytest

from harness import (PYTHONS, dump, functions, parts, proc_status, profile, quiet, settled, threads_of, total,
                     wait_until)


@pytest.mark.pythons("all")
def test_sub_interpreters(python, start):
    target = start(python, "subinterpreters.py")
    ids = [int(word) for word in target.ready.split()]
    assert len(ids) == 3
    told = dump(target.pid)
    assert [i["id"] for i in told["interpreters"]][0] == 0
    assert sorted(i["id"] for i in told["interpreters"]) == [0, *ids]
    for n, one in enumerate(ids):
        interpreter = next(i for i in told["interpreters"] if i["id"] == one)
        chains = [functions(t) for t in interpreter["threads"]]
        assert [f"inner_{n}", f"outer_{n}", "<module>"] in [c[:3] for c in chains], chains
        assert not any(f"inner_{k}" in c for c in chains for k in range(3) if k != n), chains
    main = next(t for t in threads_of(told) if t["main"])
    assert functions(main) == ["main", "<module>"]

    stacks, _, _ = profile("attach", "-r", 200, "-d", 0.4, target.pid)
    leaves = {parts(stack[-1])[0] for stack, _ in stacks}
    assert {"inner_0", "inner_1", "inner_2", "main"} <= leaves


@pytest.mark.pythons("all")
def test_threads_without_python_frames(python, start):
    """C threads that hold a thread state are shown empty and cost nobody else a sample."""
    if not python.is_embedded and not python.shared:
        python = shared_sibling(python)
    library, prefix = library_of(python)
    embed = next(p for p in PYTHONS if p.is_embedded and p.root == python.root).argv
    word = embed.index("--main")
    target = start(python, "frameless.py", argv=[*embed[:word], "--host", library, "4"], environment=prefix)
    settled(target.pid, ["sleeper", "main", "<module>"])
    threads = threads_of(dump(target.pid))
    empty = [t for t in threads if not t["frames"]]
    assert len(empty) == 4 and len(threads) == 6, threads
    kernel_tids = {int(tid) for tid in os.listdir(f"/proc/{target.pid}/task")}
    assert {t["tid"] for t in threads} == kernel_tids
    assert {t["name"] for t in empty} == {"c-thread"}
    stacks, stats, _ = profile("attach", "-r", 500, "-d", 0.4, target.pid)
    assert stats["samples_captured"] >= 0.97 * stats["samples_attempted"] > 30
    assert {parts(stack[-1])[0] for stack, _ in stacks} >= {"sleeper"}


def library_of(python):
    """(libpython of this interpreter, environment to run it embedded)"""
    if python.is_embedded:
        return python.argv[-1], {}
    home = os.path.dirname(os.path.dirname(python.argv[0]))
    return f"{home}/lib/libpython{python.version[0]}.{python.version[1]}.so.1.0", {"PYTHONHOME": home}


def shared_sibling(python):
    same = [p for p in PYTHONS if p.version[:2] == python.version[:2] and p.is_embedded and p.root == python.root]
    if not same:
        pytest.skip(f"there is no shared library of {python}")
    return next((p for p in same if p.debug == python.debug), same[0])


def test_thread_names_follow_their_changes(python, start):
    target = start(python, "c13.py", wait_for=None)
    began = time.monotonic()
    told = wait_until(lambda: next((t for t in [dump_or_none(target.pid)] if t and len(threads_of(t)) == 8
                                    and "before" in {one["name"] for one in threads_of(t)}), None))
    names = sorted(t["name"] for t in threads_of(told))
    main = next(t for t in threads_of(told) if t["main"])
    assert main["tid"] == target.pid
    assert "\u0438\u043c\u044f-1" in names and "before" in names
    unnamed = [t for t in threads_of(told) if t["name"] not in ("\u0438\u043c\u044f-1", "before", "MainThread")]
    assert len(unnamed) == 5
    for thread in unnamed:
        with open(f"/proc/{target.pid}/task/{thread['tid']}/comm", encoding="utf-8") as file:
            assert thread["name"] in (file.read().strip(), ""), thread
    wait_until(lambda: "after" in {t["name"] for t in threads_of(dump(target.pid))},
               seconds=5 + 2 - (time.monotonic() - began), what="the new name")


LATE_NAME = """
import _thread, threading, time
def work():
    time.sleep(0.15)
    threading.current_thread().name = "late"
    time.sleep(0.6)
_thread.start_new_thread(work, ())
time.sleep(0.85)
"""


def test_a_name_that_comes_late(debian, tmp_path):
    """A thread is seen before it has entered its name, and is over before all names are looked at again."""
    path = tmp_path / "late.py"
    path.write_text(LATE_NAME)
    stacks, _, _ = profile("run", "--by-thread", "-r", 200, "--", *debian.argv, path)
    assert "thread late" in {stack[0].split(" (")[0] for stack, _ in stacks}


def dump_or_none(pid):
    try:
        return dump(pid)
    except AssertionError:
        return None


def test_by_thread_puts_the_thread_first(debian, start):
    target = start(debian, "c13.py", wait_for=None)
    wait_until(lambda: (dump_or_none(target.pid) or {"interpreters": []}) and
               len(threads_of(dump_or_none(target.pid) or {"interpreters": []})) == 8)
    told = dump(target.pid)
    wanted = {f"thread {t['name']} ({t['tid']})" for t in threads_of(told)}
    stacks, _, _ = profile("attach", "--by-thread", "-r", 200, "-d", 0.5, target.pid)
    assert {stack[0] for stack, _ in stacks} == wanted
    stacks, _, _ = profile("attach", "--main-thread", "-r", 200, "-d", 0.5, target.pid)
    assert {parts(stack[0])[:2] for stack, _ in stacks} == {("<module>", target.path)} and total(stacks) > 16


WORKERS = """
import threading, time
def work():
    while True:
        sum(range(5000))
def wait():
    time.sleep(1000)
for f in (work, wait, wait):
    threading.Thread(target=f, daemon=True, name=f.__name__).start()
print("ready", flush=True)
time.sleep(1000)
"""


@pytest.mark.pythons("all")
@pytest.mark.alone
def test_states_of_threads(python, start):
    """One busy thread: the only one that holds the GIL or is on a CPU."""
    target = start(python, WORKERS)
    counts = {}
    n = 20
    for _ in range(n):
        for thread in threads_of(dump(target.pid)):
            for state in thread["status"]:
                counts[thread["name"], state] = counts.get((thread["name"], state), 0) + 1
    quiet(counts.get(("work", "gil"), 0) >= 0.9 * n, counts)
    quiet(counts.get(("work", "on_cpu"), 0) >= 0.9 * n, counts)
    for name, n_threads in (("wait", 2), ("MainThread", 1)):
        for state in ("gil", "on_cpu"):
            assert counts.get((name, state), 0) <= 0.1 * n * n_threads, counts


def test_the_target_is_never_stopped(debian, start):
    target = start(debian, "busy.py")
    before = proc_status(target.pid)
    dump(target.pid)
    profile("attach", "-r", 1000, "-d", 0.5, target.pid)
    after = proc_status(target.pid)
    for key in ("TracerPid", "SigPnd", "ShdPnd", "SigBlk", "SigIgn", "SigCgt", "Cpus_allowed", "Threads"):
        assert before[key] == after[key], key
    assert after["State"][0] in "RS"
    target.tell("x")
    assert int(target.expect("rounds")) > 100


def test_blocking_lets_go(python, start):
    """--blocking stops the target by ptrace while it is read, and lets it run on."""
    target = start(python, "busy.py")
    for _ in range(20):
        thread = next(t for t in threads_of(dump(target.pid, "--blocking")) if t["main"])
        assert functions(thread)[-2:] == ["main", "<module>"]
    assert proc_status(target.pid)["TracerPid"].strip() == "0"
    target.tell("x")
    first = int(target.expect("rounds"))
    time.sleep(0.2)
    target.tell("x")
    assert int(target.expect("rounds")) > first
