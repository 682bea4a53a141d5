"""Every way to get from Python code into Python code, hot, one above the other; then asleep.

Says of each frame of the thread that sleeps, leaf first, what dis says about its instruction: function,
the form that stands in the bytecode, the plain form. `opcodes.py EVENTS`: with sys.monitoring on for them.
"""
import dis
import json
import sys
import threading
import time

HOT = 2000
deep = False


def leaf(value=None):
    if deep:
        time.sleep(1000)
    return value


class Thing:
    def __init__(self, start=0):
        self.start = start

    @property
    def by_property(self):
        return by_call(self.start)

    def __getattr__(self, name):
        return self.by_property

    def __add__(self, other):
        return self.by_missing

    def __getitem__(self, key):
        return self + key

    def __lt__(self, other):
        return self[other]

    def __enter__(self):
        return self < 1

    def __exit__(self, *error):
        return None

    def method(self, *args, **named):
        with self:
            return 1


def by_call(x):
    return leaf(x)


def by_star(thing):
    args, named = (1, 2), {"three": 3}
    return thing.method(*args, **named)


def by_generator(thing):
    yield by_star(thing)


def by_loop(thing):
    for x in by_generator(thing):
        return x


def by_delegation(thing):
    yield from by_generator(thing)
    by_loop(thing)


def by_comprehension(thing):
    return [by_loop(thing) for _ in range(2)]


def by_long_jump(thing):
    """More than 255 constants, so that arguments are extended."""
    a = 0
    if a:
        a = a * 0.5 + a * 1.5 + a * 2.5 + a * 3.5 + a * 4.5 + a * 5.5 + a * 6.5 + a * 7.5
        a = a * 8.5 + a * 9.5 + a * 10.5 + a * 11.5 + a * 12.5 + a * 13.5 + a * 14.5 + a * 15.5
        a = a * 16.5 + a * 17.5 + a * 18.5 + a * 19.5 + a * 20.5 + a * 21.5 + a * 22.5 + a * 23.5
        a = a * 24.5 + a * 25.5 + a * 26.5 + a * 27.5 + a * 28.5 + a * 29.5 + a * 30.5 + a * 31.5
        a = a * 32.5 + a * 33.5 + a * 34.5 + a * 35.5 + a * 36.5 + a * 37.5 + a * 38.5 + a * 39.5
        a = a * 40.5 + a * 41.5 + a * 42.5 + a * 43.5 + a * 44.5 + a * 45.5 + a * 46.5 + a * 47.5
        a = a * 48.5 + a * 49.5 + a * 50.5 + a * 51.5 + a * 52.5 + a * 53.5 + a * 54.5 + a * 55.5
        a = a * 56.5 + a * 57.5 + a * 58.5 + a * 59.5 + a * 60.5 + a * 61.5 + a * 62.5 + a * 63.5
        a = a * 64.5 + a * 65.5 + a * 66.5 + a * 67.5 + a * 68.5 + a * 69.5 + a * 70.5 + a * 71.5
        a = a * 72.5 + a * 73.5 + a * 74.5 + a * 75.5 + a * 76.5 + a * 77.5 + a * 78.5 + a * 79.5
        a = a * 80.5 + a * 81.5 + a * 82.5 + a * 83.5 + a * 84.5 + a * 85.5 + a * 86.5 + a * 87.5
        a = a * 88.5 + a * 89.5 + a * 90.5 + a * 91.5 + a * 92.5 + a * 93.5 + a * 94.5 + a * 95.5
        a = a * 96.5 + a * 97.5 + a * 98.5 + a * 99.5 + a * 100.5 + a * 101.5 + a * 102.5 + a * 103.5
        a = a * 104.5 + a * 105.5 + a * 106.5 + a * 107.5 + a * 108.5 + a * 109.5 + a * 110.5 + a * 111.5
        a = a * 112.5 + a * 113.5 + a * 114.5 + a * 115.5 + a * 116.5 + a * 117.5 + a * 118.5 + a * 119.5
        a = a * 120.5 + a * 121.5 + a * 122.5 + a * 123.5 + a * 124.5 + a * 125.5 + a * 126.5 + a * 127.5
        a = a * 128.5 + a * 129.5 + a * 130.5 + a * 131.5 + a * 132.5 + a * 133.5 + a * 134.5 + a * 135.5
        a = a * 136.5 + a * 137.5 + a * 138.5 + a * 139.5 + a * 140.5 + a * 141.5 + a * 142.5 + a * 143.5
        a = a * 144.5 + a * 145.5 + a * 146.5 + a * 147.5 + a * 148.5 + a * 149.5 + a * 150.5 + a * 151.5
        a = a * 152.5 + a * 153.5 + a * 154.5 + a * 155.5 + a * 156.5 + a * 157.5 + a * 158.5 + a * 159.5
        a = a * 160.5 + a * 161.5 + a * 162.5 + a * 163.5 + a * 164.5 + a * 165.5 + a * 166.5 + a * 167.5
        a = a * 168.5 + a * 169.5 + a * 170.5 + a * 171.5 + a * 172.5 + a * 173.5 + a * 174.5 + a * 175.5
        a = a * 176.5 + a * 177.5 + a * 178.5 + a * 179.5 + a * 180.5 + a * 181.5 + a * 182.5 + a * 183.5
        a = a * 184.5 + a * 185.5 + a * 186.5 + a * 187.5 + a * 188.5 + a * 189.5 + a * 190.5 + a * 191.5
        a = a * 192.5 + a * 193.5 + a * 194.5 + a * 195.5 + a * 196.5 + a * 197.5 + a * 198.5 + a * 199.5
        a = a * 200.5 + a * 201.5 + a * 202.5 + a * 203.5 + a * 204.5 + a * 205.5 + a * 206.5 + a * 207.5
        a = a * 208.5 + a * 209.5 + a * 210.5 + a * 211.5 + a * 212.5 + a * 213.5 + a * 214.5 + a * 215.5
        a = a * 216.5 + a * 217.5 + a * 218.5 + a * 219.5 + a * 220.5 + a * 221.5 + a * 222.5 + a * 223.5
        a = a * 224.5 + a * 225.5 + a * 226.5 + a * 227.5 + a * 228.5 + a * 229.5 + a * 230.5 + a * 231.5
        a = a * 232.5 + a * 233.5 + a * 234.5 + a * 235.5 + a * 236.5 + a * 237.5 + a * 238.5 + a * 239.5
        a = a * 240.5 + a * 241.5 + a * 242.5 + a * 243.5 + a * 244.5 + a * 245.5 + a * 246.5 + a * 247.5
        a = a * 248.5 + a * 249.5 + a * 250.5 + a * 251.5 + a * 252.5 + a * 253.5 + a * 254.5 + a * 255.5
        a = a * 256.5 + a * 257.5 + a * 258.5 + a * 259.5 + a * 260.5 + a * 261.5 + a * 262.5 + a * 263.5
        a = a * 264.5 + a * 265.5 + a * 266.5 + a * 267.5 + a * 268.5 + a * 269.5 + a * 270.5 + a * 271.5
        a = a * 272.5 + a * 273.5 + a * 274.5 + a * 275.5 + a * 276.5 + a * 277.5 + a * 278.5 + a * 279.5
        a = a * 280.5 + a * 281.5 + a * 282.5 + a * 283.5 + a * 284.5 + a * 285.5 + a * 286.5 + a * 287.5
        a = a * 288.5 + a * 289.5 + a * 290.5 + a * 291.5 + a * 292.5 + a * 293.5 + a * 294.5 + a * 295.5
        a = a * 296.5 + a * 297.5 + a * 298.5 + a * 299.5 + a * 300.5 + a * 301.5 + a * 302.5 + a * 303.5
        a = a * 304.5 + a * 305.5 + a * 306.5 + a * 307.5 + a * 308.5 + a * 309.5 + a * 310.5 + a * 311.5
        a = a * 312.5 + a * 313.5 + a * 314.5 + a * 315.5 + a * 316.5 + a * 317.5 + a * 318.5 + a * 319.5
    return by_comprehension(thing)


