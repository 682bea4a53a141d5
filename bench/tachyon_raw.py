"""CPython 3.15's `RemoteUnwinder` in a bare loop, as fast as it goes: no collectors, no sleeping.

usage: python3.15 tachyon_raw.py PID SECONDS [--truth]
Prints one line of JSON. --truth looks at every stack for impossible ones (chains as in truth.py: one letter,
numbered without a gap); the looking is not timed, but it makes the loop slower: take speeds without it.
"""
import json
import sys
import time

import _remote_debugging


def impossible(threads):
    for thread in threads:
        names = [frame.funcname for frame in thread.frame_info if len(frame.funcname) == 2][::-1]
        numbers = [str(i) for i in range(1, len(names) + 1)]
        if len({name[0] for name in names}) > 1 or [name[1] for name in names] != numbers:
            return True
    return False


def main(pid, seconds, is_truth):
    unwinder = _remote_debugging.RemoteUnwinder(pid, all_threads=True, cache_frames=True)
    attempts = errors = torn = 0
    wall, cpu = time.perf_counter(), time.process_time()
    while time.perf_counter() - wall < seconds:
        attempts += 1
        try:
            stacks = unwinder.get_stack_trace()
        except Exception:
            errors += 1
            continue
        if is_truth:
            torn += any(impossible(interpreter.threads) for interpreter in stacks)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(json.dumps({"attempts": attempts, "errors": errors, "impossible": torn, "wall_s": wall, "cpu_s": cpu}))


main(int(sys.argv[1]), float(sys.argv[2]), "--truth" in sys.argv[3:])
