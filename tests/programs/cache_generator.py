"""One generator, resumed by two callers in turn: under caller_a it does work_a, under caller_b work_b."""


def work_a(n):
    s = 0
    for k in range(n):
        s += k
    return s


def work_b(n):
    s = 0
    for k in range(n):
        s += k
    return s


def inner():
    what = yield
    while True:
        what = yield work_a(60) if what == "a" else work_b(60)


def outer():
    yield from inner()


def caller_a(generators):
    for generator in generators:
        generator.send("a")


def caller_b(generators):
    for generator in generators:
        generator.send("b")


def main():
    generators = [outer(), inner(), outer()]
    for generator in generators:
        next(generator)
    while True:
        caller_a(generators)
        caller_b(generators)


print("ready", flush=True)
main()
