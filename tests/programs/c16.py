# A family of every kind: children by three ways of multiprocessing, a child that is no Python, a grandchild whose parent
# ends at once, a zombie, and one short child after the other.
import multiprocessing
import os
import subprocess
import sys


def busy(n):
    while True:
        sum(range(n))


if __name__ == "__main__":
    for method in ("fork", "spawn", "forkserver"):
        multiprocessing.get_context(method).Process(target=busy, args=(2000,), daemon=True).start()
    subprocess.Popen(["sleep", "1000"])
    subprocess.Popen([sys.executable, "-c", "import subprocess, sys; "
                      "subprocess.Popen([sys.executable, '-c', 'while 1: sum(range(999))'])"])
    zombie = os.fork()
    if zombie == 0:
        os._exit(0)
    print("ready", flush=True)
    while True:
        subprocess.run([sys.executable, "-c", "sum(range(3*10**6))"])
