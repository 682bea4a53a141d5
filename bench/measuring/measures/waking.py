"""c12: 300 threads that wake every 5 ms, sampled at 100 Hz."""
import os
import statistics
import struct
import time

from .. import targets
from ..alternation import median
from ..processes import ToolFailed
from ..report import Figure, Report, at_least, at_most
from ..tools import Tachyscope

N_THREADS = 300
RATE = 100
MAIN_WEIGHT = 50  # of one piece of the main thread's work in those of the others, see programs/wakers.py

HOW = ("300 threads that wake every 5 ms beside a main thread that counts its work; 100 Hz; {rounds} times "
       "{turn:g} s by itself, with us, by itself, with nobody, by itself. Work with us, and with nobody, is told in "
       "percent of that before and after; medians. *All*: of all threads together. *Main*: the main thread's count, "
       "which is what it gets of a GIL that 300 others want: it scatters by ten percent from turn to turn whether we "
       "are there or not, so that the figure is what is left with us of what is left with nobody, and +- twice its "
       "standard error.")


def c12(bench):
    turn_s, rounds = bench.choose((4, 12), (1, 3))
    report = Report("300 threads that wake", HOW.format(turn=turn_s, rounds=rounds))
    for python in bench.wanted(report, 9, 12, 15):
        bench.say(f"c12: {python}")
        try:
            with targets.program(python, "wakers.py", N_THREADS) as target:
                kept, runs = measure_one(target, turn_s, rounds)
                by_thread = Tachyscope(options=["--by-thread"]).sample(target, RATE, turn_s)
            report.add({"Python": python.text_version, **figures(kept, runs, by_thread)})
        except (ToolFailed, AssertionError) as problem:
            report.add({"Python": python.text_version}, failed=str(problem))
    return report


class Done:
    """What was done per second while `action` ran: by the main thread, and by all."""

    def __init__(self, target, action):
        main, others, began = targets.work_done(target), others_done(target), time.perf_counter()
        self.result = action()
        seconds = time.perf_counter() - began
        self.main = (targets.work_done(target) - main) / seconds
        self.all = self.main * MAIN_WEIGHT + (others_done(target) - others) / seconds


def others_done(target):
    with open(os.path.join(target.folder, "workers"), "rb") as file:
        return sum(struct.unpack(f"{N_THREADS}Q", file.read()))


def measure_one(target, turn_s, rounds):
    """({("main" or "all", "us" or "nobody"): [share of the work that is left]}, [Run of ours])"""
    actions = {"us": lambda: Tachyscope().sample(target, RATE, turn_s), "nobody": lambda: time.sleep(turn_s)}
    kept, runs = {(whose, name): [] for whose in ("main", "all") for name in actions}, []
    before = Done(target, actions["nobody"])
    for i in range(rounds):
        for name in ("us", "nobody") if i % 2 == 0 else ("nobody", "us"):
            during, after = Done(target, actions[name]), Done(target, actions["nobody"])
            kept["main", name].append(targets.kept(before.main, during.main, after.main))
            kept["all", name].append(targets.kept(before.all, during.all, after.all))
            if name == "us":
                runs.append(during.result)
            before = after
    return kept, runs


def standard_error(values):
    return statistics.stdev(values) / len(values) ** 0.5


def of_nobodys(kept, whose):
    """(what is left with us in percent of what is left with nobody, twice its standard error)"""
    us, nobody = kept[whose, "us"], kept[whose, "nobody"]
    share = median(us) / median(nobody)
    error = share * ((standard_error(us) / median(us)) ** 2 + (standard_error(nobody) / median(nobody)) ** 2) ** 0.5
    return 100 * share, 200 * error


def figures(kept, runs, by_thread):
    counts = thread_counts(by_thread.stacks)
    threads = median(run.stats["thread_samples"] / max(1, run.captured) for run in runs)
    everyone, everyone_error = of_nobodys(kept, "all")
    main, main_error = of_nobodys(kept, "main")
    return {
        "all, %": Figure(everyone, 1, at_least(97), spread=everyone_error),
        "all +-": Figure(everyone_error, 1),
        "main, %": Figure(main, 1, at_least(97), spread=main_error),
        "main +-": Figure(main_error, 1),
        "main with us, %": Figure(100 * median(kept["main", "us"]), 1),
        "with nobody, %": Figure(100 * median(kept["main", "nobody"]), 1),
        "our CPU, % of a core": Figure(median(100 * run.cpu_s / run.seconds for run in runs), 1, at_most(30)),
        "late, %": Figure(median(run.late_percent for run in runs), 2, at_most(1)),
        "lost, %": Figure(median(run.lost_percent for run in runs), 3),
        "threads in a sample": Figure(threads, 2, at_least(N_THREADS + 1)),
        "threads in all samples": Figure(sum(count >= by_thread.captured for count in counts.values()), 0,
                                         at_least(N_THREADS + 1)),
        "reads": Figure(median(run.readv_per_sample for run in runs), 2),
        "CPU us": Figure(median(run.cpu_us for run in runs), 1),
    }


def thread_counts(found):
    counts = {}
    for stack, count in found.items():
        counts[stack[0]] = counts.get(stack[0], 0) + count
    return counts
