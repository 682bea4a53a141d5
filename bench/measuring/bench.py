"""What every measure is given: how thorough to be, the Pythons, the tools."""
import os
import sys
import tempfile
import time

import common

from .peers import Peers
from .processes import ToolFailed
from .tools import Floor, Tachyscope


class Bench:
    def __init__(self, quick, minors):
        self.quick, self.minors = quick, minors
        self.ours = Tachyscope()
        self.pythons = {python.version[1]: python for python in common.one_of_each()}
        self.peers = Peers()
        self.scratch = tempfile.TemporaryDirectory(prefix="tachyscope-bench-")
        self.floor = self.build_floor()

    def build_floor(self):
        """None without a compiler; the peers' line says so."""
        try:
            return Floor(self.scratch.name)
        except (OSError, ToolFailed) as problem:
            self.peers.told.append(f"the floor: missing ({problem})")
            return None

    def choose(self, full, quick):
        return quick if self.quick else full

    def wanted(self, report, *minors):
        """The Pythons of these minor versions that are here and were asked for; a note for those missing."""
        for minor in minors:
            if self.minors and minor not in self.minors:
                continue
            if minor in self.pythons:
                yield self.pythons[minor]
            else:
                report.note(f"3.{minor}: not on this machine")

    def tachyon_raw_for(self, python):
        raw = self.peers.tachyon_raw
        return raw if raw and not raw.why_not(python) else None

    def say(self, text):
        print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def busy_percent(seconds=0.5):
    """How busy the machine is while we do nothing."""
    def times():
        with open("/proc/stat", encoding="utf-8") as file:
            words = [int(word) for word in file.readline().split()[1:9]]
        return sum(words), words[3] + words[4]
    all_before, idle_before = times()
    time.sleep(seconds)
    all_after, idle_after = times()
    return 100 * (1 - (idle_after - idle_before) / max(1, all_after - all_before))


def load():
    return f"the machine was {busy_percent():.0f} % busy with other things, load {os.getloadavg()[0]:.1f}"
