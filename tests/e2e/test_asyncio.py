"""asyncio's tasks: which there are, what each waits in, who awaits whom; at rest and while they run."""
import json
import os
import re

import pytest

from harness import PROGRAMS, dump, fails, parts, profile, quiet, tachyscope, total


def tasks_of(told):
    return [task for interpreter in told["interpreters"] for task in interpreter["tasks"]]


def names_of_waiters(task, by_id):
    return sorted(by_id[one]["name"] for one in task["awaited_by"])


def chain_of(task, python):
    names = [frame["function"] for frame in task["frames"]]
    return names if python.version >= (3, 11) else [name.rpartition(".")[2] for name in names]


@pytest.mark.pythons("all")
def test_every_way_to_wait(python, start):
    """Every task with its coroutines and those that await it, as the program that made them knows it."""
    target = start(python, "async_tree.py")
    truth = json.loads(target.ready)
    told = dump(target.pid, "--async-aware")
    tasks = tasks_of(told)
    by_id = {task["id"]: task for task in tasks}
    by_name = {task["name"]: task for task in tasks}
    assert set(by_name) == set(truth) | {"main", "other-main"}, [one.keys() for one in told["interpreters"]]
    assert len(tasks) == len(by_name)
    for name, one in truth.items():
        task = by_name[name]
        assert names_of_waiters(task, by_id) == one["awaited_by"], (name, task)
        chain = chain_of(task, python)
        wanted = one["chain"]
        if wanted is not None:
            if python.version < (3, 11):
                wanted = [word.rpartition(".")[2] for word in wanted]
            assert chain == wanted, (name, task)
        assert not task["running"]
        if "asyncio" in one:
            lines = [[frame["function"], frame["line"]] for frame in task["frames"]]
            own = one["asyncio"]["chain"]
            # asyncio does not look into async generators, and into what is awaited through __await__
            assert lines[-len(own):] == own and (lines == own or name in ("agen", "anext", "object")), (name, task)
            assert names_of_waiters(task, by_id) == one["asyncio"]["awaited_by"]
    threads = {by_name["main"]["tid"], by_name["other-main"]["tid"]}
    assert len(threads) == 2 and 0 not in threads
    assert by_name["other-loop"]["tid"] == by_name["other-main"]["tid"]
    assert by_name["python"]["tid"] == by_name["eager" if "eager" in truth else "left"]["tid"]
    assert all("tasks_not_followed" not in one for one in told["interpreters"])


def test_the_tree_as_text(python, start):
    """Each task once in full, below those that await it; a name that has no place in a terminal is escaped."""
    target = start(python, "async_tree.py")
    truth = json.loads(target.ready)
    text = tachyscope("dump", "--async-aware", target.pid).out
    heads = [line.strip() for line in text.splitlines() if line.strip().startswith("Task ")]
    for name, one in truth.items():
        mine = [head for head in heads if head.startswith(f'Task "{name}"')]
        assert len(mine) == max(1, len(one["awaited_by"])), (name, mine)
    assert heads.count('Task "shared", awaited by 2') == 1
    assert heads.count('Task "shared", awaited by 2, see above') == 1
    lines = text.splitlines()
    left = lines.index('  Task "left"')
    below = lines[left + 1:left + 4]
    assert "in wait_for_task" in below[0] and below[1].strip() == "await task"
    assert below[2] == '    Task "shared", awaited by 2'
    # the running ones alone, of which there is none
    assert "[no asyncio task]" in tachyscope("dump", "--async-aware", "--async-mode", "running", target.pid).out


# what may come above what in a stack of async_busy.py, from the root on
ABOVE = {
    None: {"main"},
    "main": {"main()"},
    "main()": {"parent-of-three", "parent-of-one", "parent-of-waits", "churn"},
    "parent-of-three": {"parent()"},
    "parent-of-one": {"parent()"},
    "parent-of-waits": {"parent()"},
    "parent()": {"three", "one", "waits"},
    "three": {"three()"},
    "one": {"one()"},
    "waits": {"waits()"},
    "three()": {"step()"},
    "one()": {"numbers()"},
    "numbers()": {"step()"},
    "waits()": {"sleep()"},
    "step()": {"spin()", "sleep()"},
    "sleep()": {"__sleep0()"},
    "churn": {"churn()"},
    "short()": {"sleep()"},
}
ABOVE.update({f"short-{i}": {"short()"} for i in range(5)})
SHORT = {f"short-{i}" for i in range(5)}
with open(os.path.join(PROGRAMS, "async_busy.py"), encoding="utf-8") as text:
    SHORT_LINE = 1 + text.read().split("\n").index("async def short():")
ABOVE[None] |= SHORT  # made, and not yet awaited
# what ensure_future() and the like do in the standard library, above one of our coroutines
LIBRARY = {"main()", "parent()", "churn()", "sleep()", "waits()", "one()"}


def impossible(stack):
    """The first pair that the program cannot produce, or None. Tasks are named as they are, functions with () behind."""
    before = None
    for function, file, line in map(parts, stack):
        label = function if not file else function.rpartition(".")[2] + "()"
        if label not in ABOVE.get(before, set()):
            if before == "churn()" and (label in SHORT or not file):
                before = label
                continue
            if (before, label, line) == ("churn()", "short()", SHORT_LINE):
                return None  # the call that makes the coroutine has a frame of its own, which is on its first line
            if before in LIBRARY and re.search("asyncio|_weakrefset", file):
                return None  # inside of a call of the library's: nothing of ours lies above
            if not file and label.startswith("Task-"):
                return None  # not named yet
            return before, label
        before = label
    return None


