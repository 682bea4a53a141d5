"""Each way for what is remembered of a target to be wrong: addresses that are used again, frames that
are resumed elsewhere, threads that take over an id. No stack may be shown that never was."""
import re

import pytest

from harness import PYTHONS, parts, profile, total

MINORS = (9, 11, 12, 13, 15)
# (share of impossible stacks, share of lost ticks). A copy from another core is many moments, not one: what
# keeps it from fitting together by chance is only that chance is small. Riding promises more.
LIMITS = {"auto": (0, 0.001), "parallel": (0.005, 0.03)}


LIBRARY = re.compile(r"/lib/(pypy|python)\d|<frozen ")


def program_frames(stack):
    """(function, file, first line) of the frames that are the program's own, root first; markers left out."""
    frames = [parts(frame) for frame in stack]
    return [f for f in frames if f[1] and not LIBRARY.search(f[1])]


def is_cut(stack):
    """Older frames are missing, and the stack says so: not wrong, but as good as lost."""
    return "<cut>" in stack


def names_after(stack, name):
    names = [f[0] for f in program_frames(stack)]
    return names[names.index(name) + 1:] if name in names else []


def starts_right(stack):
    return [f[0] for f in program_frames(stack)][:2] in (["<module>", "main"], ["<module>"])


def judge_exec(stack):
    below, frames = names_after(stack, "main"), program_frames(stack)[2:]
    if not starts_right(stack) or len(frames) > 2:
        return "shape"
    if not frames:
        return None
    number = re.fullmatch(r"gen_(\d\d)\.py", frames[0][1])
    if not number or below != ["<module>", "fn_" + number[1]][:len(below)]:
        return "names"
    if {f[1] for f in frames} != {number[0]}:
        return "files"
    return None if {f[2] for f in frames} == {1} else "lines"


def judge_freed(stack):
    frames = program_frames(stack)[2:]
    if not starts_right(stack) or len(frames) > 2 or (frames and frames[0][0] != "call"):
        return "shape"
    if len(frames) < 2:
        return None
    number = re.fullmatch(r"fn_(\d\d)", frames[1][0])
    if not number or frames[1][1] != "gen_%s.py" % number[1]:
        return "names"
    return None if frames[1][2] == int(number[1]) else "lines"


def judge_generator(stack):
    names = names_after(stack, "main")
    if not starts_right(stack):
        return "shape"
    if not names:
        return None
    letter = names[0][-1]
    allowed = [["caller_" + letter, *middle, "work_" + letter] for middle in (["outer", "inner"], ["inner"])]
    if letter in "ab" and any(names == one[:len(names)] for one in allowed):
        return None
    return None if names in (["outer"], ["outer", "inner"], ["inner"]) else "mixed"  # the first next()


def judge_recursion(stack):
    names = names_after(stack, "main")
    if not starts_right(stack):
        return "shape"
    if not names:
        return None
    letter = names[0][-1]
    if names[0] != "start_" + letter or len(names) > 61:
        return "shape"
    for above, below in zip(names[2:], names[1:]):
        if above != ("odd_" if below.startswith("even_") else "even_") + letter:
            return "mixed"
    return None if len(names) < 2 or names[1] in ("even_" + letter, "odd_" + letter) else "mixed"


def judge_replaced(stack):
    names = names_after(stack, "main")
    if not starts_right(stack):
        return "shape"
    return None if names in ([], ["step_a"], ["step_b"], ["step_a", "body_a"], ["step_b", "body_b"]) else "mixed"


def judge_threads(stack):
    thread, *stack = stack
    name = re.fullmatch(r"thread (?:(.*) )?\(\d+\)", thread)
    if not name:
        return "thread"
    own = [f[0] for f in program_frames(stack)]
    if not own:  # it begins, or ends
        return None
    if own[0] == "<module>":
        return None if own in (["<module>"], ["<module>", "main"]) else "shape"
    kinds, numbers = [n[:-2] for n in own], {n[-1] for n in own}
    if kinds != ["entry", "work"][:len(own)] or len(numbers) > 1:
        return "mixed"
    of_thread = re.fullmatch(r"T_(\d)", name[1] or "")  # a thread that was over before its name was asked for has none
    return "name" if of_thread and of_thread[1] != own[0][-1] else None


JUDGES = {"exec": judge_exec, "freed": judge_freed, "generator": judge_generator, "recursion": judge_recursion,
          "replaced": judge_replaced, "threads": judge_threads}


def interpreter(minor):
    found = [p for p in PYTHONS if p.version[:2] == (3, minor) and not p.debug and not p.is_embedded]
    if not found:
        pytest.skip(f"this machine has no Python 3.{minor}")
    return min(found, key=lambda p: len(p.id))


def faults_of(target, program, mode, wrong_max, lost_max):
    """What one run showed that it must not."""
    faults = []
    more = ["--by-thread"] if program == "threads" else []
    stacks, stats, result = profile("attach", "-r", 2000, "-d", 3, "--snapshot", mode, *more, target.pid)
    wrong = [(JUDGES[program](stack), count, ";".join(stack)) for stack, count in stacks if not is_cut(stack)]
    wrong = sorted((one for one in wrong if one[0]), key=lambda one: -one[1])
    if program == "threads":  # a name can come a moment late to a thread whose ident another one has taken over
        wrong_max = max(wrong_max, 0.002)
    if sum(one[1] for one in wrong) > wrong_max * total(stacks):
        faults.append((mode, sum(one[1] for one in wrong), total(stacks), wrong[:5]))
    lost = stats["samples_lost"] + total([one for one in stacks if is_cut(one[0])])
    if lost > lost_max * stats["samples_attempted"]:
        faults.append((mode, "lost", lost, stats["lost_by_reason"], stats["samples_attempted"]))
    assert total(stacks) > 60, result
    deepest = max(len(names_after(stack, "main")) for stack, _ in stacks)
    # code that lives for some forty microseconds is hardly ever had whole by a copy: its callers are shown then
    wanted = {"recursion": 20, "threads": 0, "exec": 0 if mode == "parallel" else 2}
    wanted = wanted.get(program, 1 if mode == "parallel" else 2)
    assert deepest >= wanted, stacks[:5]
    return faults


@pytest.mark.parametrize("program", JUDGES)
@pytest.mark.parametrize("minor", MINORS)
def test_no_impossible_stack(minor, program, start):
    """A cache that is wrong is wrong again and again: what one run in two shows is not."""
    target = start(interpreter(minor), "cache_%s.py" % program)
    for mode, (wrong_max, lost_max) in LIMITS.items():
        faults = faults_of(target, program, mode, wrong_max, lost_max)
        if faults:
            print("first run:", faults)
            faults = faults_of(target, program, mode, wrong_max, lost_max)
        assert not faults, "\n".join(map(str, faults))
