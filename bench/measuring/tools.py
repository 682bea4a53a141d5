"""The profilers: how each is called, and how what it wrote is read. CPU times are what the kernel says."""
import collections
import contextlib
import json
import os
import re
import shutil
import signal
import tempfile
import time

import common

from . import stacks
from .processes import Child, ToolFailed, run

MAX = "max"
LONG_S = 600  # a run that is going to be stopped


class Run:
    """What one run of a tool gave."""

    def __init__(self, seconds, finished, attempted, lost, found, late=0, stats=None):
        self.seconds, self.attempted, self.lost, self.late = seconds, attempted, lost, late
        self.cpu_s = finished.cpu_s if finished else None
        self.peak_kb = finished.peak_kb if finished else None
        self.stacks, self.stats = found, stats or {}

    @property
    def captured(self):
        return self.attempted - self.lost

    @property
    def rate(self):
        return self.captured / self.seconds if self.seconds else 0.0

    @property
    def cpu_us(self):
        """CPU per sample, start and output included."""
        return 1e6 * self.cpu_s / self.captured if self.captured else None

    @property
    def readv_per_sample(self):
        return self.stats["syscalls"]["process_vm_readv"] / max(1, self.attempted)

    @property
    def lost_percent(self):
        return 100 * self.lost / self.attempted if self.attempted else 100.0

    @property
    def late_percent(self):
        return 100 * self.late / max(1, self.attempted + self.late)

    @property
    def salvaged_percent(self):
        """Samples of which frames on top had to be dropped."""
        return 100 * self.stats["salvaged"] / max(1, self.captured)

    @property
    def ridden_percent(self):
        return 100 * self.stats["snapshots"]["ride"] / max(1, self.captured)


def merged(runs):
    """All runs of an alternation as one: for shares. Speeds are medians over the runs instead."""
    whole = Run(0, None, 0, 0, collections.Counter())
    whole.cpu_s, whole.peak_kb = 0, 0
    whole.stats = {"snapshots": collections.Counter(), "syscalls": collections.Counter(), "salvaged": 0}
    for one in runs:
        for name in ("seconds", "attempted", "lost", "late", "cpu_s"):
            setattr(whole, name, getattr(whole, name) + getattr(one, name))
        whole.peak_kb = max(whole.peak_kb, one.peak_kb)
        whole.stacks.update(one.stacks)
        for group in ("snapshots", "syscalls"):
            whole.stats[group].update(one.stats.get(group, {}))
        whole.stats["salvaged"] += one.stats.get("salvaged", 0)
    return whole


class Tool:
    name = ""
    folder_root = ""  # of the tool's own file system

    def why_not(self, python):
        """Why it cannot read that Python; "" if it can."""
        return ""

    @contextlib.contextmanager
    def folder(self):
        """(a folder for output, the same as the tool calls it)"""
        with tempfile.TemporaryDirectory(prefix="tachyscope-bench-", dir=self.folder_root + "/tmp") as path:
            yield path, path[len(self.folder_root):]

    def sample(self, target, rate, seconds):
        with self.folder() as (path, inside):
            finished = run(self.argv(target.pid, rate, seconds, inside), seconds)
            return self.read(finished, path, seconds)

    @contextlib.contextmanager
    def in_background(self, target, rate):
        """Sampling until the block ends."""
        with self.folder() as (path, inside):
            child = Child(self.argv(target.pid, rate, LONG_S, inside))
            try:
                yield child
                if child.has_ended():
                    finished = child.wait(1)
                    raise ToolFailed(f"{child.told()} ended too early: {finished.err[-200:].strip()}")
                check_stopped(child, child.stop())
            finally:
                child.end()


def check_stopped(child, finished):
    """Tools may end as they like after a SIGINT, but of no other signal."""
    if finished.status < 0 and finished.status != -signal.SIGINT:
        raise ToolFailed(f"{child.told()} died of signal {-finished.status}")


class Tachyscope(Tool):
    def __init__(self, snapshot="", options=()):
        self.options = [*(["--snapshot", snapshot] if snapshot else []), *options]
        self.name = " ".join(["tachyscope", *self.options])

    def argv(self, pid, rate, seconds, folder):
        return [common.BINARY, "attach", "-r", rate, "-d", seconds, "--collapsed", "-o", folder + "/out.txt",
                "--stats-json", folder + "/stats.json", *self.options, pid]

    def read(self, finished, folder, seconds):
        with open(folder + "/stats.json", encoding="utf-8") as file:
            stats = json.load(file)
        found = stacks.read_collapsed(folder + "/out.txt", stacks.NAME_FIRST)
        return Run(stats["duration_s"], finished, stats["samples_attempted"], stats["samples_lost"], found,
                   late=stats["samples_late"], stats=stats)


class Tachyon(Tool):
    """python3.15 -m profiling.sampling, with its collectors and its writer."""
    name = "Tachyon, command line"

    def __init__(self, python):
        self.python, self.folder_root = python, python.root

    def why_not(self, python):
        return "" if python.version[:2] == self.python.version[:2] else "reads its own version only"

    def argv(self, pid, rate, seconds, folder):
        return [*self.python.argv, "-m", "profiling.sampling", "attach", "-a", "-r", 1000000 if rate == MAX else rate,
                "-d", max(1, round(seconds)), "--collapsed", "-o", folder + "/out.txt", pid]

    def read(self, finished, folder, seconds):
        told = re.search(r"Captured ([\d.,]+) samples in ([\d.]+) seconds", finished.out)
        errors = re.search(r"Error rate: ([\d.]+)", finished.out)
        if not told:
            raise ToolFailed("Tachyon did not say how many samples it took")
        attempted = int(re.sub(r"\D", "", told.group(1)))
        lost = round(attempted * float(errors.group(1)) / 100) if errors else 0
        found = stacks.read_collapsed(folder + "/out.txt", stacks.NAME_BETWEEN)
        return Run(float(told.group(2)), finished, attempted, lost, found)


