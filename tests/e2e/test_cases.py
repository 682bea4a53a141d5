"""Small programs that other tools were wrong about, and the right answers."""
import pytest

from harness import SLOW, functions, parts, profile, quiet, tachyscope, threads_of, total, wait_until


def once(target, function):
    """The main thread, once `function` is on its stack. The program may not be a Python yet."""
    def look():
        result = tachyscope("dump", "--json", target.pid, status=None)
        threads = threads_of(result.json()) if result.status == 0 else []
        return next((t for t in threads if t["main"] and function in functions(t)), None)
    return wait_until(look, seconds=90, what=f"a call of {function}")


@pytest.mark.alone
def test_c03_deep_recursion(python, start):
    target = start(python, "c03.py", wait_for=None)
    wait_until(lambda: len(functions(once(target, "down"))) == 3002, seconds=20, what="the deep stack")
    results = [tachyscope("dump", "--json", target.pid) for _ in range(5)]
    for result in results:
        thread = next(t for t in threads_of(result.json()) if t["main"])
        assert functions(thread) == ["down"] * 3001 + ["<module>"]
        lines = [f["line"] for f in thread["frames"]]
        assert lines[0] == 7 and set(lines[1:-1]) == {8} and lines[-1] == 9
        assert {f["file"] for f in thread["frames"]} == {target.path}
    quiet(min(result.seconds for result in results) < 0.050 * SLOW, results)


def traceback_line(python, text, start):
    """The line of main() in the version's own traceback of c04.py, with a fault in place of the sum."""
    program = f"""
import sys, traceback
text = {text!r}.replace("sum(range(3000000))", "sum(range(1/0))")
try:
    exec(compile(text, "c04.py", "exec"))
except ZeroDivisionError as error:
    print("line", [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.name == "main"][0], flush=True)
sys.stdin.readline()
"""
    return int(start(python, program, wait_for="line").ready)


@pytest.mark.alone
def test_c04_lines_of_calls_over_several_lines(python, start):
    target = start(python, "c04.py", wait_for=None)
    once(target, "f")
    with open(target.folder + "/c04.py", encoding="utf-8") as file:
        wanted = traceback_line(python, file.read(), start)
    assert 12 <= wanted <= 14
    stacks, _, _ = profile("attach", "--lines", "-r", 500, "-d", 1.5 * SLOW, target.pid)
    assert total(stacks) > 60
    in_f = in_sum = 0
    for stack, count in stacks:
        rows = [parts(frame) for frame in stack]
        assert rows[0][0] == "<module>" and rows[0][2] == 15, stack
        assert rows[1][0] == "main" and 11 <= rows[1][2] <= 14, stack
        if len(rows) == 3:
            # a call that has just begun is at the line of its def: once in some thousand samples on a busy machine
            assert rows[2][0] == "f" and (rows[2][2] == 3 or 6 <= rows[2][2] <= 9), stack
            assert rows[1][2] == wanted, stack
            in_f += count
            in_sum += count * (rows[2][2] == 8)
    quiet(in_f > 0.9 * total(stacks) and in_sum > 0.98 * in_f, stacks)


def test_c05_a_very_large_line_table(python, start):
    target = start(python, "c05.py", wait_for=None)
    once(target, "big")
    stacks, _, _ = profile("attach", "--lines", "-r", 1000, "-d", 1.5 * SLOW, target.pid)
    lines = {}
    for stack, count in stacks:
        frames = [parts(frame) for frame in stack]
        assert [frame[0] for frame in frames] == ["<module>", "big"], stack
        name, file, line = frames[1]
        assert file == "big_generated.py" and 3 <= line <= 60003, stack
        lines[line] = lines.get(line, 0) + count
    assert total(stacks) > 100
    buckets = {line * 10 // 60004 for line in lines}
    assert len(buckets) == 10, sorted(buckets)
    quiet(max(lines.values()) < 0.2 * total(stacks), lines)


@pytest.mark.pythons("minors", since=(3, 11))
def test_c07_qualified_names(python, start):
    target = start(python, "c07.py", wait_for=None)
    once(target, "B.run1.<locals>.run")
    stacks, _, _ = profile("attach", "-r", 500, "-d", 1 * SLOW, target.pid)
    names = {tuple(parts(frame)[0] for frame in stack) for stack, _ in stacks}
    allowed = {
        ("<module>", "A.run"),
        ("<module>", "A.run", "A.run.<locals>.<lambda>"),
        ("<module>", "A.run", "B.run1"),
        ("<module>", "A.run", "B.run1", "B.run1.<locals>.run"),
    }
    assert names <= allowed, names - allowed
    assert {n for n in names if len(n) != 2 and n[-1] != "B.run1"} == {n for n in allowed if len(n) != 2 and n[-1] != "B.run1"}


@pytest.mark.pythons("minors", until=(3, 10))
def test_c07_plain_names_before_3_11(python, start):
    target = start(python, "c07.py", wait_for=None)
    once(target, "<lambda>")
    stacks, _, _ = profile("attach", "-r", 500, "-d", 1 * SLOW, "--lines", target.pid)
    seen = {tuple(parts(frame)[::2] for frame in stack) for stack, _ in stacks}
    allowed = {
        (("<module>", 9), ("run", 4)),
        (("<module>", 9), ("run", 4), ("<lambda>", 4)),
        (("<module>", 9), ("run", 4), ("run1", 8)),
        (("<module>", 9), ("run", 4), ("run1", 7)),
        (("<module>", 9), ("run", 4), ("run1", 8), ("run", 7)),
    }
    assert seen <= allowed, seen - allowed
    assert {s for s in seen if s[-1] in (("<lambda>", 4), ("run", 7))} == {
        s for s in allowed if s[-1] in (("<lambda>", 4), ("run", 7))}
