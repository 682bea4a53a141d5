"""Child processes that always end in time, and what they cost."""
import contextlib
import os
import re
import select
import signal
import subprocess
import tempfile
import time

GRACE_S = 20  # what a tool may take beyond the time it was asked to sample
STOP_S = 10  # from SIGINT to the end
LOOK_S = 0.2  # from one look at its memory to the next


class ToolFailed(Exception):
    """One line that says which tool failed, and how."""


class Finished:
    def __init__(self, status, wall_s, usage, peak_kb):
        self.status, self.wall_s, self.peak_kb = status, wall_s, peak_kb
        self.cpu_s = usage.ru_utime + usage.ru_stime
        self.out = self.err = ""


class Child:
    """A process with its output in files, which nobody needs to drain."""

    def __init__(self, argv):
        self.argv = [str(word) for word in argv]
        self.out, self.err = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        self.finished = None
        self.peak_kb = 0
        self.began = time.perf_counter()
        self.process = subprocess.Popen(self.argv, stdin=subprocess.DEVNULL, stdout=self.out, stderr=self.err)
        self.pid = self.process.pid
        self.pidfd = os.pidfd_open(self.pid)

    def _look_at_memory(self):
        """The peak from /proc: ru_maxrss begins with what the process had that started this one."""
        with contextlib.suppress(OSError), open(f"/proc/{self.pid}/status", encoding="utf-8") as file:
            match = re.search(r"VmHWM:\s+(\d+)", file.read())
            if match:  # none: it is a zombie
                self.peak_kb = max(self.peak_kb, int(match.group(1)))

    def _is_over_within(self, seconds):
        return bool(select.select([self.pidfd], [], [], max(0, seconds))[0])

    def _reap(self):
        wall_s = time.perf_counter() - self.began
        _, status, usage = os.wait4(self.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        self.finished = Finished(self.process.returncode, wall_s, usage, self.peak_kb)
        os.close(self.pidfd)
        self.finished.out, self.finished.err = read_and_close(self.out), read_and_close(self.err)
        return self.finished

    def errors_so_far(self):
        """What was written to stderr until now; does not disturb the writer."""
        size = os.fstat(self.err.fileno()).st_size
        return os.pread(self.err.fileno(), size, 0).decode("utf-8", "replace")

    def has_ended(self):
        return self.finished is not None or self._is_over_within(0)

    def wait(self, seconds):
        """Its end; a kill after `seconds`, and ToolFailed."""
        if self.finished:
            return self.finished
        deadline = time.perf_counter() + seconds
        while not self._is_over_within(min(LOOK_S, deadline - time.perf_counter())):
            if time.perf_counter() >= deadline:
                os.kill(self.pid, signal.SIGKILL)
                self._reap()
                raise ToolFailed(f"{self.told()} did not end within {seconds:.0f} s")
            self._look_at_memory()
        return self._reap()

    def stop(self):
        """SIGINT, as a user would."""
        self._look_at_memory()
        os.kill(self.pid, signal.SIGINT)  # not reaped yet: the pid is its own
        return self.wait(STOP_S)

    def end(self):
        """Whatever happened before: gone afterwards."""
        if self.finished is None:
            os.kill(self.pid, signal.SIGKILL)
            self._reap()

    def told(self):
        return os.path.basename(self.argv[0] if self.argv[0] != "chroot" else self.argv[2])


def read_and_close(file):
    with file:
        file.seek(0)
        return file.read().decode("utf-8", "replace")


def run(argv, seconds):
    """A whole run that ought to take `seconds`; ToolFailed unless it ends well and in time."""
    child = Child(argv)
    try:
        finished = child.wait(seconds + GRACE_S)
    finally:
        child.end()
    check(child, finished)
    return finished


def check(child, finished):
    if finished.status != 0:
        lines = [line for line in finished.err.splitlines() if line.strip()] or ["no word on stderr"]
        raise ToolFailed(f"{child.told()} ended with {finished.status}: {lines[-1]}")
