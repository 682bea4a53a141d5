"""Threads that come and go, calls as short as can be, code objects made and dropped, generators."""
import threading


def short(n):
    return n and short(n - 1)


def generator(n):
    yield short(n)
    yield from range(n)


def burst():
    for n in range(30):
        short(n)
        sum(generator(n))
        exec(compile("def f(x): return x\nf(%d)" % n, "made_%d.py" % n, "exec"), {})


def main():
    while True:
        threads = [threading.Thread(target=burst) for _ in range(5)]
        for thread in threads:
            thread.start()
        burst()
        for thread in threads:
            thread.join()


print("ready", flush=True)
main()
