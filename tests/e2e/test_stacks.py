"""Names of every width, stacks of any depth."""
import json

import pytest

from harness import dump, functions, parts, profile, tachyscope, threads_of, total


def shown(text):
    """How a name is told: as it is, but for what valid, NUL-terminated UTF-8 cannot hold."""
    return "".join(r"\u%04x" % ord(c) if "\ud800" <= c <= "\udfff" else r"\x00" if c == "\0" else c for c in text)


@pytest.fixture
def words(python, start):
    target = start(python, "strings.py", wait_for="parked")
    before = dump(target.pid)
    target.tell()
    truth = json.loads(target.expect("truth"))
    return target, before, truth


@pytest.mark.pythons("all")
def test_names_of_every_width(words, python):
    target, before, truth = words
    main = next(t for t in truth["threads"] if t["main"])
    assert len(main["frames"]) > 18
    names = "".join(f[0] for f in main["frames"])
    assert {"\xe9", "\u65e5", "\U00020000", "\ud800", "\0"} <= set(names)
    seen = next(t for t in threads_of(before) if t["main"])
    got = [(f["function"], f["file"]) for f in seen["frames"]]
    assert got == [(shown(f[0]), shown(f[1])) for f in main["frames"]]
    assert len({t["tid"] for t in threads_of(before)}) == len(truth["threads"])


@pytest.mark.pythons("minors")
def test_thread_names_of_every_width(words, python):
    target, before, truth = words
    named = {t["tid"]: shown(t["name"]) for t in truth["threads"] if t["name"]}
    assert {"\u0438\u043c\u044f-1", "a\nb", "\xe9", "reporter", "MainThread"} <= set(named.values())
    seen = {t["tid"]: t["name"] for t in threads_of(before) if t["tid"] in named}
    assert seen == named


def test_odd_names_do_not_break_the_outputs(words, python):
    """One line a stack in collapsed, no control characters on a terminal or in the table."""
    target, _, truth = words
    for extra in ((), ("--by-thread",)):
        stacks, _, _ = profile("attach", "-r", 100, "-d", 0.3, *extra, target.pid)
        assert total(stacks) >= 7 * 20
        deepest = max(stacks, key=lambda s: len(s[0]))[0]
        assert len(deepest) == 21 + bool(extra), deepest
        assert not any(ord(c) < 32 for stack, _ in stacks for frame in stack for c in frame)
    for verb in (("dump",), ("attach", "-l", 0, "-d", 0.2)):
        text = tachyscope(*verb, target.pid).out
        bad = {c for c in text if (ord(c) < 32 and c != "\n") or 127 <= ord(c) < 160 or c in "\u202e\u2028"}
        assert not bad, (bad, text)
        assert "\u0438\u043c\u044f" in text


@pytest.mark.pythons("all")
def test_fifty_thousand_frames(python, start):
    depth = 50_000
    target = start(python, "deep.py", depth, seconds=120)
    told = dump(target.pid)
    thread = next(t for t in threads_of(told) if t["name"] == "deep")
    names = functions(thread)
    assert len(thread["frames"]) == len(names), "marked as cut"
    assert names[0] == "park" and names[1:depth + 2] == ["down"] * (depth + 1)
    assert [n.rpartition(".")[2] for n in names[depth + 2:]] == ["run", "_bootstrap_inner", "_bootstrap"]
    lines = [f["line"] for f in thread["frames"]][1:depth + 2]
    assert lines[0] == 11 and set(lines[1:]) == {10}


@pytest.mark.pythons("minors", since=(3, 12))
def test_a_stack_past_the_bound_is_marked_as_cut(python, start):
    depth = 150_000
    target = start(python, "deep.py", depth, seconds=120)
    told = dump(target.pid)
    thread = next(t for t in threads_of(told) if t["name"] == "deep")
    names = functions(thread)
    assert len(names) >= 100_000 and names[0] == "park" and set(names[1:100_000]) == {"down"}
    if len(names) < depth + 5:
        assert any(f["kind"] != "python" for f in thread["frames"]), "cut in silence"


def test_deep_stacks_in_a_profile(python, start):
    target = start(python, "deep.py", 5_000)
    stacks, stats, _ = profile("attach", "-r", 100, "-d", 0.5, target.pid)
    deepest = max(stacks, key=lambda s: len(s[0]))[0]
    assert [parts(f)[0] for f in deepest].count("down") == 5001
    assert stats["samples_lost"] == 0
