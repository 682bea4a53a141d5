"""c10 with its own measure: prints, each time it is told to, the share of time in collections since the last."""
import gc
import sys
import threading
import time

collecting = [0.0, 0.0]  # total, when the one at hand began


def on_gc(phase, info):
    now = time.perf_counter()
    if phase == "start":
        collecting[1] = now
    else:
        collecting[0] += now - collecting[1]


class N:
    pass


def make():
    a, b = N(), N()
    a.o = b
    if gc.isenabled():
        b.o = a


def tell():
    since, before = time.perf_counter(), collecting[0]
    for _ in sys.stdin:
        now, total = time.perf_counter(), collecting[0]
        print("gc %.4f" % ((total - before) / (now - since)), flush=True)
        since, before = now, total


if sys.argv[1:] == ["off"]:
    gc.disable()
else:
    gc.callbacks.append(on_gc)
    gc.set_threshold(100, 5, 5)
keep = [N() for _ in range(200000)]
for k in keep:
    k.s = k
threading.Thread(target=tell, daemon=True).start()
print("ready", flush=True)
while True:
    make()