def by_keyword(thing):
    return by_long_jump(thing=thing)


async def by_await(thing):
    return by_keyword(thing)


async def by_two_awaits(thing):
    return await by_await(thing)


def root(thing):
    coroutine = by_two_awaits(thing)
    try:
        coroutine.send(None)
    except StopIteration:
        pass


def told(frame):
    frames = []
    while frame:
        code = frame.f_code
        plain = {i.offset: i.opname for i in dis.get_instructions(code)}
        at = max(offset for offset in plain if offset <= frame.f_lasti)
        form = dis._all_opname[code._co_code_adaptive[at]]
        if len(sys.argv) == 1:  # adaptive dis (3.12) loses its way where code is instrumented
            adaptive = {i.offset: i.opname for i in dis.get_instructions(code, adaptive=True)}
            assert adaptive[at] == form, (adaptive[at], form)
        frames.append([code.co_name, form, plain[at]])
        frame = frame.f_back
    return frames


def work():
    global deep
    thing = Thing()
    for i in range(HOT):
        deep = i == HOT - 1
        root(thing)


def main():
    if len(sys.argv) > 1:
        events = 0
        for name in sys.argv[1].split(","):
            events |= getattr(sys.monitoring.events, name)
        sys.monitoring.use_tool_id(2, "test")
        sys.monitoring.set_events(2, events)
    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    while not deep:
        time.sleep(0.01)
    time.sleep(0.3)
    frames = told(sys._current_frames()[worker.ident])
    print("ready", json.dumps({"tid": worker.native_id, "frames": frames}), flush=True)
    time.sleep(1000)


if __name__ == "__main__":
    main()
