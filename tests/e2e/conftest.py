"""Interpreters as parameters, targets that are always cleaned up, and tachyscope with a time limit."""
import contextlib
import os
import signal
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))

import harness  # noqa: E402

MINORS = range(8, 16)
TEST_MARK = "TACHYSCOPE_TEST"


def chosen(which, since, until):
    """(interpreters, minor versions that are missing on this machine)"""
    if which == "old":
        return [p for p in harness.PYTHONS if p.version < (3, 8)], []
    wanted = [m for m in MINORS if since <= (3, m) <= until]
    found = [p for p in harness.PYTHONS if p.version[0] == 3 and p.version[1] in wanted]
    missing = [m for m in wanted if not any(p.version[1] == m for p in found)]
    if which == "minors":
        best = {}
        for p in sorted(found, key=lambda p: (p.debug, p.is_embedded, len(p.id))):
            best.setdefault(p.version[1], p)
        found = list(best.values())
    return found, missing


def pytest_generate_tests(metafunc):
    if "python" not in metafunc.fixturenames:
        return
    marker = metafunc.definition.get_closest_marker("pythons")
    which = marker.args[0] if marker and marker.args else "minors"
    more = marker.kwargs if marker else {}
    found, missing = chosen(which, more.get("since", (3, 8)), more.get("until", (3, 99)))
    found.sort(key=lambda p: (p.version[:2], p.id))
    parameters = [pytest.param(p, id=p.id) for p in found]
    if which == "old" and not found:
        missing = [7]
    for minor in missing:
        reason = f"this machine has no Python 3.{minor}"
        parameters.append(pytest.param(None, id=f"3.{minor}-missing", marks=pytest.mark.skip(reason=reason)))
    metafunc.parametrize("python", parameters)


def pytest_sessionstart(session):
    harness.heed_signals()
    if not os.path.exists(harness.BINARY):
        pytest.exit(f"{harness.BINARY} is not there: run make first", returncode=3)
    missing = [m for m in MINORS if not any(p.version[:2] == (3, m) for p in harness.PYTHONS)]
    if missing and os.environ.get("CI") == "true":
        pytest.exit("CI=true, and there is no Python " + ", ".join(f"3.{m}" for m in missing), returncode=3)


# whole files that measure: the shares of stacks, what is torn
MEASURING = {"test_truth.py", "test_caches.py"}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.name in MEASURING:
            item.add_marker(pytest.mark.alone)
    if os.path.exists(harness.SANITIZED):
        return
    skip = pytest.mark.skip(reason=f"{harness.SANITIZED} is not there: run make test")
    for item in items:
        if item.get_closest_marker("sanitized"):
            item.add_marker(skip)


def processes_of(test):
    """Who was started, by whomever, while this test ran: the environment goes down to all of them."""
    mark = f"\0{TEST_MARK}={test}\0".encode()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:
            if int(pid) != os.getpid() and mark in b"\0" + file.read():
                yield int(pid)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    os.environ[TEST_MARK] = f"{os.getpid()}-{id(item)}"
    yield
    del os.environ[TEST_MARK]


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_teardown(item):
    """Whatever a test that failed has left running would take the processor from all that follow."""
    yield
    for pid in processes_of(f"{os.getpid()}-{id(item)}"):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@pytest.fixture
def start():
    """start(python, program, *args, ...) -> Target; all are ended, and checked for harm, at the end."""
    targets = []

    def start(*args, **more):
        targets.append(harness.Target(*args, **more))
        return targets[-1]

    yield start
    harms = [harm for target in targets for harm in target.end()]
    assert not harms, harms


@pytest.fixture(scope="session")
def debian():
    """The machine's own python3, for what does not depend on the version."""
    mine = [p for p in harness.PYTHONS if p.version >= (3, 8) and p.argv == ["/usr/bin/python3"]]
    assert mine, "no /usr/bin/python3"
    return mine[0]
