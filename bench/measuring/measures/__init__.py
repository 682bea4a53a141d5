"""Every measure: a function of a Bench that gives a Report."""
from . import deep, distribution, everyone, full_speed, many_threads, memory, slowdown, waking, workloads

ALL = {
    "truth": distribution.truth,
    "max": full_speed.full_speed,
    "steady": deep.steady,
    "threads": many_threads.threads,
    "c12": waking.c12,
    "workloads": workloads.workloads,
    "peers": everyone.everyone,
    "slowdown": slowdown.slowdown,
    "memory": memory.memory,
}
