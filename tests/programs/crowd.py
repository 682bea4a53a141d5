"""crowd.py N: N threads that share the GIL, thread i with functions of its own letter. Python calls Python directly, through
C code, and through generators, in ways that leave the same depth and the same top of the data stack behind:

    x1 -> x2 (through max)  -> x6
    x1 -> x3 (through map)  -> x4 (a generator, through sum) -> x6
    x1 -> x4 (a generator, in a loop) -> x6
    x1 -> x5 -> x6
"""
import sys
import threading
import time

SOURCE = """
def X1(v):
    while True:
        max((v,), key=X2)
        list(map(X3, (v,)))
        for _ in X4(v):
            pass
        X5(v)


def X2(v):
    return X6(v)


def X3(v):
    return sum(X4(v))


def X4(v):
    yield X6(v)


def X5(v):
    return X6(v)


def X6(v):
    for _ in range(v):
        pass
    time.sleep(0)
    return v
"""

for i in range(int(sys.argv[1])):
    names = {"time": time}
    letter = chr(ord("a") + i)
    exec(compile(SOURCE.replace("X", letter), "crowd_%s.py" % letter, "exec"), names)
    threading.Thread(target=names[letter + "1"], args=(20,), daemon=True, name="of " + letter).start()
print("ready", flush=True)
time.sleep(1000)
