"""memory: ten million samples at full speed; resident memory and file descriptors must stay as they are."""
import os
import re
import time

import common

from .. import targets
from ..processes import Child, ToolFailed
from ..report import Figure, Report, at_least, at_most

LOOK_S = 0.5
SAMPLES = 10_000_000
LONGEST_S = 400
WARM = 0.1  # of the samples: memory may grow till then
GROWTH_KB = 256

HOW = ("`-r max` on a busy thread of short calls until {samples:,} samples were taken (at most {longest} s); "
       "resident memory and open files looked at twice a second. *Growth*: from the first {warm:.0%} of the "
       "samples to the end.")


class Look:
    def __init__(self, pid, samples):
        with open(f"/proc/{pid}/status", encoding="utf-8") as file:
            self.rss_kb = int(re.search(r"VmRSS:\s+(\d+)", file.read()).group(1))
        self.n_files, self.samples = len(os.listdir(f"/proc/{pid}/fd")), samples


def memory(bench):
    samples, longest = bench.choose((SAMPLES, LONGEST_S), (300_000, 30))
    report = Report("Memory", HOW.format(samples=samples, longest=longest, warm=WARM))
    for python in bench.wanted(report, 15):
        bench.say(f"memory: {python}")
        label = {"Python": python.text_version}
        try:
            with targets.program(python, "chains.py", "call", 5) as target:
                looks = watch(target, samples, longest)
            report.add({**label, **figures(looks, samples)})
        except (ToolFailed, AssertionError) as problem:
            report.add(label, failed=str(problem))
    return report


def watch(target, samples, longest):
    child = Child([common.BINARY, "attach", "-r", "max", "-d", longest, "--realtime-stats", "--collapsed",
                   "-o", os.path.join(target.folder, "out.txt"), target.pid])
    looks, deadline = [], time.monotonic() + longest
    try:
        while (not looks or looks[-1].samples < samples) and time.monotonic() < deadline:
            time.sleep(LOOK_S)
            if child.has_ended():
                raise ToolFailed(f"it ended too early: {child.wait(1).err[-200:].strip()}")
            looks.append(Look(child.pid, samples_so_far(child)))
        child.stop()
    finally:
        child.end()
    return looks


def samples_so_far(child):
    told = re.findall(r"(\d+) samples", child.errors_so_far())
    return int(told[-1]) if told else 0


def figures(looks, samples):
    warm = [look for look in looks if look.samples >= WARM * looks[-1].samples]
    n_files = [look.n_files for look in warm]
    return {
        "samples": Figure(looks[-1].samples, 0, at_least(samples, 0)),
        "memory when warm, KB": Figure(warm[0].rss_kb, 0),
        "at the end, KB": Figure(warm[-1].rss_kb, 0),
        "growth, KB": Figure(max(look.rss_kb for look in warm) - warm[0].rss_kb, 0, at_most(GROWTH_KB)),
        "files, least": Figure(min(n_files), 0),
        "files, growth": Figure(max(n_files) - min(n_files), 0, at_most(0)),
    }
