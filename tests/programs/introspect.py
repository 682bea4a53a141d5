"""Everything about itself that a program can see, as JSON: it must not differ when it is profiled."""
import json
import os
import signal
import sys

frame, depth = sys._getframe(), 0
while frame:
    frame, depth = frame.f_back, depth + 1
descriptors = {}
for name in sorted(os.listdir("/proc/self/fd"), key=int):
    try:
        descriptors[name] = os.readlink("/proc/self/fd/" + name).split(":")[0]
    except OSError:
        pass  # the one that listed them
status = dict(line.split(":\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\t" in line)
print(json.dumps({
    "argv": sys.argv,
    "orig_argv": getattr(sys, "orig_argv", None),
    "path": sys.path,
    "executable": sys.executable,
    "modules": sorted(sys.modules),
    "flags": str(sys.flags),
    "environment": dict(os.environ),
    "depth": depth,
    "file": __file__,
    "name": __name__,
    "cwd": os.getcwd(),
    "umask": os.umask(0o22),
    "descriptors": descriptors,
    "signals": {s.name: str(signal.getsignal(s)) for s in signal.Signals},
    "masks": [status[k] for k in ("SigBlk", "SigIgn", "SigCgt", "TracerPid", "CapEff", "NoNewPrivs") if k in status],
    "affinity": sorted(os.sched_getaffinity(0)),
    "nice": os.nice(0),
    "tracing": [str(sys.gettrace()), str(sys.getprofile())],
    "same_group": os.getpgrp() == os.getpgid(os.getppid()),
    "same_session": os.getsid(0) == os.getsid(os.getppid()),
}, sort_keys=True))
