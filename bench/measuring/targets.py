"""The programs that are measured on, and how fast they get on."""
import contextlib
import os
import struct
import time

import common

from .processes import ToolFailed

PROGRAMS = os.path.join(common.TOP, "bench/programs")
WORK = os.path.join(PROGRAMS, "work.py")


@contextlib.contextmanager
def looked_after(target):
    """Ends the target; ToolFailed when something was done to it: ended, left stopped or traced."""
    try:
        yield target
        fate = fate_of(target)
        if fate:
            raise ToolFailed(fate)
    except ToolFailed as problem:
        fate = fate_of(target)
        raise ToolFailed(f"{problem} ({fate})" if fate and fate != str(problem) else str(problem))
    finally:
        target.end()


def fate_of(target):
    status = target.process.poll()
    if status is not None:
        return f"the target ended with {status}: {target.stderr()[-100:].strip() or 'nothing on stderr'}"
    return "; ".join(target.harm())


@contextlib.contextmanager
def program(python, name, *args):
    """A running bench/programs/NAME."""
    with open(os.path.join(PROGRAMS, name), encoding="utf-8") as file:
        text = file.read()
    with looked_after(common.harness.Target(python, text, *args, helpers=(WORK,))) as target:
        time.sleep(0.3)  # to come into its stride
        yield target


@contextlib.contextmanager
def truth(python, n):
    """A running truth.py, which does not say when it is ready."""
    with looked_after(common.harness.Target(python, "truth.py", n, helpers=(), wait_for=None)) as target:
        common.harness.wait_until(lambda: is_in(target, "main"), what=f"the main loop of truth.py on {python}")
        time.sleep(0.3)
        yield target


def is_in(target, function):
    result = common.harness.tachyscope("dump", "--json", target.pid, status=None)
    if result.status < 0:
        raise ToolFailed(f"tachyscope dump died of signal {-result.status}")
    if result.status != 0:
        return False
    threads = common.harness.threads_of(result.json())
    return any(function in common.harness.functions(thread) for thread in threads)


def work_done(target):
    with open(os.path.join(target.folder, "work"), "rb") as file:
        return struct.unpack("Q", file.read(8))[0]


def cpu_seconds(target):
    """What the target's threads have had of the processors until now."""
    total_ns = 0
    for tid in os.listdir(f"/proc/{target.pid}/task"):
        with contextlib.suppress(OSError), open(f"/proc/{target.pid}/task/{tid}/schedstat", encoding="utf-8") as file:
            total_ns += int(file.read().split()[0])
    return total_ns / 1e9


class Work:
    """The target's own work during the next `seconds`: per second, and per second of its CPU."""

    def __init__(self, target, seconds):
        done, cpu, began = work_done(target), cpu_seconds(target), time.perf_counter()
        time.sleep(seconds)
        done = work_done(target) - done
        self.per_second = done / (time.perf_counter() - began)
        self.per_cpu_second = done / max(1e-9, cpu_seconds(target) - cpu)


def kept(before, work, after):
    """What is left of the work, compared with the mean of before and after."""
    return 2 * work / max(1e-9, before + after)
