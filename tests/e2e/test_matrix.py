"""The promise: a dump shows exactly what the target itself says its stacks are."""
import ast
import json
import os
import re
import time

import pytest

from harness import PROGRAMS, dump, threads_of, wait_until

FAULT_FRAME = re.compile(r'  File "(.*)", line (\d+|\?\?\?) in (.*)')
FAULT_THREAD = re.compile(r"(?:Current thread|Thread) 0x([0-9a-f]+)")


def shapes():
    """How many functions matrix.py marks with @shape: what must be seen."""
    with open(os.path.join(PROGRAMS, "matrix.py"), encoding="utf-8") as file:
        tree = ast.parse(file.read())
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)
            for mark in node.decorator_list if isinstance(mark, ast.Name) and mark.id == "shape"}


def faulthandler_stacks(text):
    """{ident: [(last part of the name, file, line), ...]}"""
    stacks, frames = {}, None
    for line in text.splitlines():
        thread = FAULT_THREAD.match(line)
        if thread:
            frames = stacks[int(thread.group(1), 16)] = []
        frame = FAULT_FRAME.match(line)
        if frame and frame.group(2) != "???":
            frames.append((frame.group(3).rpartition(".")[2], frame.group(1), int(frame.group(2))))
    return stacks


def seen(thread):
    return [(f["function"], f["file"], f["line"]) for f in thread["frames"]]


def with_columns(thread):
    return [(f["function"], f["line"], f["end_line"], f["column"], f["end_column"]) for f in thread["frames"]]


def told_columns(thread):
    """What co_positions() said; a position that the code object does not have is -1 (lines: 0)."""
    rows = []
    for name, _, _, (line, end_line, column, end_column) in thread["frames"]:
        rows.append((name, line or 0, end_line or 0, -1 if column is None else column,
                     -1 if end_column is None else end_column))
    return rows


def compare(told, truth, ask=seen, want=None):
    """Every thread of `truth` but the reporter, frame by frame."""
    by_tid = {thread["tid"]: thread for thread in threads_of(told)}
    assert len(by_tid) == len(threads_of(told)), "two threads with one tid"
    assert set(by_tid) == {thread["tid"] for thread in truth["threads"]}
    for thread in truth["threads"]:
        if thread["reporter"]:
            continue
        wanted = want(thread) if want else [tuple(frame[:3]) for frame in thread["frames"]]
        assert wanted, thread
        assert ask(by_tid[thread["tid"]]) == wanted, thread["name"]


@pytest.fixture
def still(python, start):
    """matrix.py at a standstill: (target, dump before anybody looked at the frames, truth)"""
    target = start(python, "matrix.py", wait_for="parked")
    before = dump(target.pid)
    target.tell()
    return target, before, json.loads(target.expect("truth"))


@pytest.mark.pythons("all")
def test_dump_is_the_truth(still, python):
    target, before, truth = still
    path = os.path.join(target.folder, "truth")
    wanted = faulthandler_stacks(wait_until(lambda: at_rest(path), what="faulthandler"))
    after = dump(target.pid)
    names = {thread["name"] for thread in truth["threads"]}
    assert names == shapes() | {"MainThread", "reporter"} and len(shapes()) > 50

    for told in (before, after):
        assert told["python"]["version"] == python.text_version
        assert told["python"]["free_threaded"] is python.free_threaded
        assert [i["id"] for i in told["interpreters"]] == [0]
        assert all(f["kind"] == "python" for t in threads_of(told) for f in t["frames"])
        compare(told, truth)
        for thread in truth["threads"]:
            one = next(t for t in threads_of(told) if t["tid"] == thread["tid"])
            assert (one["name"], one["main"]) == (thread["name"], thread["main"])
            assert "gil" not in one["status"] and "on_cpu" not in one["status"], one

    # and faulthandler, which sees the reporter too
    assert len(wanted) == len(truth["threads"])
    for thread in truth["threads"]:
        one = next(t for t in threads_of(after) if t["tid"] == thread["tid"])
        frames = [(name.rpartition(".")[2], file, line) for name, file, line in seen(one)]
        if thread["name"] == "hot_init" and python.version >= (3, 12):
            # the interpreter's own shim between Hot() and __init__: faulthandler shows "???" or ends there
            frames = frames[:len(wanted[thread["ident"]])]
            assert len(frames) >= 2
        assert frames == wanted[thread["ident"]], thread["name"]


@pytest.mark.pythons("all", since=(3, 11))
def test_columns_are_those_of_the_code_object(still, python):
    target, before, truth = still
    n_known = sum(1 for t in truth["threads"] for f in t["frames"] if f[3][2] is not None)
    assert n_known > 150
    for told in (before, dump(target.pid)):
        compare(told, truth, ask=with_columns, want=told_columns)


@pytest.mark.pythons("minors", until=(3, 10))
def test_no_columns_before_3_11(still, python):
    _, before, _ = still
    frames = [f for t in threads_of(before) for f in t["frames"]]
    assert len(frames) > 150
    assert {(f["end_line"], f["column"], f["end_column"]) for f in frames} == {(0, -1, -1)}


def at_rest(path):
    """The text of a file that has some, once it no longer grows; else ""."""
    size = os.path.getsize(path)
    time.sleep(0.1)
    if size == 0 or os.path.getsize(path) != size:
        return ""
    with open(path, encoding="ascii") as file:
        return file.read()
