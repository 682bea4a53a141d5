"""c12: 300 threads that wake every 5 ms, sampled at 100 Hz."""
import contextlib
import os
import random
import signal
import statistics
import struct
import time

from .. import targets
from ..processes import ToolFailed
from ..report import Figure, Report, at_least, at_most
from ..tools import Tachyscope

N_THREADS = 300
RATE = 100
MORE = 4          # so many times the rate, at which every harm is so many times greater
MAIN_WEIGHT = 50  # of one piece of the main thread's work in those of the others, see programs/wakers.py
SETTLE_S = 0.2    # at the start of a turn, which does not count
TURN_S = 0.8

HOW = ("300 threads that wake every 5 ms beside a main thread that counts its work; {turns} times {turn:g} s with us at "
       "100 Hz, {turns} times at {more} Hz, each beside as much with nobody. We are there all the time and held by SIGSTOP "
       "while it is nobody's turn, since what the target gets done drifts by tens of percent within seconds. *Main*: "
       "the main thread's count, *all*: the work of all threads; with us in percent of that with nobody, and +- twice its "
       "standard error. By itself the count of one turn is so far from that of the next as *scatter* says: of the GIL that "
       "300 others want the main thread gets now more, now less. *By {more} Hz*: what is lost there, divided by {times}: the "
       "same harm, measured with so much less chance in it.")


def c12(bench):
    turns, run_s = bench.choose((30, 12), (8, 4))
    report = Report("300 threads that wake", HOW.format(turn=TURN_S, turns=turns, more=MORE * RATE, times=MORE))
    for python in bench.wanted(report, 9, 12, 13, 15):
        bench.say(f"c12: {python}")
        try:
            with targets.program(python, "wakers.py", N_THREADS) as target:
                work = measure_work(target, turns)
                run = Tachyscope().sample(target, RATE, run_s)
                by_thread = Tachyscope(options=["--by-thread"]).sample(target, RATE, run_s)
            report.add({"Python": python.text_version, **figures(work, run, by_thread)})
        except (ToolFailed, AssertionError) as problem:
            report.add({"Python": python.text_version}, failed=str(problem))
    return report


def done_now(target):
    """(of the main thread, of all)"""
    with open(os.path.join(target.folder, "workers"), "rb") as file:
        others = sum(struct.unpack(f"{N_THREADS}Q", file.read()))
    main = targets.work_done(target)
    return main, main * MAIN_WEIGHT + others


def one_turn(target, child):
    """Work per second, while `child` samples, or nobody."""
    if child:
        os.kill(child.pid, signal.SIGCONT)
    try:
        time.sleep(SETTLE_S)
        before, began = done_now(target), time.perf_counter()
        time.sleep(TURN_S)
        after, seconds = done_now(target), time.perf_counter() - began
    finally:
        if child:
            os.kill(child.pid, signal.SIGSTOP)
    return tuple((now - then) / seconds for now, then in zip(after, before))


@contextlib.contextmanager
def waiting_sampler(target, rate):
    with Tachyscope().in_background(target, rate) as child:
        time.sleep(1)  # attached, and every name known
        os.kill(child.pid, signal.SIGSTOP)
        try:
            yield child
        finally:
            os.kill(child.pid, signal.SIGCONT)


def measure_work(target, turns):
    """rate -> [(with us, with nobody)], each (main, all) per second"""
    work = {RATE: [], MORE * RATE: []}
    time.sleep(5)  # at first the threads wake together
    with waiting_sampler(target, RATE) as usual, waiting_sampler(target, MORE * RATE) as more:
        for _ in range(turns):
            for rate, child in ((RATE, usual), (MORE * RATE, more)):
                turn = {who: one_turn(target, who) for who in random.sample([child, None], 2)}
                work[rate].append((turn[child], turn[None]))
    return work


def share_left(pairs, whose):
    """(work with us in percent of that with nobody, twice its standard error)"""
    us = [pair[0][whose] for pair in pairs]
    nobody = [pair[1][whose] for pair in pairs]
    share = sum(us) / max(1e-9, sum(nobody))
    # of a ratio of sums: how far each pair is from it
    far = statistics.stdev(a - share * b for a, b in zip(us, nobody)) / len(pairs) ** 0.5
    return 100 * share, 200 * far / statistics.mean(nobody)


def figures(work, run, by_thread):
    counts = thread_counts(by_thread.stacks)
    told = {}
    for whose, name in enumerate(("main", "all")):
        share, error = share_left(work[RATE], whose)
        more, more_error = share_left(work[MORE * RATE], whose)
        told |= {f"{name}, %": Figure(share, 1, at_least(97), spread=error), f"{name} +-": Figure(error, 1),
                 f"{name} by {MORE * RATE} Hz, %": Figure(100 - (100 - more) / MORE, 1, at_least(97),
                                                          spread=more_error / MORE),
                 f"{name} by {MORE * RATE} Hz +-": Figure(more_error / MORE, 1)}
    mains = [pair[1][0] for pair in work[RATE]]
    return {
        **told,
        "scatter, %": Figure(100 * statistics.stdev(mains) / max(1e-9, statistics.mean(mains)), 0),
        "our CPU, % of a core": Figure(100 * run.cpu_s / run.seconds, 1, at_most(30)),
        "late, %": Figure(run.late_percent, 2, at_most(1)),
        "lost, %": Figure(run.lost_percent, 3),
        "threads in a sample": Figure(run.stats["thread_samples"] / max(1, run.captured), 2, at_least(N_THREADS + 1)),
        "threads in all samples": Figure(sum(count >= by_thread.captured for count in counts.values()), 0,
                                         at_least(N_THREADS + 1)),
        "reads": Figure(run.readv_per_sample, 2),
        "CPU us": Figure(run.cpu_us, 1),
    }


def thread_counts(found):
    counts = {}
    for stack, count in found.items():
        counts[stack[0]] = counts.get(stack[0], 0) + count
    return counts
