# Starts children in the way that argv[1] says; each prints nothing, works in a function named for its role.
import os
import subprocess
import sys
import time


def work_of_child(seconds):
    end = time.time() + seconds
    while time.time() < end:
        sum(range(300))


def work_of_grandchild(seconds):
    work_of_child(seconds)


CODE = """
import time
def {0}(seconds):
    end = time.time() + seconds
    while time.time() < end:
        sum(range(300))
{0}({1})
"""


def start(kind, seconds):
    if kind in ("fork", "spawn", "forkserver"):
        import multiprocessing
        child = multiprocessing.get_context(kind).Process(target=work_of_child, args=(seconds,))
        child.start()
        child.join()
    elif kind == "subprocess":
        subprocess.check_call([sys.executable, "-c", CODE.format("work_of_child", seconds)])
    elif kind == "shell":
        subprocess.check_call(["/bin/sh", "-c", "sleep 0; " + sys.executable + ' -c "$0"; true',
                               CODE.format("work_of_child", seconds)])
    elif kind == "orphan":  # its parent ends at once
        read, write = os.pipe()
        if os.fork() == 0:
            if os.fork() == 0:
                work_of_grandchild(seconds)
                os.write(write, b"x")
                os._exit(0)
            os._exit(0)
        os.wait()
        os.close(write)
        os.read(read, 1)
    elif kind == "exec":
        os.execv(sys.executable, [sys.executable, "-c", CODE.format("work_of_child", seconds)])
    elif kind == "fork_exec":
        if os.fork() == 0:
            work_of_grandchild(seconds)
            os.execv(sys.executable, [sys.executable, "-c", CODE.format("work_of_child", seconds)])
        os.wait()
    else:
        raise SystemExit("no such kind: " + kind)


if __name__ == "__main__":
    print("ready", flush=True)
    if len(sys.argv) > 3:
        sys.stdin.readline()
    for kind in sys.argv[1].split(","):
        start(kind, float(sys.argv[2]))
