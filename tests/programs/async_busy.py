"""Tasks that take about 3/4 and 1/4 of the time, and one that waits all the time. "churn": short-lived tasks as
well. Each line of input is answered with the seconds that the two have taken so far, by the clock on the wall."""
import asyncio
import json
import sys
import time

CHURN = "churn" in sys.argv[1:]
EAGER = "eager" in sys.argv[1:]


taken = {"three": 0, "one": 0}


def spin(seconds):
    began, end = time.perf_counter(), time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(500))
    taken["three" if seconds > 0.002 else "one"] += time.perf_counter() - began


def answer():
    sys.stdin.readline()
    print("taken", json.dumps(taken), flush=True)


async def step(seconds):
    spin(seconds)
    await asyncio.sleep(0)


async def numbers(seconds):
    while True:
        await step(seconds)
        yield 1


async def three():
    while True:
        await step(0.003)


async def one():
    async for _ in numbers(0.001):
        pass


async def parent(coroutine, name):
    task = asyncio.ensure_future(coroutine)
    task.set_name(name)
    await task


async def waits():
    await asyncio.sleep(1000)


async def short():
    await asyncio.sleep(0)


async def churn():
    while True:
        for i in range(5):
            task = asyncio.ensure_future(short())
            task.set_name(f"short-{i}")
            await task
        await asyncio.sleep(0)


async def main():
    asyncio.current_task().set_name("main")
    if EAGER:
        asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)
    parts = []
    for coroutine, name in ((three(), "three"), (one(), "one"), (waits(), "waits")):
        part = asyncio.ensure_future(parent(coroutine, name))
        part.set_name("parent-of-" + name)
        parts.append(part)
    if CHURN:
        parts.append(asyncio.ensure_future(churn()))
        parts[-1].set_name("churn")
    asyncio.get_running_loop().add_reader(sys.stdin, answer)
    print("ready", flush=True)
    await asyncio.gather(*parts)


asyncio.run(main())