def share_of_three(stacks):
    """Of the samples in which one of the busy tasks computes, the part in "three"."""
    mine = {name: sum(count for stack, count in stacks if name in stack and parts(stack[-1])[0] == "spin")
            for name in ("three", "one")}
    return mine["three"] / sum(mine.values())


class Clock:
    """The share of "three" by the program's own clock, between two moments."""

    def __init__(self, target):
        self.target = target
        self.before = self.read()

    def read(self):
        self.target.tell()
        return json.loads(self.target.expect("taken"))

    def share(self):
        now = self.read()
        took = {name: now[name] - self.before[name] for name in now}
        return took["three"] / sum(took.values())


@pytest.mark.parametrize("snapshot", ["auto", "parallel"])
def test_shares_of_running_tasks(python, start, snapshot):
    """What is sampled of tasks that run is what they take; no stack is one that cannot be."""
    target = start(python, "async_busy.py")
    clock = Clock(target)
    stacks, stats, _ = profile("attach", "--async-aware", "--snapshot", snapshot, "-r", 2000, "-d", 0.8, target.pid)
    wanted = clock.share()
    wrong = [(stack, count) for stack, count in stacks if impossible(stack)]
    assert not wrong, (impossible(wrong[0][0]), wrong)
    assert 0.9 * stats["samples_captured"] <= total(stacks) <= stats["samples_captured"]
    assert stats["samples_lost"] <= 0.01 * stats["samples_attempted"]
    quiet(abs(share_of_three(stacks) - wanted) < 0.05, (stacks, wanted))
    assert stats["asyncio_found"] == 1 and stats["asyncio_not_followed"] == 0


def test_waiting_tasks_show(python, start):
    """In mode all every task that awaits no other one has one stack a tick."""
    target = start(python, "async_busy.py")
    clock = Clock(target)
    stacks, stats, _ = profile("attach", "--async-aware", "--async-mode", "all", "-r", 1000, "-d", 0.8, target.pid)
    wanted = clock.share()
    wrong = [(stack, count) for stack, count in stacks if impossible(stack)]
    assert not wrong, (impossible(wrong[0][0]), wrong)
    for name in ("three", "one", "waits"):
        mine = sum(count for stack, count in stacks if name in stack)
        assert 0.97 * stats["samples_captured"] <= mine <= stats["samples_captured"], (name, mine, stats)
    quiet(abs(share_of_three(stacks) - wanted) < 0.05, (stacks, wanted))
    # only who runs is on the CPU
    running, _, _ = profile("attach", "--async-aware", "--async-mode", "all", "--mode", "gil", "-d", 0.5, target.pid)
    assert not any("waits" in stack for stack, _ in running)
    assert {parts(stack[-1])[0] for stack, _ in running} >= {"spin"}


def test_tasks_that_come_and_go(python, start):
    target = start(python, "async_busy.py", "churn")
    for mode in "running", "all":
        stacks, stats, _ = profile("attach", "--async-aware", "--async-mode", mode, "--lines", "-r", 2000, "-d", 0.5,
                                   target.pid)
        wrong = sum(count for stack, count in stacks if impossible(stack))
        assert wrong <= 0.001 * total(stacks), [s for s in stacks if impossible(s[0])]
        assert stats["samples_lost"] <= 0.01 * stats["samples_attempted"], stats
        assert mode == "running" or any(set(stack) & SHORT for stack, _ in stacks)


@pytest.mark.pythons(since=(3, 12))
def test_eager_tasks(python, start):
    """A task that another one runs at once has its own part of the stack, and neither has the other's."""
    target = start(python, "async_busy.py", "eager")
    clock = Clock(target)
    stacks, _, _ = profile("attach", "--async-aware", "-d", 0.7, target.pid)
    wanted = clock.share()
    assert not [stack for stack, _ in stacks if impossible(stack)]
    quiet(abs(share_of_three(stacks) - wanted) < 0.05, (stacks, wanted))


PROGRAM = """
import asyncio, time
async def main():
    end = time.monotonic() + 0.8
    while time.monotonic() < end:
        await asyncio.sleep(0)
asyncio.run(main())
"""


def test_run_from_the_start(python):
    """asyncio is noticed when it is imported."""
    stacks, stats, _ = profile("run", "--async-aware", "--", *python.argv, "-c", PROGRAM)
    assert stats["asyncio_found"] == 1
    assert sum(count for stack, count in stacks if "Task-1" in stack) >= 100


def test_nothing_to_show_is_said(python, start):
    target = start(python, "import time\nprint('ready', flush=True)\ntime.sleep(1000)\n")
    result = tachyscope("attach", "--async-aware", "--collapsed", "-d", 0.2, target.pid)
    assert result.out == "" and "asyncio was not in use" in result.err
    assert "[asyncio is not in use]" in tachyscope("dump", "--async-aware", target.pid).out


def test_mode_without_the_option():
    fails("dump", "--async-mode", "all", 1, status=2, words=["--async-aware"])
