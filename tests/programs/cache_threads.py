"""Threads that end at once, so that others get their ids and thread states: T_3 has entry_3 and work_3."""
import threading

N = 8
SOURCE = """
def work_%(i)d(n):
    s = 0
    for k in range(n):
        s += k
    return s


def entry_%(i)d():
    for turn in range(20):
        work_%(i)d(800)
"""

for i in range(N):
    exec(compile(SOURCE % {"i": i}, "thread_%d.py" % i, "exec"))


def main():
    i = 0
    while True:
        threads = []
        for _ in range(3):
            i = (i + 1) % N
            threads.append(threading.Thread(target=globals()["entry_%d" % i], name="T_%d" % i))
            threads[-1].start()
        for thread in threads:
            thread.join()


print("ready", flush=True)
main()
