"""Sub-interpreters whose functions carry the interpreter's number in their names.

interpreters.py STAY CHURN [KIND]: STAY of them run for good, each in a thread of its own, while CHURN threads
make one after the other, run it for some milliseconds and end it. KIND: "isolated" (with a GIL of their own, 3.12
and later) or "legacy". A line on stdin: says how many came and went; the end of it: ends.
"""
import os
import sys
import threading
import time

if sys.version_info >= (3, 13):
    import _interpreters as interpreters
else:
    import _xxsubinterpreters as interpreters

SCRIPT = """
import time
def i{id}_4(n):
    total = 0
    for k in range(n):
        total += k
    return total
def i{id}_3(n):
    return i{id}_4(n)
def i{id}_2(n):
    return i{id}_3(n)
def i{id}_1(n):
    return i{id}_2(n)
end = time.perf_counter() + {seconds}
while time.perf_counter() < end:
    for _ in range(300):
        i{id}_1(20)
    time.sleep(0.0002)  # before 3.13 nobody else asks an interpreter that shares its GIL to let it go
"""
STAY, CHURN = int(sys.argv[1]), int(sys.argv[2])
KIND = sys.argv[3] if len(sys.argv) > 3 else "isolated"
ended = [0] * CHURN


def make():
    if sys.version_info >= (3, 13):
        return interpreters.create(KIND)
    if sys.version_info >= (3, 10):
        return interpreters.create(isolated=KIND == "isolated")
    return interpreters.create()


def run(interpreter, seconds):
    interpreters.run_string(interpreter, SCRIPT.format(id=int(interpreter), seconds=seconds))


def stay(interpreter):
    run(interpreter, 1000)


def churn(number):
    while True:
        interpreter = make()
        run(interpreter, 0.003)
        interpreters.destroy(interpreter)
        ended[number] += 1


def main():
    for interpreter in [make() for _ in range(STAY)]:
        threading.Thread(target=stay, args=(interpreter,), daemon=True).start()
    for number in range(CHURN):
        threading.Thread(target=churn, args=(number,), daemon=True).start()
    time.sleep(0.3)
    print("ready", flush=True)
    while sys.stdin.readline():
        print("ended", sum(ended), flush=True)
    os._exit(0)


main()
