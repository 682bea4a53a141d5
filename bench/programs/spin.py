"""spin.py DEPTH: one thread with DEPTH frames that never change; the leaf runs, and calls nothing."""
import sys


def down(n):
    if n > 1:
        down(n - 1)
    print("ready", flush=True)
    while True:
        pass


depth = int(sys.argv[1])
sys.setrecursionlimit(depth + 1000)
down(depth - 1)
