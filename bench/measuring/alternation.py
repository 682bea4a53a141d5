"""Tools take turns, because machines drift: what is compared was measured within seconds."""
import statistics

from .processes import ToolFailed


def alternate(turns, rounds):
    """Call each of `turns` (name -> function) once a round, every other round backwards.

    ({name: [result, ...]}, {name: why it failed}); a turn that failed once is left out from then on.
    """
    results, failed = {name: [] for name in turns}, {}
    for i in range(rounds):
        names = list(turns) if i % 2 == 0 else list(turns)[::-1]
        for name in names:
            if name in failed:
                continue
            try:
                results[name].append(turns[name]())
            except ToolFailed as problem:
                failed[name] = str(problem)
    return results, failed


def median(values):
    values = [value for value in values if value is not None]
    return statistics.median(values) if values else None


def paired_ratio(over, under):
    """The median over the rounds of one tool's figure divided by another's."""
    return median([a / b for a, b in zip(over, under) if a is not None and b])
