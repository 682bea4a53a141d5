"""slowdown: what the target gets done per second with and without a profiler, in short alternations."""
import statistics
import time

from .. import targets
from ..alternation import median
from ..processes import ToolFailed
from ..report import Figure, Report
from ..tools import Tachyscope

RATES = (1000, 10000)
LEAF_LOOPS = 50
START_S = 1.0  # what the slowest tool needs to start: Tachyon imports a lot

HOW = ("A busy thread of short calls which counts its work; {rounds} alternations of {turn:g} s without a "
       "profiler, then with one (started {start:g} s before). *Work*: what is done with it, in % of what is done "
       "without just before and just after: median and quartiles. *Costs*: what a sample takes from the target by "
       "that. *Per CPU second*: the same of the work per second that the target was on a processor, which leaves out "
       "the time for which it waited, for us as for others.")


def slowdown(bench):
    turn_s, rounds = bench.choose((1, 15), (0.5, 4))
    report = Report("What the target notices", HOW.format(turn=turn_s, rounds=rounds, start=START_S))
    for python in bench.wanted(report, 12, 15):
        tools = [tool for tool in [bench.ours, Tachyscope("parallel"), Tachyscope("stop"), *bench.peers.whole_tools()]
                 if not tool.why_not(python)]
        for rate in RATES:
            bench.say(f"slowdown: {python} at {rate} Hz")
            measure_one(report, bench, python, tools, rate, turn_s, rounds)
    return report


def measure_one(report, bench, python, tools, rate, turn_s, rounds):
    label = {"Python": python.text_version, "Hz": str(rate)}
    try:
        with targets.program(python, "chains.py", "call", LEAF_LOOPS) as target:
            kept, failed = alternate_work(target, tools, rate, turn_s, rounds)
    except AssertionError as problem:
        report.add(label, failed=str(problem))
        return
    for tool in tools:
        why = failed.get(tool.name)
        if why and isinstance(tool, Tachyscope):
            report.add({**label, "tool": tool.name}, failed=why)
        elif why:
            report.note(f"{python.text_version}, {rate} Hz: {tool.name}: {why}")
        else:
            report.add({**label, "tool": tool.name, **figures(kept[tool.name], rate)})


def alternate_work(target, tools, rate, turn_s, rounds):
    """({tool: [(share of the work that is left, the same per second of the target's CPU)]}, {tool: why it failed})"""
    kept, failed = {tool.name: [] for tool in tools}, {}
    before = targets.Work(target, turn_s)
    for i in range(rounds):
        for tool in tools if i % 2 == 0 else tools[::-1]:
            if tool.name in failed:
                continue
            try:
                with tool.in_background(target, rate):
                    time.sleep(START_S)
                    work = targets.Work(target, turn_s)
            except ToolFailed as problem:
                failed[tool.name] = str(problem)
                continue
            after = targets.Work(target, turn_s)
            kept[tool.name].append((
                targets.kept(before.per_second, work.per_second, after.per_second),
                targets.kept(before.per_cpu_second, work.per_cpu_second, after.per_cpu_second)))
            before = after
    return kept, failed


def figures(kept, rate):
    of_time, of_cpu = zip(*kept)
    quartiles = statistics.quantiles(of_time, n=4, method="inclusive")
    return {
        "work, %": Figure(100 * median(of_time), 2),
        "lower quartile": Figure(100 * quartiles[0], 2),
        "upper quartile": Figure(100 * quartiles[2], 2),
        "a sample costs, us": Figure(1e6 * (1 - median(of_time)) / rate, 1),
        "work per CPU second, %": Figure(100 * median(of_cpu), 2),
    }