class Austin(Tool):
    """Debian's, from the sid root. A line is a sample; the number is its time."""
    name = "Austin"
    PATH = "/opt/austin/usr/bin/austin"
    NEWEST = (3, 13)

    def __init__(self, root):
        self.folder_root = root

    def why_not(self, python):
        return "" if python.version[:2] <= self.NEWEST else "supports up to 3.%d" % self.NEWEST[1]

    def argv(self, pid, rate, seconds, folder):
        interval_us = 1 if rate == MAX else max(1, round(1e6 / rate))
        return ["chroot", self.folder_root, self.PATH, "-i", interval_us, "-x", max(1, round(seconds)),
                "-o", folder + "/out.txt", "-p", pid]

    def read(self, finished, folder, seconds):
        plain = re.sub(r"\x1b\[[\d;]*m", "", finished.out + finished.err)
        errors = re.search(r"Error rate\s*:\s*(\d+)/(\d+)", plain)
        duration = re.search(r"Sampling duration\s*:\s*([\d.]+) s", plain)
        if not errors or not duration:
            raise ToolFailed("Austin did not say how many samples it took")
        found = stacks.read_collapsed(folder + "/out.txt", stacks.NAME_BETWEEN, weigh=lambda number: 1)
        return Run(float(duration.group(1)), finished, int(errors.group(2)), int(errors.group(1)), found)


class PySpy(Tool):
    """Stops the target for each sample, which is its default."""
    name = "py-spy"

    def __init__(self, path):
        self.path = path

    def argv(self, pid, rate, seconds, folder):
        return [self.path, "record", "-p", pid, "-r", 1000000 if rate == MAX else rate, "-d", max(1, round(seconds)),
                "-f", "raw", "-o", folder + "/out.txt"]

    def sample(self, target, rate, seconds):
        """At "max" it would take all the samples that it is behind with: stopped by hand."""
        if rate != MAX:
            return super().sample(target, rate, seconds)
        with self.folder() as (path, inside):
            child = Child(self.argv(target.pid, rate, LONG_S, inside))
            try:
                time.sleep(seconds)
                finished = child.stop() if not child.has_ended() else child.wait(1)
            finally:
                child.end()
            return self.read(finished, path, finished.wall_s)

    def read(self, finished, folder, seconds):
        told = re.search(r"Samples: (\d+) Errors: (\d+)", finished.out + finished.err)
        if not told:
            lines = (finished.err or finished.out).strip().splitlines() or ["it wrote nothing"]
            raise ToolFailed(f"py-spy: {lines[-1]}")
        samples, errors = map(int, told.groups())
        found = stacks.read_collapsed(folder + "/out.txt", stacks.NAME_FIRST)
        return Run(seconds, finished, samples + errors, errors, found)


class Loop:
    """A bare loop that prints JSON: attempts, errors, wall_s, cpu_s."""

    def loop(self, argv, seconds):
        told = json.loads(run(argv, seconds).out)
        one = Run(told["wall_s"], None, told["attempts"], told["errors"], collections.Counter())
        one.cpu_s, one.peak_kb, one.impossible = told["cpu_s"], 0, told.get("impossible", 0)
        return one


class TachyonRaw(Loop):
    name = "Tachyon, RemoteUnwinder"

    def __init__(self, python):
        self.python = python
        with open(os.path.join(common.TOP, "bench/tachyon_raw.py"), encoding="utf-8") as file:
            self.text = file.read()

    def why_not(self, python):
        return "" if python.version[:2] == self.python.version[:2] else "reads its own version only"

    def sample(self, target, seconds, is_truth=False):
        argv = [*self.python.argv, "-c", self.text, target.pid, seconds, *(["--truth"] if is_truth else [])]
        return self.loop(argv, seconds)


def impossible_in_10000(judged):
    """Of runs of TachyonRaw with is_truth; None without any."""
    return 1e4 * sum(run.impossible for run in judged) / max(1, merged(judged).captured) if judged else None


class Floor(Loop):
    """A bare loop of process_vm_readv over as many segments and bytes as `like` read per sample."""
    name = "floor"

    def __init__(self, folder):
        self.path = os.path.join(folder, "floor")
        compiler = os.environ.get("CC") or shutil.which("cc") or "gcc"
        run([compiler, "-O2", "-o", self.path, os.path.join(common.TOP, "bench/floor.c")], 60)

    def sample(self, target, seconds, like):
        n_segments, n_bytes = per_sample(like)
        return self.loop([self.path, target.pid, seconds, n_segments, n_bytes], seconds)


def per_sample(like):
    """(segments, bytes) that one sample read."""
    n = max(1, like.attempted)
    n_segments = max(1, round(like.stats["batched_read_segments_requested"] / n))
    return n_segments, max(n_segments, round(like.stats["bytes_read"] / n))
