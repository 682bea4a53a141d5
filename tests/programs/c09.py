"""A thread that computes without the GIL, and one with it."""
import hashlib
import threading

data = b"x" * (1 << 27)


def nogil():
    while True:
        hashlib.sha256(data).hexdigest()


def withgil():
    while True:
        sum(range(5000))


threading.Thread(target=nogil, daemon=True, name="nogil").start()
print("ready", flush=True)
withgil()
