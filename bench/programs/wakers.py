"""wakers.py THREADS: c12 of the cases, without an end: THREADS threads that wake every 5 ms, and a busy main
thread. Each counts what it gets done: the main thread as other programs do, the others in a file `workers`, where
thread i has eight bytes."""
import mmap
import os
import sys
import threading
import time

import work

MAIN = 100000  # iterations that the main thread counts as one
OTHERS = 2000

n_threads = int(sys.argv[1])
path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "workers")
with open(path, "wb") as file:
    file.write(bytes(8 * n_threads))
with open(path, "r+b") as file:
    counts = memoryview(mmap.mmap(file.fileno(), 8 * n_threads)).cast("Q")


def w(i):
    count = 0
    while True:
        time.sleep(0.005)
        sum(range(OTHERS))
        count += 1
        counts[i] = count


for i in range(n_threads):
    threading.Thread(target=w, args=(i,), daemon=True, name="w%d" % i).start()
print("ready", flush=True)
while True:
    sum(range(MAIN))
    work.done()
