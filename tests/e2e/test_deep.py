"""Deep stacks whose lower part is not read at every tick: a stack shown is whole, and of one chain."""
import pytest

from harness import parts, profile, total
from test_caches import interpreter

MINORS = (9, 11, 12, 13, 14, 15)


def is_impossible(stack):
    """Letters mixed, x8 above x9, x9 without all of x8 below, or more calls than the program makes."""
    names = [parts(frame)[0] for frame in stack]
    chain = [n for n in names if len(n) == 2 and n[1] in "89"]
    eights = sum(n[1] == "8" for n in chain)
    nines = len(chain) - eights
    return (len({n[0] for n in chain}) > 1 or chain != sorted(chain) or eights > 151 or nines > 61
            or (nines and eights != 151) or names[:2] != ["<module>", "main"][:len(names)])


@pytest.mark.parametrize("more", [[], ["--snapshot", "parallel"], ["--anchor"]], ids=["ride", "parallel", "anchor"])
@pytest.mark.parametrize("minor", MINORS)
def test_deep_chains(minor, more, start):
    if "--anchor" in more and minor < 15:
        pytest.skip("the anchor is a matter of 3.15 and later")
    target = start(interpreter(minor), "deep_chains.py")
    stacks, stats, result = profile("attach", "-r", 2000, "-d", 3, *more, target.pid)
    assert [s for s in stacks if is_impossible(s[0])] == [], result
    assert stats["samples_lost"] <= 0.001 * stats["samples_attempted"], stats
    assert total(stacks) > 100 and max(len(stack) for stack, _ in stacks) > 150, result
