"""peers: whole tools, each as a user calls it, in turns on one target."""
from .. import stacks, targets
from ..alternation import alternate, median
from ..processes import ToolFailed
from ..report import Figure, Report
from ..tools import MAX, Tachyscope, merged

WORKLOADS = (5, 50)
RATES = (1000, MAX)
REFERENCE_RATE = 2000

HOW = ("`truth.py N`, each tool as a user calls it (collapsed stacks to a file), {rounds} turns of {turn:g} s "
       "each. CPU, in us per sample, is that of the whole process, start and writing included. *Leaf off* and "
       "*variation* are distances from `tachyscope --snapshot stop` in the same turns. Impossible stacks are those "
       "that the tool itself reports as good.")


def everyone(bench):
    turn_s, rounds = bench.choose((3, 4), (1, 2))
    report = Report("Whole tools side by side", HOW.format(turn=turn_s, rounds=rounds))
    for python in bench.wanted(report, 12, 15):
        tools = [bench.ours]
        for tool in bench.peers.whole_tools():
            why_not = tool.why_not(python)
            if why_not:
                report.note(f"{python.text_version}: {tool.name}: {why_not}")
            else:
                tools.append(tool)
        for n in WORKLOADS:
            for rate in RATES:
                bench.say(f"peers: {python} n={n} at {rate}")
                measure_one(report, python, tools, n, rate, turn_s, rounds)
    return report


def measure_one(report, python, tools, n, rate, turn_s, rounds):
    label = {"Python": python.text_version, "truth.py": str(n), "Hz": str(rate)}
    stop = Tachyscope("stop")
    try:
        with targets.truth(python, n) as target:
            turns = {tool.name: lambda tool=tool: tool.sample(target, rate, turn_s) for tool in tools}
            turns["stop"] = lambda: stop.sample(target, REFERENCE_RATE, turn_s)
            runs, failed = alternate(turns, rounds)
    except (ToolFailed, AssertionError) as problem:
        report.add(label, failed=str(problem))
        return
    reference = merged(runs["stop"]).stacks
    for tool in tools:
        if tool.name in failed and tool is tools[0]:
            report.add({**label, "tool": tool.name}, failed=failed[tool.name])
        elif tool.name in failed:
            report.note(f"{python.text_version}: {tool.name}: {failed[tool.name]}")
        else:
            report.add({**label, "tool": tool.name, **figures(runs[tool.name], reference)})


def figures(runs, reference):
    whole = merged(runs)
    chains, wanted = stacks.chains_only(whole.stacks), stacks.chains_only(reference)
    leaf_off = abs(stacks.leaf_share(chains) - stacks.leaf_share(wanted))
    return {
        "samples/s": Figure(median(run.rate for run in runs), 0),
        "CPU": Figure(median(run.cpu_us for run in runs), 1),
        "memory, MB": Figure(whole.peak_kb / 1024, 0),
        "lost, %": Figure(whole.lost_percent, 2),
        "impossible, %": Figure(stacks.impossible_in_10000(whole.stacks) / 100, 3),
        "leaf off": Figure(100 * leaf_off if wanted else None, 1),
        "variation": Figure(stacks.total_variation(chains, wanted), 3),
    }
