"""Each thread in a state that its name tells."""
import hashlib
import threading
import time


def busy():
    while True:
        sum(range(2000))


def computes(data=b"x" * (1 << 24)):
    while True:
        hashlib.sha256(data).hexdigest()


def sleeps():
    time.sleep(1000)


def locked(lock=threading.Lock()):
    lock.acquire()
    lock.acquire()


def handles():
    try:
        raise ValueError
    except ValueError:
        inside()


def inside():
    time.sleep(1000)


def handling_generator():
    try:
        raise ValueError
    except ValueError:
        time.sleep(1000)
    yield


def handles_in_generator():
    next(handling_generator())


def has_handled():
    try:
        raise ValueError
    except ValueError:
        pass
    time.sleep(1000)


THREADS = {"busy_1": busy, "busy_2": busy, "computes": computes, "sleeps) S x (": sleeps, "locked": locked,
           "handles": handles, "handles_in_generator": handles_in_generator, "has_handled": has_handled}
for name, work in THREADS.items():
    threading.Thread(target=work, name=name, daemon=True).start()
time.sleep(0.3)
print("ready", flush=True)
time.sleep(1000)
