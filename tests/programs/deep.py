"""deep.py N: a stack of N + 1 frames of down(), in a thread with room for it, standing still."""
import sys
import threading

import standstill


def down(n):
    if n:
        down(n - 1)
    standstill.park()


depth = int(sys.argv[1])
sys.setrecursionlimit(depth + 1000)
threading.stack_size(1 << 30)
threading.Thread(target=down, args=(depth,), name="deep", daemon=True).start()
threading.stack_size(0)
standstill._parked.append(1)
while len(standstill._parked) < 2:
    standstill.time.sleep(0.01)
standstill.time.sleep(0.1)
print("ready", flush=True)
standstill.time.sleep(1000)
