"""max: `-r max --snapshot parallel`, its rate, its losses, its bias; Tachyon's raw loop on 3.15."""
from .. import stacks, targets, tools
from ..alternation import alternate, median, paired_ratio
from ..processes import ToolFailed
from ..report import Figure, Report, at_least, at_most
from ..tools import MAX, Tachyscope, merged

REFERENCE_RATE = 2000
RATE_WANTED = 150000
TIMES_TACHYON = 4
IMPOSSIBLE_PER_10000 = 1
MEASURED_RATE_MINOR = 15  # a rate is wanted of 3.15 only
ENOUGH_SAMPLES = 150000  # to tell 1 in 10,000 from chance: of 25,000 samples four impossible ones say little
MORE_TURNS_MAX = 8
MORE_TURN_S = 2

HOW = ("`truth.py N`, `-r max --snapshot parallel`, {rounds} turns of {turn:g} s each with the reference "
       "(`--snapshot stop`) and, on 3.15, Tachyon's `RemoteUnwinder` in a bare loop (cache on; a second run looks "
       "for impossible stacks). Where that gave fewer than {enough:,} samples, up to {more} turns of {more_turn} s "
       "more tell how many were impossible. Wanted of 3.15: 150,000 samples/s or 4 times Tachyon's, whichever is "
       "higher. "
       "*Salvaged*: samples whose topmost frames were dropped since they were no longer, or not yet, live. *Bias*: "
       "share of samples in the leaf less that of the reference, in points.")


def full_speed(bench):
    turn_s, rounds = bench.choose((1, 4), (0.4, 2))
    how = HOW.format(turn=turn_s, rounds=rounds, enough=ENOUGH_SAMPLES, more=MORE_TURNS_MAX, more_turn=MORE_TURN_S)
    report = Report("Full speed, copying from another CPU", how)
    for python in bench.wanted(report, *range(8, 16)):
        for n in (0, 5, 50, 500):
            bench.say(f"max: {python} n={n}")
            try:
                measure_one(report, bench, python, n, turn_s, rounds)
            except (ToolFailed, AssertionError) as problem:
                report.add({"Python": python.text_version, "truth.py": str(n)}, failed=str(problem))
    return report


def measure_one(report, bench, python, n, turn_s, rounds):
    raw = bench.tachyon_raw_for(python)
    parallel, stop = Tachyscope("parallel"), Tachyscope("stop")
    with targets.truth(python, n) as target:
        turns = {"parallel": lambda: parallel.sample(target, MAX, turn_s),
                 "stop": lambda: stop.sample(target, REFERENCE_RATE, turn_s)}
        if raw:
            turns["raw"] = lambda: raw.sample(target, turn_s)
            turns["raw truth"] = lambda: raw.sample(target, turn_s, is_truth=True)
        runs, failed = alternate(turns, rounds)
        judged = enough(runs["parallel"], lambda: parallel.sample(target, MAX, MORE_TURN_S))
    if "parallel" in failed:
        raise ToolFailed(failed["parallel"])
    for name, why in failed.items():
        report.note(f"{python.text_version}, {n}: {name}: {why}")
    label = {"Python": python.text_version, "truth.py": str(n)}
    report.add({**label, "tool": parallel.name, **our_figures(python, runs, raw, judged)})
    report.note_impossible(f"{python.text_version}, {n}", stacks.impossible_examples(judged))
    if raw and not failed:
        report.add({**label, "tool": raw.name, **raw_figures(runs)})


def enough(runs, sample):
    """The stacks of the runs, and of more runs where they are too few to judge by."""
    runs = list(runs)
    for _ in range(MORE_TURNS_MAX):
        if not runs or sum(one.captured for one in runs) >= ENOUGH_SAMPLES:
            break
        runs.append(sample())
    return merged(runs).stacks


def our_figures(python, runs, raw, judged):
    rates = [run.rate for run in runs["parallel"]]
    raw_rates = [run.rate for run in runs["raw"]] if raw else []
    all_of_us, reference = merged(runs["parallel"]), merged(runs["stop"]).stacks
    wanted = at_least(max([RATE_WANTED, TIMES_TACHYON * median(raw_rates)] if raw_rates else [RATE_WANTED]), 0)
    leaf = stacks.leaf_share(all_of_us.stacks)
    return {
        "samples/s": Figure(median(rates), 0, wanted if python.version[1] == MEASURED_RATE_MINOR else None),
        "times Tachyon": Figure(paired_ratio(rates, raw_rates), 1),
        "CPU us": Figure(median(run.cpu_us for run in runs["parallel"]), 2),
        "lost, %": Figure(all_of_us.lost_percent, 4, at_most(0.1)),
        "salvaged, %": Figure(all_of_us.salvaged_percent, 3),
        "impossible in 10,000": Figure(stacks.impossible_in_10000(judged), 3,
                                       at_most(IMPOSSIBLE_PER_10000)),
        "leaf, %": Figure(100 * leaf, 1),
        "bias": Figure(100 * (leaf - stacks.leaf_share(reference)) if reference else None, 1),
        "variation": Figure(stacks.total_variation(all_of_us.stacks, reference), 3),
    }


def raw_figures(runs):
    return {
        "samples/s": Figure(median(run.rate for run in runs["raw"]), 0),
        "CPU us": Figure(median(run.cpu_us for run in runs["raw"]), 2),
        "lost, %": Figure(merged(runs["raw"]).lost_percent, 4),
        "impossible in 10,000": Figure(tools.impossible_in_10000(runs["raw truth"]), 3),
    }
