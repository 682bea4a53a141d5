"""A program that never holds still: no crash, no error of ours, no leak, no target harmed."""
import os
import subprocess

import pytest

from harness import BINARY, SANITIZED, SLOW, dump, profile, tachyscope, threads_of, total

N_DUMPS = 500
QUIET = {"ASAN_OPTIONS": "detect_leaks=1:abort_on_error=0:exitcode=99",
         "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1:exitcode=98"}


@pytest.mark.sanitized
@pytest.mark.pythons("minors")
def test_dumps_under_sanitizers(python, start):
    """500 in all, shared out over the versions."""
    target = start(python, "churn.py")
    environment = dict(os.environ, **QUIET)
    n = N_DUMPS // 8 + 1
    seen = set()
    for i in range(n):
        verb = ["dump", "--json"] if i % 2 else ["dump"]
        result = tachyscope(*verb, target.pid, binary=SANITIZED, env=environment, seconds=60)
        assert result.err == "", result
        if i % 2:
            seen.add(str([thread["frames"] for thread in threads_of(result.json())]))
    assert len(seen) > 1, "the program held still"


@pytest.mark.sanitized
@pytest.mark.pythons("minors")
def test_attach_under_sanitizers(python, start):
    target = start(python, "churn.py")
    environment = dict(os.environ, **QUIET)
    stacks, stats, result = profile("attach", "-r", 500, "-d", 2, target.pid, binary=SANITIZED, env=environment, seconds=60)
    assert result.err == "" or len(result.err.splitlines()) == 1, result
    assert total(stacks) > 60 and stats["threads_seen"] > 10


@pytest.mark.sanitized
def test_every_stack_shape_under_sanitizers(python, start):
    target = start(python, "strings.py", wait_for="parked")
    environment = dict(os.environ, **QUIET)
    for args in (["dump"], ["dump", "--json"], ["attach", "-d", "0.3"], ["attach", "-d", "0.3", "--collapsed"], ["ps"]):
        words = args if args == ["ps"] else [*args, target.pid]
        result = tachyscope(*words, binary=SANITIZED, env=environment, seconds=60)
        assert "Sanitizer" not in result.err and "runtime error" not in result.err, result


def test_dumps_that_do_not_disturb(debian, start):
    """Twenty at once, of one target."""
    target = start(debian, "churn.py")
    many = [subprocess.Popen([BINARY, "dump", "--json", str(target.pid)], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE) for _ in range(20)]
    for process in many:
        out, err = process.communicate(timeout=30 * SLOW)
        assert process.returncode == 0 and err == b"" and len(out) > 100
    assert target.process.poll() is None
    assert dump(target.pid)["pid"] == target.pid
