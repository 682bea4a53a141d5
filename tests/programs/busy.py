"""A busy main thread of three functions; prints "ready", then how far it came, on each line of stdin."""
import os
import select
import sys


def leaf(n):
    total = 0
    for i in range(n):
        total += i
    return total


def branch(n):
    return leaf(n) + leaf(n // 2)


def main():
    rounds = 0
    print("ready", flush=True)
    while True:
        for _ in range(20):
            branch(200)
            rounds += 1
        if select.select([0], [], [], 0)[0]:
            if not os.read(0, 1 << 10):
                sys.exit(0)
            print("rounds", rounds, flush=True)


main()
