#!/usr/bin/env python3
"""A program worth looking into: an observatory that makes a star field, finds the stars, and writes reports.

Four threads: one exposes frames, two reduce them (most of the time goes there, and not where one would
guess), one writes reports now and then. Runs until it is stopped.
"""
import hashlib
import json
import queue
import random
import threading
import time

WIDTH, HEIGHT = 96, 64


class Star:
    def __init__(self, random_source):
        self.x = random_source.uniform(2, WIDTH - 3)
        self.y = random_source.uniform(2, HEIGHT - 3)
        self.brightness = random_source.expovariate(1 / 90)

    def light_at(self, x, y):
        distance = (x - self.x) ** 2 + (y - self.y) ** 2
        return self.brightness / (1 + distance)


class Camera:
    """Exposes frames: a list of rows of numbers."""

    def __init__(self, n_stars, seed):
        self.random = random.Random(seed)
        self.stars = [Star(self.random) for _ in range(n_stars)]

    def expose(self):
        frame = [[self.noise() for _ in range(WIDTH)] for _ in range(HEIGHT)]
        for star in self.stars:
            self.add_light(frame, star)
        return frame

    def noise(self):
        return self.random.gauss(10, 2)

    def add_light(self, frame, star):
        for y in range(int(star.y) - 2, int(star.y) + 3):
            for x in range(int(star.x) - 2, int(star.x) + 3):
                frame[y][x] += star.light_at(x, y)


def neighbours(frame, x, y, radius):
    for j in range(max(0, y - radius), min(HEIGHT, y + radius + 1)):
        for i in range(max(0, x - radius), min(WIDTH, x + radius + 1)):
            yield frame[j][i]


def background(frame, x, y):
    """The median around a pixel: the slow part, though it looks innocent."""
    values = sorted(neighbours(frame, x, y, 3))
    return values[len(values) // 2]


def flatten(frame):
    return [[value - background(frame, x, y) for x, value in enumerate(row)] for y, row in enumerate(frame)]


def is_peak(frame, x, y):
    return frame[y][x] > 12 and frame[y][x] == max(neighbours(frame, x, y, 1))


def find_stars(frame):
    return [(x, y, frame[y][x]) for y in range(HEIGHT) for x in range(WIDTH) if is_peak(frame, x, y)]


def checksum(frame):
    """Releases the GIL for most of its time."""
    data = repr(frame).encode() * 4
    return hashlib.sha256(data).hexdigest()


def expose_forever(camera, frames):
    while True:
        frames.put(camera.expose())


def reduce_forever(frames, catalogue):
    while True:
        frame = frames.get()
        stars = find_stars(flatten(frame))
        catalogue.put({"checksum": checksum(frame), "stars": stars})


def report_forever(catalogue):
    n_stars = n_frames = 0
    while True:
        entry = catalogue.get()
        n_frames += 1
        n_stars += len(entry["stars"])
        brightest = sorted(entry["stars"], key=lambda star: -star[2])[:3]
        print(json.dumps({"frames": n_frames, "stars": n_stars, "brightest": brightest}), flush=True)


def main():
    frames, catalogue = queue.Queue(maxsize=3), queue.Queue()
    camera = Camera(n_stars=40, seed=1)
    work = [
        ("camera", expose_forever, (camera, frames)),
        ("reducer-1", reduce_forever, (frames, catalogue)),
        ("reducer-2", reduce_forever, (frames, catalogue)),
        ("reports", report_forever, (catalogue,)),
    ]
    for name, function, args in work:
        threading.Thread(target=function, args=args, name=name, daemon=True).start()
    while True:
        time.sleep(1)


if __name__ == "__main__":
    main()
