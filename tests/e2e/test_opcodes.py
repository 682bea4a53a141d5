"""--opcodes: what tachyscope says of each frame's instruction is what dis says of it."""
import collections
import json
import os
import subprocess

import pytest

from harness import TOP, dump, fails, profile, tachyscope, threads_of

MONITORED = ["LINE", "INSTRUCTION", "CALL", "LINE,INSTRUCTION,CALL"]


def told_and_seen(target, *args):
    """[[function, form, base], ...] leaf first, by dis and by tachyscope."""
    told = json.loads(target.ready)
    thread = next(t for t in threads_of(dump(target.pid, "--opcodes", *args)) if t["tid"] == told["tid"])
    seen = [[f["function"].rsplit(".", 1)[-1], f["opcode"], f["base_opcode"]] for f in thread["frames"]]
    return told["frames"], seen


@pytest.mark.pythons("all", since=(3, 11))
@pytest.mark.parametrize("more", [[], ["--blocking"]], ids=["copy", "stop"])
def test_every_frame_is_at_the_instruction_that_dis_shows(python, start, more):
    told, seen = told_and_seen(start(python, "opcodes.py"), *more)
    assert seen == told
    assert len(told) > 15
    if not python.free_threaded or python.version >= (3, 14):  # 3.13t does not specialise
        assert sum(form != base for _, form, base in told) > 5, "nothing is specialised: the test shows nothing"


@pytest.mark.pythons(since=(3, 12))
@pytest.mark.parametrize("events", MONITORED)
def test_instrumented_instructions_tell_what_they_stand_for(python, start, events):
    told, seen = told_and_seen(start(python, "opcodes.py", events))
    assert seen == told
    assert any(form.startswith("INSTRUMENTED_") and form[len("INSTRUMENTED_"):] != base for _, form, base in told) \
        or events == "CALL", "nothing hides behind another instruction: the test shows nothing"


@pytest.mark.pythons(since=(3, 11))
def test_dump_as_text_names_the_instruction(python, start):
    target = start(python, "opcodes.py")
    told = json.loads(target.ready)["frames"]
    text = tachyscope("dump", "--opcodes", target.pid).out
    for function, form, base in told[:8]:
        suffix = form if form == base else f"{form} ({base})"
        assert any(line.endswith(f"{function}, at {suffix}") for line in text.splitlines()), (function, suffix, text)
    assert ", at " not in tachyscope("dump", target.pid).out


@pytest.mark.pythons(until=(3, 10))
def test_versions_without_specialised_instructions_are_refused(python, start):
    target = start(python, "import time\nprint('ready', flush=True)\ntime.sleep(1000)\n")
    for verb in (["dump"], ["attach", "-d", "1"]):
        fails(*verb, "--opcodes", target.pid, words=["3.11", python.text_version, "--opcodes"])


@pytest.mark.pythons(since=(3, 11))
def test_sampling_with_opcodes_sees_the_same_stacks(python, start):
    target = start(python, "busy.py")
    shares = []
    for more in ([], ["--opcodes"]):
        stacks, stats, _ = profile("attach", "-d", "1", *more, target.pid)
        leaves = collections.Counter()
        for stack, count in stacks:
            leaves[stack[-1]] += count
        assert stats["samples_lost"] == 0, stats
        shares.append({leaf for leaf, count in leaves.items() if count > 0.05 * sum(leaves.values())})
    assert shares[0] == shares[1]


def test_the_tables_are_what_the_interpreters_say():
    done = subprocess.run([os.path.join(TOP, "tools/opcode_gen"), "--check"], stdout=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stdout[-2000:]
