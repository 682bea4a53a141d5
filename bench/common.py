"""What the benchmarks share: targets and interpreters as in the end-to-end tests, timing, Markdown."""
import argparse
import os
import platform
import statistics
import subprocess
import sys
import time

TOP = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.join(TOP, "tests/e2e"))
sys.dont_write_bytecode = True
# build-bench/tachyscope is what `make bench` builds: optimised, without assertions or sanitizers
os.environ.setdefault("TACHYSCOPE", os.path.join(TOP, "build-bench/tachyscope"))

import harness  # noqa: E402

harness.heed_signals()

BINARY = harness.BINARY


def python(name):
    """The interpreter with this id ("3.15-sid"), or None."""
    return next((p for p in harness.PYTHONS if p.id == name), None)


def one_of_each():
    """One release build of every version, oldest first."""
    best = {}
    for p in sorted(harness.PYTHONS, key=lambda p: (p.debug, p.is_embedded, len(p.id))):
        if p.version >= (3, 8):
            best.setdefault(p.version[1], p)
    return [best[minor] for minor in sorted(best)]


def number_wanted(doc, name, default):
    """The one number that the user may give: of the default's type."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(name, nargs="?", type=type(default), default=default, help=f"default {default:g}")
    return getattr(parser.parse_args(), name)


def timed(argv):
    """Seconds of one whole process; ends us when it fails."""
    began = time.perf_counter()
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    seconds = time.perf_counter() - began
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(argv)} ended with {done.returncode}: {done.stderr.decode(errors='replace')}")
    return seconds


def memory_kb(argv):
    """The largest resident set of a run. Not ru_maxrss, which a child inherits from its parent."""
    process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return harness.peak_memory_kb(process)


def alternate(commands, rounds):
    """Run the commands in turn, `rounds` times; [[seconds, ...] per command]. Machines drift."""
    seconds = [[] for _ in commands]
    for argv in commands:
        timed(argv)  # warm
    for _ in range(rounds):
        for i, argv in enumerate(commands):
            seconds[i].append(timed(argv))
    return seconds


def median(values):
    return statistics.median(values)


def table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    print(flush=True)


def machine():
    model = "unknown processor"
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    return f"{platform.system()} {platform.release().split('-')[0]}, {os.cpu_count()} processors ({model})"
