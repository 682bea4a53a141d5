"""Three sub-interpreters, each with a chain of its own in a thread of its own, all asleep."""
import sys
import textwrap
import threading
import time

if sys.version_info >= (3, 13):
    import _interpreters as interpreters
else:
    import _xxsubinterpreters as interpreters

SCRIPT = """
import time
def inner_%d():
    time.sleep(1000)
def outer_%d():
    inner_%d()
outer_%d()
"""


def host(interpreter, n):
    interpreters.run_string(interpreter, SCRIPT % (n, n, n, n))


def main():
    made = [interpreters.create() for _ in range(3)]
    for n, interpreter in enumerate(made):
        threading.Thread(target=host, args=(interpreter, n), daemon=True).start()
    time.sleep(0.7)
    print("ready", *[int(interpreter) for interpreter in made], flush=True)
    time.sleep(1000)


main()
