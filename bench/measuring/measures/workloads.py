"""exec in a loop, generators, asyncio: what a sample costs there, and whether it is true."""
from .. import stacks, targets, tools
from ..alternation import alternate, median, paired_ratio
from ..processes import ToolFailed
from ..report import Figure, Report, at_most
from ..tools import MAX, merged

KINDS = (("call", "calls"), ("exec", "code compiled anew in a loop"), ("generator", "generators"),
         ("coroutine", "20 asyncio tasks"))
LEAF_LOOPS = 5
RATE = 1000

HOW = ("Eight chains of six very short functions (`bench/programs/chains.py`), {rounds} turns of {turn:g} s each: "
       "the default mode at 1 kHz, then at `-r max` (*max*), then Tachyon's `RemoteUnwinder` (3.15). CPU in us per "
       "sample at max.")


def workloads(bench):
    turn_s, rounds = bench.choose((1.5, 3), (0.5, 2))
    report = Report("Code that comes and goes, generators, coroutines", HOW.format(turn=turn_s, rounds=rounds))
    for python in bench.wanted(report, 9, 12, 15):
        for kind, words in KINDS:
            bench.say(f"workloads: {python} {kind}")
            label = {"Python": python.text_version, "workload": words}
            try:
                runs = measure_one(report, bench, python, kind, turn_s, rounds)
                report.add({**label, **figures(runs)})
                note_impossible(report, f"{python.text_version}, {words}", runs)
            except (ToolFailed, AssertionError) as problem:
                report.add(label, failed=str(problem))
    return report


def measure_one(report, bench, python, kind, turn_s, rounds):
    raw = bench.tachyon_raw_for(python)
    with targets.program(python, "chains.py", kind, LEAF_LOOPS) as target:
        turns = {"1 kHz": lambda: bench.ours.sample(target, RATE, turn_s),
                 "max": lambda: bench.ours.sample(target, MAX, turn_s)}
        if raw:
            turns["raw"] = lambda: raw.sample(target, turn_s)
            turns["raw truth"] = lambda: raw.sample(target, turn_s, is_truth=True)
        runs, failed = alternate(turns, rounds)
    for name, why in failed.items():
        if not name.startswith("raw"):
            raise ToolFailed(why)
        report.note(f"{python.text_version}, {kind}: Tachyon: {why}")
        runs[name] = []
    return runs


def figures(runs):
    slow, fast = merged(runs["1 kHz"]), merged(runs["max"])
    raw, judged = runs.get("raw", []), runs.get("raw truth", [])
    cpu, raw_cpu = [run.cpu_us for run in runs["max"]], [run.cpu_us for run in raw]
    return {
        "impossible": Figure(stacks.n_impossible(slow.stacks), 0, at_most(0)),
        "lost, %": Figure(slow.lost_percent, 3, at_most(0.1)),
        "ridden, %": Figure(slow.ridden_percent, 1),
        "max: samples/s": Figure(median(run.rate for run in runs["max"]), 0),
        "CPU": Figure(median(cpu), 2),
        "max: lost, %": Figure(fast.lost_percent, 4, at_most(0.1)),
        "max: impossible in 10,000": Figure(stacks.impossible_in_10000(fast.stacks), 3, at_most(1)),
        "Tachyon / ours": Figure(paired_ratio(raw_cpu, cpu), 1),
        "Tachyon lost, %": Figure(merged(raw).lost_percent if raw else None, 2),
        "Tachyon impossible in 10,000": Figure(tools.impossible_in_10000(judged), 2),
    }


def note_impossible(report, where, runs):
    for name in ("1 kHz", "max"):
        report.note_impossible(f"{where}, {name}", stacks.impossible_examples(merged(runs[name]).stacks))
