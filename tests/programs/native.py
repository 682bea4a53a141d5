"""Time in C functions and in Python, by turns."""
import time


def in_c():
    sum(range(100000))


def in_python():
    x = 0
    for i in range(20000):
        x = x ^ i & 255


def sleeper():
    time.sleep(0.002)


def calls(n):
    if n:
        return calls(n - 1)
    return in_python()


for _ in range(50):  # warm: what calls what is known then
    in_c()
    sleeper()
print("ready", flush=True)
while True:
    in_c()
    in_python()
    sleeper()
    calls(3)
