"""Threads that wait for the GIL in one of many ways that look alike: each has its own functions, and each function its
own callers."""
import collections
import re

import pytest

from harness import parts, profile, total
from test_caches import LIMITS, MINORS, interpreter, is_cut

N_THREADS = 12
WRONG_MAX = {"auto": 0, "parallel": 5e-5}
LOST_MAX = {mode: lost for mode, (_, lost) in LIMITS.items()}
CALLERS = {"1": "", "2": "1", "3": "1", "4": "13", "5": "1", "6": "245"}


def owner(stack):
    """The letter of the thread; "" of the main one."""
    match = re.search(r"\bof ([a-z])\b", stack[0])
    return match.group(1) if match else ""


def is_wrong(stack):
    """Frames of another thread, or one above a frame that never calls it. stack[0] is the thread."""
    names = [parts(frame)[0] for frame in stack if "crowd_" in frame]
    letters = {name[0] for name in names} | {owner(stack)} - {""}
    steps = [name[1] for name in names]
    return len(letters) > 1 or any(before not in CALLERS.get(after, "?") for before, after in zip([""] + steps, steps)
                                   if before or after != "1")


def faults(target, mode):
    stacks, stats, _ = profile("attach", "-r", 1000, "-d", 3, "--by-thread", "--snapshot", mode, target.pid)
    wrong = collections.Counter()
    for stack, count in stacks:
        if not is_cut(stack) and is_wrong(stack):
            wrong[";".join(stack)] += count
    seen = {parts(frame)[0] for stack, _ in stacks for frame in stack if "crowd_" in frame}
    if sum(wrong.values()) > WRONG_MAX[mode] * total(stacks):
        return f"{sum(wrong.values())} of {total(stacks)} never happened: {wrong.most_common(5)}; {stats}"
    if stats["samples_lost"] > LOST_MAX[mode] * stats["samples_attempted"]:
        return f"lost: {stats}"
    if len(seen) != 6 * N_THREADS or len({owner(stack) for stack, _ in stacks}) <= N_THREADS:
        return f"seen: {sorted(seen)}; {stats}"
    return None


@pytest.mark.parametrize("mode", ["auto", "parallel"])
@pytest.mark.parametrize("minor", MINORS)
def test_every_stack_happened(minor, mode, start):
    """What is wrong is wrong again and again: what one run in two shows is chance."""
    target = start(interpreter(minor), "crowd.py", N_THREADS)
    first = faults(target, mode)
    assert not first or not faults(target, mode), first
