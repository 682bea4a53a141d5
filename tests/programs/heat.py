"""One hot line, a line that calls it, and with a number: that many lines more of another file.

usage: heat.py SECONDS [LINES]
"""
import os
import sys
import time


def hot(n):
    return sum(i * i for i in range(n))  # hot


def main(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        hot(20000)


if len(sys.argv) > 2:
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "long.py")
    with open(path, "w") as file:
        file.write("x = [\n" + "    1,\n" * int(sys.argv[2]) + "]\n\n\ndef run(f, n):\n    f(n)  # end\n")
    import long
    inner = hot

    def hot(n):
        long.run(inner, n)

main(float(sys.argv[1]))
