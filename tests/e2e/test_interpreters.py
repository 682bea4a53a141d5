"""Sub-interpreters: each by its id, with its own functions, however short its life."""
import re

import pytest

from harness import dump, functions, profile, total

KINDS = ["isolated", "legacy"]
OWN = re.compile(r"i(\d+)_(\d)")


def start_program(python, start, *args):
    return start(python, "interpreters.py", *args, helpers=())


def ended(target):
    target.tell()
    return int(target.expect("ended"))


def own(names):
    """[(interpreter, level), ...] of the functions that carry an interpreter's number, root first."""
    return [(int(match[1]), int(match[2])) for match in map(OWN.match, names) if match]


def wrong(interpreter, names):
    """Why these functions, root first, cannot be a stack of this interpreter; "" when they can."""
    found = own(names)
    if [level for _, level in found] != list(range(1, len(found) + 1)):
        return "levels are mixed"
    return "" if {i for i, _ in found} <= {interpreter} else "of another interpreter"


def check(stacks):
    """Every stack is one of its interpreter; {interpreter: samples in its own functions}, all ids."""
    shares, ids = {}, set()
    for stack, count in stacks:
        label = re.fullmatch(r"interpreter (\d+)", stack[0])
        assert label and stack[1].startswith("thread "), stack
        interpreter = int(label[1])
        assert not wrong(interpreter, stack), (wrong(interpreter, stack), stack)
        ids.add(interpreter)
        if own(stack):
            shares[interpreter] = shares.get(interpreter, 0) + count
    return shares, ids


@pytest.mark.pythons(since=(3, 9))
@pytest.mark.parametrize("snapshot", ["auto", "parallel"])
def test_interpreters_run_side_by_side(python, start, snapshot):
    target = start_program(python, start, 2, 1)
    stacks, stats, result = profile("attach", "-d", "0.8", "--by-thread", "--snapshot", snapshot, target.pid)
    shares, ids = check(stacks)
    assert {0, 1, 2} <= ids and shares[1] > 5 and shares[2] > 5, (shares, result)
    assert stats["samples_lost"] == 0, stats


@pytest.mark.pythons(since=(3, 9))
@pytest.mark.parametrize("kind", KINDS)
def test_interpreters_that_come_and_go(python, start, kind):
    target = start_program(python, start, 0, 2, kind)
    n, seen = 0, set()
    for _ in range(5):  # on a busy machine they come slowly
        before = ended(target)
        stacks, stats, _ = profile("attach", "-d", "1", "--by-thread", target.pid)
        n += ended(target) - before
        seen |= check(stacks)[1]
        assert stats["samples_lost"] <= 0.001 * stats["samples_attempted"], stats
        if n > 5:
            break
    assert n > 5, "hardly any came and went: the test shows nothing"
    assert len(seen) > 0.8 * n, (n, sorted(seen))


@pytest.mark.pythons(since=(3, 9))
def test_dumps_while_interpreters_come_and_go(python, start):
    target = start_program(python, start, 1, 2)
    seen = set()
    for _ in range(20):
        interpreters = dump(target.pid)["interpreters"]
        ids = [interpreter["id"] for interpreter in interpreters]
        assert ids == sorted(set(ids)) and {0, 1} <= set(ids), ids
        seen |= set(ids)
        for interpreter in interpreters:
            for thread in interpreter["threads"]:
                names = functions(thread)[::-1]
                assert not wrong(interpreter["id"], names), (interpreter["id"], names)
    assert len(seen) > 5, seen


@pytest.mark.pythons(since=(3, 12))
def test_a_process_without_others_has_no_such_level(python, start):
    stacks, _, _ = profile("attach", "-d", "0.2", "--by-thread", start(python, "busy.py").pid)
    assert total(stacks) > 0
    assert all(stack[0].startswith("thread ") for stack, _ in stacks)
