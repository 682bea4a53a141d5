"""threads.py TOTAL BUSY: that many threads, the main one included; BUSY of them (the main one first)
compute, the others wait, 23 frames deep."""
import sys
import threading
import time

DEPTH_OF_WAIT = 23 - 5  # frames of threading: bootstraps, run, and Event.wait with its Condition.wait
parked = []
never = threading.Event()


def wait(n):
    if n > 1:
        wait(n - 1)
    parked.append(1)
    never.wait()


def leaf(n):
    total = 0
    for i in range(n):
        total += i
    return total


def compute():
    while True:
        leaf(200)


total, busy = map(int, sys.argv[1:])
for _ in range(total - busy):
    threading.Thread(target=wait, args=(DEPTH_OF_WAIT,), daemon=True).start()
while len(parked) < total - busy:
    time.sleep(0.01)
time.sleep(0.2)
for _ in range(busy - 1):
    threading.Thread(target=compute, daemon=True).start()
print("ready", flush=True)
compute()
