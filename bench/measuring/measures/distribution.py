"""truth: the default mode at 1 and 5 kHz against the target stopped by ptrace."""
from .. import stacks, targets
from ..alternation import alternate
from ..processes import ToolFailed
from ..report import Figure, Report, at_least, at_most
from ..tools import Tachyscope, merged

RATES = (1000, 5000)
REFERENCE_RATE = 2000  # more often, and its stops change what they measure: cold caches make calls dearer
LEAF_POINTS = 2
VARIATION = 0.03

HOW = ("`truth.py N`, default mode; each rate and the reference (`--snapshot stop`, {reference} Hz) sampled "
       "{seconds:g} s in turns of {turn:g} s. *Leaf off*: share of samples in the leaf, less that of the "
       "reference, in points. *Variation*: total variation distance of the whole distribution of stacks from the "
       "reference's; *by chance*: what two samples of these sizes of one distribution differ by.")


def truth(bench):
    seconds, rounds = bench.choose((20, 4), (3, 3))
    report = Report("A stack that really happened: default mode",
                    HOW.format(reference=REFERENCE_RATE, seconds=seconds, turn=seconds / rounds))
    for python in bench.wanted(report, 9, 11, 12, 13, 15):
        for n in (0, 5, 50, 500):
            bench.say(f"truth: {python} n={n}")
            measure_one(report, bench, python, n, seconds, rounds)
    return report


def measure_one(report, bench, python, n, seconds, rounds):
    label = {"Python": python.text_version, "truth.py": str(n)}
    try:
        runs, failed = sample_all(bench, python, n, seconds / rounds, rounds)
    except (ToolFailed, AssertionError) as problem:
        report.add(label, failed=str(problem))
        return
    for rate in RATES:
        at_rate = {**label, "Hz": str(rate)}
        if rate in failed or "stop" in failed:
            report.add(at_rate, failed=failed.get(rate) or "no reference: " + failed["stop"])
        else:
            run = merged(runs[rate])
            report.add({**at_rate, **figures(run, merged(runs["stop"]).stacks)})
            report.note_impossible(f"{python.text_version}, {n}, {rate} Hz", stacks.impossible_examples(run.stacks))


def sample_all(bench, python, n, turn_s, rounds):
    stop = Tachyscope("stop")
    with targets.truth(python, n) as target:
        turns = {rate: lambda rate=rate: bench.ours.sample(target, rate, turn_s) for rate in RATES}
        turns["stop"] = lambda: stop.sample(target, REFERENCE_RATE, turn_s)
        return alternate(turns, rounds)


def figures(run, reference):
    leaf, wanted_leaf = stacks.leaf_share(run.stacks), stacks.leaf_share(reference)
    by_chance = stacks.total_variation_by_chance(run.stacks, reference)
    leaf_by_chance = stacks.share_by_chance(wanted_leaf, run.stacks, reference) or 0
    return {
        "samples": Figure(run.captured, 0),
        "impossible": Figure(stacks.n_impossible(run.stacks), 0, at_most(0)),
        "lost, %": Figure(run.lost_percent, 3, at_most(0.1)),
        "late, %": Figure(run.late_percent, 2),
        "ridden, %": Figure(run.ridden_percent, 1, at_least(98)),
        "leaf, %": Figure(100 * leaf, 1),
        "leaf off": Figure(100 * abs(leaf - wanted_leaf), 1, at_most(LEAF_POINTS), 100 * leaf_by_chance),
        "variation": Figure(stacks.total_variation(run.stacks, reference), 3, at_most(VARIATION),
                            by_chance),
        "by chance": Figure(by_chance, 3),
    }
