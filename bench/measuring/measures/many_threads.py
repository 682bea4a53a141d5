"""threads: many that wait and one that computes, and a few or many that compute."""
from .. import targets
from ..alternation import alternate, median, paired_ratio
from ..processes import ToolFailed
from ..report import Figure, Report, at_least, at_most
from ..tools import MAX, merged

SHAPES = ((10, 1), (60, 1), (200, 1), (2, 2), (20, 20))
TIMES_TACHYON = {(60, 1): 100, (200, 1): 300}

HOW = ("THREADS threads of which BUSY compute (23 frames deep where they wait), `-r max`; {rounds} turns of "
       "{turn:g} s each. CPU in us per sample of all threads; the ratio is the median of those within a turn.")


def threads(bench):
    turn_s, rounds = bench.choose((1, 4), (0.4, 3))
    report = Report("Many threads", HOW.format(turn=turn_s, rounds=rounds))
    for python in bench.wanted(report, 9, 12, 15):
        for shape in SHAPES:
            bench.say(f"threads: {python} {shape[0]}, {shape[1]} busy")
            measure_one(report, bench, python, shape, turn_s, rounds)
    return report


def measure_one(report, bench, python, shape, turn_s, rounds):
    label = {"Python": python.text_version, "threads": str(shape[0]), "busy": str(shape[1])}
    raw = bench.tachyon_raw_for(python)
    try:
        with targets.program(python, "threads.py", *shape) as target:
            turns = {"ours": lambda: bench.ours.sample(target, MAX, turn_s)}
            if raw:
                turns["raw"] = lambda: raw.sample(target, turn_s)
            runs, failed = alternate(turns, rounds)
    except AssertionError as problem:
        report.add(label, failed=str(problem))
        return
    if "ours" in failed:
        report.add(label, failed=failed["ours"])
        return
    if "raw" in failed:
        report.note(f"{python.text_version}, {shape[0]} threads: Tachyon: {failed['raw']}")
    report.add({**label, **figures(runs, shape)})


def figures(runs, shape):
    raw = [] if not runs.get("raw") else runs["raw"]
    cpu, raw_cpu = [run.cpu_us for run in runs["ours"]], [run.cpu_us for run in raw]
    whole = merged(runs["ours"])
    limit = at_least(TIMES_TACHYON[shape]) if raw and shape in TIMES_TACHYON else None
    return {
        "samples/s": Figure(median(run.rate for run in runs["ours"]), 0),
        "lost, %": Figure(whole.lost_percent, 3, at_most(0.1)),
        "reads": Figure(whole.readv_per_sample, 3),
        "threads seen": Figure(max(run.stats["threads_seen"] for run in runs["ours"]), 0),
        "CPU": Figure(median(cpu), 2),
        "Tachyon raw": Figure(median(raw_cpu), 2),
        "Tachyon lost, %": Figure(merged(raw).lost_percent if raw else None, 2),
        "Tachyon / ours": Figure(paired_ratio(raw_cpu, cpu), 1, limit),
    }
