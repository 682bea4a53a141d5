"""What a set of sampled stacks says: which are impossible, how they are distributed, how far from a reference.

Stacks are Counters of tuples of function names, root first.
"""
import collections
import math
import re

CHAIN = re.compile(r"[a-h][1-6]")
CHAIN_LENGTH = 6
NAME_FIRST = re.compile(r"(.*) \((?:.*):\d+\)", re.S)  # function (file:line): tachyscope, py-spy
NAME_BETWEEN = re.compile(r"(?:.*):([^:]*):-?\d+", re.S)  # file:function:line: Tachyon, Austin


def read_collapsed(path, frame_format, weigh=int):
    """Counter of a file of "frame;frame;... NUMBER" lines; `weigh` makes samples of the number."""
    found = collections.Counter()
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            stack, _, number = line.rstrip("\n").rpartition(" ")
            if number.isdigit() and not line.startswith("#"):
                found[tuple(name_of(frame, frame_format) for frame in stack.split(";"))] += weigh(number)
    return found


def name_of(frame, frame_format):
    match = frame_format.fullmatch(frame)
    return match.group(1) if match else frame


def chain(stack):
    """The part of a stack of truth.py (or chains.py) that can be judged."""
    return tuple(name for name in stack if CHAIN.fullmatch(name))


def chains_only(stacks):
    found = collections.Counter()
    for stack, count in stacks.items():
        found[chain(stack)] += count
    return found


def is_impossible(stack):
    names = chain(stack)
    numbers = [int(name[1]) for name in names]
    return numbers != list(range(1, len(names) + 1)) or len({name[0] for name in names}) > 1


def n_impossible(stacks):
    return sum(count for stack, count in stacks.items() if is_impossible(stack))


def impossible_examples(stacks, n_most=3):
    """The commonest impossible stacks as text; "" when there are none."""
    found = collections.Counter()
    for stack, count in stacks.items():
        if is_impossible(stack):
            found[";".join(chain(stack))] += count
    return ", ".join(f"{text} ({count} times)" for text, count in found.most_common(n_most))


def impossible_in_10000(stacks):
    return 1e4 * n_impossible(stacks) / max(1, sum(stacks.values()))


def share(stacks, condition):
    total = sum(stacks.values())
    return sum(count for stack, count in stacks.items() if condition(stack)) / total if total else 0.0


def leaf_share(stacks):
    return share(stacks, lambda stack: len(chain(stack)) == CHAIN_LENGTH)


def share_by_chance(share_of_both, one, other):
    """Twice the standard error of the difference of a share between two sets of samples."""
    n_one, n_other = sum(one.values()), sum(other.values())
    if not n_one or not n_other:
        return None
    return 2 * math.sqrt(share_of_both * (1 - share_of_both) * (1 / n_one + 1 / n_other))


def total_variation(one, other):
    n_one, n_other = sum(one.values()), sum(other.values())
    if not n_one or not n_other:
        return None
    return sum(abs(one[stack] / n_one - other[stack] / n_other) for stack in {*one, *other}) / 2


def total_variation_by_chance(one, other):
    """What total_variation() is to be expected of two samples of one and the same distribution."""
    n_one, n_other = sum(one.values()), sum(other.values())
    if not n_one or not n_other:
        return None
    both = one + other
    shares = [count / (n_one + n_other) for count in both.values()]
    scale = math.sqrt(2 / math.pi * (1 / n_one + 1 / n_other))
    return sum(math.sqrt(p * (1 - p)) for p in shares) * scale / 2
