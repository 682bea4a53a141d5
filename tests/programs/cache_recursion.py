"""Recursion that grows and shrinks: even_a calls odd_a calls even_a, and the same with b, never mixed."""
SOURCE = """
def even_%(c)s(n, up):
    s = 0
    for k in range(4):
        s += k
    if n:
        s += odd_%(c)s(n - 1, up)
    for k in range(up):
        s += k
    return s


def odd_%(c)s(n, up):
    s = 0
    for k in range(4):
        s += k
    if n:
        s += even_%(c)s(n - 1, up)
    for k in range(up):
        s += k
    return s


def start_%(c)s(n):
    even_%(c)s(n, 3)
    odd_%(c)s(n, 3)
"""

for c in "ab":
    exec(compile(SOURCE % {"c": c}, "recursion_%s.py" % c, "exec"))


def main():
    depth = 0
    while True:
        depth = (depth + 7) % 60
        start_a(depth)  # noqa: F821
        start_b(depth)  # noqa: F821


print("ready", flush=True)
main()
