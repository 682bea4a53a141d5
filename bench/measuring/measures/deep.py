"""steady: one thread of 5, 100 and 1000 frames that do not change, against the floor and Tachyon's raw loop."""
from .. import targets
from ..alternation import alternate, median, paired_ratio
from ..processes import ToolFailed
from ..report import Figure, Report, at_least, at_most
from ..tools import MAX, Tachyscope, merged, per_sample

DEPTHS = (5, 100, 1000)
DEEP = 1000
READV_PER_SAMPLE = 1.05
TIMES_FLOOR = 1.5
ANCHOR_TIMES = 4
ANCHOR_SINCE = (3, 15)

HOW = ("A thread whose DEPTH frames stay as they are while it computes, `-r max`; {rounds} turns of {turn:g} s "
       "each. *floor*: `bench/floor.c`, a bare loop of `process_vm_readv` over as many segments and bytes as ours "
       "read per sample. CPU in us per sample; ratios are medians of those within a turn.")


def steady(bench):
    turn_s, rounds = bench.choose((1, 5), (0.4, 3))
    report = Report("A stack that stands still", HOW.format(turn=turn_s, rounds=rounds))
    for python in bench.wanted(report, 9, 12, 15):
        for depth in DEPTHS:
            bench.say(f"steady: {python} depth {depth}")
            measure_depth(report, bench, python, depth, turn_s, rounds)
    return report


def measure_depth(report, bench, python, depth, turn_s, rounds):
    anchored = python.version[:2] >= ANCHOR_SINCE
    for options in ([], ["--anchor"]) if anchored else ([],):
        label = {"Python": python.text_version, "depth": str(depth), "options": " ".join(options)}
        try:
            with targets.program(python, "spin.py", depth) as target:
                figures = measure_one(report, bench, target, Tachyscope(options=options), turn_s, rounds)
            report.add({**label, **figures_of(figures, depth, bool(options))})
        except (ToolFailed, AssertionError) as problem:
            if options:
                report.note(f"{python.text_version}, depth {depth}, {options[0]}: {problem}")
            else:
                report.add(label, failed=str(problem))


def measure_one(report, bench, target, ours, turn_s, rounds):
    """{name: [Run, ...]}"""
    raw = bench.tachyon_raw_for(target.python)
    turns = {"ours": lambda: ours.sample(target, MAX, turn_s)}
    if bench.floor:
        like = ours.sample(target, MAX, turn_s)  # what ours reads
        turns["floor"] = lambda: bench.floor.sample(target, turn_s, like)
    if raw:
        turns["raw"] = lambda: raw.sample(target, turn_s)
    runs, failed = alternate(turns, rounds)
    if "ours" in failed:
        raise ToolFailed(failed["ours"])
    for name, why in failed.items():
        report.note(f"{target.python.text_version}: {name}: {why}")
    return {name: [] if name in failed else some for name, some in runs.items()}


def figures_of(runs, depth, is_anchored):
    cpu = {name: [run.cpu_us for run in some] for name, some in runs.items()}
    whole = merged(runs["ours"])
    segments, size = per_sample(runs["ours"][-1])
    times_tachyon = at_least(ANCHOR_TIMES if is_anchored else 1) if depth == DEEP and cpu.get("raw") else None
    return {
        "samples/s": Figure(median(run.rate for run in runs["ours"]), 0),
        "lost, %": Figure(whole.lost_percent, 3),
        "reads": Figure(whole.readv_per_sample, 3, at_most(READV_PER_SAMPLE)),
        "segments": Figure(segments, 0),
        "bytes": Figure(size, 0),
        "CPU": Figure(median(cpu["ours"]), 2),
        "floor": Figure(median(cpu.get("floor", [])), 2),
        "times the floor": Figure(paired_ratio(cpu["ours"], cpu.get("floor", [])), 2, at_most(TIMES_FLOOR)),
        "Tachyon raw": Figure(median(cpu.get("raw", [])), 2),
        "Tachyon / ours": Figure(paired_ratio(cpu.get("raw", []), cpu["ours"]), 1, times_tachyon),
    }
