"""Eight chains of 160 to 230 calls each, one after the other: x8 calls itself, then x9 many times, which
calls itself. A stack that mixes letters never happened. Some chains stand for a tenth of a second, so that
what watches deep stacks is laid and goes off; others for a few microseconds."""
import sys

CHAIN = """
def {c}9(n, k):
    if n:
        return {c}9(n - 1, k)
    s = 0
    for i in range(k):
        s += i
    return s


def {c}8(n, m, k):
    if n:
        return {c}8(n - 1, m, k)
    for i in range(40):
        {c}9(m, k)
"""

sys.setrecursionlimit(10000)
exec(compile("".join(CHAIN.format(c=c) for c in "abcdefgh"), "deep_chains.py", "exec"))
chains = [globals()[c + "8"] for c in "abcdefgh"]


def main():
    while True:
        for chain in chains:
            chain(150, 20, 20000)
        for chain in chains:
            chain(150, 60, 200)


print("ready", flush=True)
main()
