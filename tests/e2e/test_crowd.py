"""Threads that wait for the GIL in one of many ways that look alike: each has its own functions, and each function its
own callers."""
import collections
import re

import pytest

from harness import parts, profile, total
from test_caches import LIMITS, MINORS, interpreter, is_cut

N_THREADS = 12
CALLERS = {"1": "", "2": "1", "3": "1", "4": "13", "5": "1", "6": "245"}


def is_wrong(stack):
    """Frames of another thread, or one above a frame that never calls it. stack[0] is the thread."""
    names = [parts(frame)[0] for frame in stack if "crowd_" in frame]
    letters = {name[0] for name in names}
    steps = [name[1] for name in names]
    owner = re.search(r"\bof ([a-z])\b", stack[0])
    if owner:
        letters.add(owner.group(1))
    return len(letters) > 1 or any(before not in CALLERS.get(after, "?") for before, after in zip([""] + steps, steps)
                                   if before or after != "1")


@pytest.mark.parametrize("mode", ["auto", "parallel"])
@pytest.mark.parametrize("minor", MINORS)
def test_every_stack_happened(minor, mode, start):
    target = start(interpreter(minor), "crowd.py", N_THREADS)
    stacks, stats, _ = profile("attach", "-r", 1000, "-d", 3, "--by-thread", "--snapshot", mode, target.pid)
    wrong = collections.Counter()
    for stack, count in stacks:
        if not is_cut(stack) and is_wrong(stack):
            wrong[";".join(stack)] += count
    wrong_max, lost_max = LIMITS.get(mode, LIMITS["auto"])
    assert sum(wrong.values()) <= wrong_max * total(stacks), (total(stacks), wrong.most_common(5), stats)
    assert stats["samples_lost"] <= lost_max * stats["samples_attempted"], stats
    seen = {parts(frame)[0] for stack, _ in stacks for frame in stack if "crowd_" in frame}
    assert len(seen) == 6 * N_THREADS, (len(seen), stats)
    owners = {owner.group(1) for stack, _ in stacks for owner in [re.search(r"\bof ([a-z])\b", stack[0])] if owner}
    assert len(owners) == N_THREADS, owners
