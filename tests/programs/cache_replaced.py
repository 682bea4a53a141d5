"""A function whose code is taken away while the program runs: as step_a calls it, it is body_a."""


def body_a(n):
    s = 0
    for k in range(n):
        s += k
    return s


def body_b(n):
    s = 1
    for k in range(n):
        s += k
    return s


def victim(n):
    return n


codes = {"a": body_a.__code__, "b": body_b.__code__}


def step_a():
    victim.__code__ = codes["a"]
    victim(40)


def step_b():
    victim.__code__ = codes["b"]
    victim(40)


def main():
    while True:
        step_a()
        step_b()


print("ready", flush=True)
main()
