"""chains.py KIND N: eight chains x1 -> x2 -> ... -> x6 (x in a..h), as truth.py has, of other kinds of calls.

KIND is call, exec (compiled anew each time), generator, or coroutine (20 asyncio tasks). The leaf loops
N times. A stack that names two letters, or skips a number, never happened.
"""
import asyncio
import sys

import work

LETTERS = "abcdefgh"
LENGTH = 6
TASKS = 20

LEAF = {
    "call": "def {c}6(n):\n    s = 0\n    for k in range(n): s += k\n    return s\n",
    "generator": "def {c}6(n):\n    s = 0\n    for k in range(n): s += k\n    yield s\n    yield s\n",
    "coroutine": "async def {c}6(n):\n    s = 0\n    for k in range(n): s += k\n    await sleep(0)\n    return s\n",
}
INNER = {
    "call": "def {c}{i}(n):\n    return {c}{j}(n)\n",
    "generator": "def {c}{i}(n):\n    yield from {c}{j}(n)\n",
    "coroutine": "async def {c}{i}(n):\n    return await {c}{j}(n)\n",
}


def chain(kind, letter):
    lines = [INNER[kind].format(c=letter, i=i, j=i + 1) for i in range(1, LENGTH)]
    return "".join(lines) + LEAF[kind].format(c=letter)


def firsts(kind):
    names = {"sleep": asyncio.sleep}
    exec(compile("".join(chain(kind, c) for c in LETTERS), "chains.py", "exec"), names)
    return [names[c + "1"] for c in LETTERS]


def call(n):
    chains = firsts("call")
    while True:
        for first in chains:
            first(n)
        work.done()


def execute(n):
    texts = [(c, chain("call", c)) for c in LETTERS]
    while True:
        for letter, text in texts:
            names = {}
            exec(compile(text, "made_%s.py" % letter, "exec"), names)
            names[letter + "1"](n)
        work.done()


def generate(n):
    chains = firsts("generator")
    while True:
        for first in chains:
            for _ in first(n):
                pass
        work.done()


async def one_task(chains, n):
    while True:
        for first in chains:
            await first(n)
        work.done()


async def all_tasks(n):
    chains = firsts("coroutine")
    await asyncio.gather(*[one_task(chains, n) for _ in range(TASKS)])


def await_all(n):
    asyncio.run(all_tasks(n))


KINDS = {"call": call, "exec": execute, "generator": generate, "coroutine": await_all}
print("ready", flush=True)
KINDS[sys.argv[1]](int(sys.argv[2]))
