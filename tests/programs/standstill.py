"""Bring every thread of a program to a halt, and tell what its stacks are, in the target's own words.

A program starts its threads, each of which ends up in park(); then calls stand_still(n) with the
number of threads that will be parked, the calling one included, and parks itself. A reporter thread
prints "parked", waits for a line on stdin, then prints "truth" with all stacks as JSON; with a file
name in TRUTH_FILE it has faulthandler write there too, when the reporter itself has come to rest.
"""
import faulthandler
import json
import os
import sys
import threading
import time

_never = threading.Lock()
_never.acquire()
_parked = []


def park():
    _parked.append(1)
    _never.acquire()


_positions = {}


def _where(frame):
    """[line, end_line, column, end_column] as the code object has it; [] before 3.11."""
    code = frame.f_code
    if not hasattr(code, "co_positions"):
        return []
    key = (code, frame.f_lasti)
    if key not in _positions:
        _positions[key] = list(list(code.co_positions())[frame.f_lasti // 2])
    return _positions[key]


def stack(frame):
    """Leaf first: [qualified name (plain before 3.11), file, line, positions]."""
    frames = []
    while frame is not None:
        code = frame.f_code
        name = getattr(code, "co_qualname", code.co_name)
        frames.append([name, code.co_filename, frame.f_lineno, _where(frame)])
        frame = frame.f_back
    return frames


def truth(all_frames=True):
    stacks = sys._current_frames()
    me = threading.get_ident()
    return [
        {
            "ident": thread.ident,
            "tid": thread.native_id,
            "name": thread.name,
            "main": thread is threading.main_thread(),
            "reporter": thread.ident == me,
            "frames": [] if thread.ident == me else stack(stacks[thread.ident]),
        }
        for thread in threading.enumerate()
    ]


def _report(n):
    while len(_parked) < n:
        time.sleep(0.01)
    time.sleep(0.1)  # from the mark to the lock
    print("parked", flush=True)
    sys.stdin.readline()
    told = {"version": list(sys.version_info[:3]), "pid": os.getpid(), "threads": truth()}
    path = os.environ.get("TRUTH_FILE")
    if path:
        faulthandler.dump_traceback_later(0.3, file=open(path, "w"))
    print("truth " + json.dumps(told), flush=True)
    while True:
        time.sleep(1000)


def stand_still(n):
    threading.Thread(target=_report, args=(n,), name="reporter", daemon=True).start()
