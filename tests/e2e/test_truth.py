"""truth.py: eight chains of calls as short as calls can be. A stack with functions of two chains never was,
and a sample that is lost, or always meets the callers instead of the leaf, is a lie of another kind."""
import re

import pytest

from harness import parts, profile, quiet, tachyscope, total, wait_until
from test_caches import LIMITS, MINORS, interpreter, is_cut

RATE = 1000
SECONDS = 2
LEAF_MAX = 0.10   # how far the share of the leaf may be, in so short a run, from that of a target that is stopped
WORK = (0, 5, 50, 500)


def judge(stack):
    """What is wrong with a stack of the program, root first."""
    frames = [parts(frame) for frame in stack]
    names = [f[0] for f in frames if f[1]]
    if names[:2] != ["<module>", "main"][:len(names)] or not names:
        return "shape"
    chain = names[2:]
    if chain != [chain[0][0] + str(i + 1) for i in range(len(chain))] if chain else False:
        return "mixed"
    return None if len(chain) <= 6 and all(f[1] == "truth.py" for f in frames[2:] if f[1]) else "shape"


def leaf_share(stacks):
    return sum(count for stack, count in stacks if parts(stack[-1])[0].endswith("6")) / total(stacks)


def run(target, mode):
    """A fault counts when a second run shows it too: chance is no fault, a wrong reading is one every time."""
    try:
        return run_once(target, mode)
    except AssertionError as error:
        print("first run:", error)
        return run_once(target, mode)


def run_once(target, mode):
    wrong_max, lost_max = LIMITS.get(mode, LIMITS["auto"])
    stacks, stats, result = profile("attach", "-r", RATE, "-d", SECONDS, "--snapshot", mode, target.pid)
    wrong = [(judge(stack), count, ";".join(stack)) for stack, count in stacks if not is_cut(stack)]
    wrong = sorted((one for one in wrong if one[0]), key=lambda one: -one[1])
    n_wrong = sum(one[1] for one in wrong)
    assert n_wrong <= wrong_max * total(stacks), (mode, n_wrong, total(stacks), wrong[:5])
    lost = stats["samples_lost"] + total([one for one in stacks if is_cut(one[0])])
    assert lost <= lost_max * stats["samples_attempted"], (mode, lost, stats)
    assert total(stacks) > 0.1 * RATE * SECONDS, result  # a loaded machine may be late, not less true
    return stacks, stats


@pytest.mark.parametrize("n", WORK)
@pytest.mark.parametrize("minor", MINORS)
def test_no_impossible_stack_and_none_lost(minor, n, start):
    target = start(interpreter(minor), "truth.py", n, wait_for=None)
    chain = re.compile(r'"function": ?"[a-h][1-6]"')
    wait_until(lambda: chain.search(tachyscope("dump", "--json", target.pid, status=None).out), what="the main loop")
    stacks, stats = run(target, "auto")
    run(target, "parallel")
    still, _ = run(target, "stop")
    ridden = stats["snapshots"]["ride"] / max(1, sum(stats["snapshots"].values()))
    if ridden > 0.9:  # a copy from another core is not without bias; what rides must be
        shares = leaf_share(stacks), leaf_share(still)
        quiet(abs(shares[0] - shares[1]) < LEAF_MAX, (shares, stats["snapshots"]))
