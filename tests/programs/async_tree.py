"""asyncio's ways for one task to wait for another, at rest. Prints what is true: each task's name, the names of
those that await it, and its coroutines' functions, leaf first."""
import asyncio
import json
import sys
import threading
import time
from asyncio import tasks

HAS_GROUPS = sys.version_info >= (3, 11)
HAS_EAGER = sys.version_info >= (3, 12)
truth = {}
kept = []  # asyncio itself does not keep a task whose future nobody else knows: a collection ends it


def start(coroutine, name, awaited_by, chain, factory=None):
    task = factory(coroutine) if factory else asyncio.ensure_future(coroutine)
    task.set_name(name)
    kept.append(task)
    truth[name] = {"awaited_by": sorted(awaited_by), "chain": chain}
    return task


async def nap():
    await asyncio.sleep(1000)


async def middle():
    await nap()


async def numbers():
    for number in range(1000):
        await nap()
        yield number


async def loop_over_numbers():
    async for _ in numbers():
        pass


async def one_number():
    await numbers().__anext__()


async def bare():
    await asyncio.get_running_loop().create_future()


async def wait_for_task(task):
    await task


async def wait_both():
    one = start(nap(), "wait-1", ["wait"], ["sleep", "nap"])
    two = start(bare(), "wait-2", ["wait"], ["bare"])
    await asyncio.wait([one, two])


async def shielding():
    await asyncio.shield(start(nap(), "shielded", ["shield"], ["sleep", "nap"]))


async def with_timeout():
    await asyncio.wait_for(start(middle(), "timed", ["timeout"], ["sleep", "nap", "middle"]), 1000)


async def nested_gather():
    inner = asyncio.gather(start(nap(), "inner-1", ["gather"], ["sleep", "nap"]),
                           start(nap(), "inner-2", ["gather"], ["sleep", "nap"]))
    await asyncio.gather(inner, start(bare(), "outer-1", ["gather"], ["bare"]))


async def group():
    async with asyncio.TaskGroup() as tasks_of_group:
        for i in range(2):
            start(middle(), f"member-{i}", ["group"], ["sleep", "nap", "middle"], tasks_of_group.create_task)


async def eager():
    """Runs at once up to its first wait."""
    await nap()


class OldStyle:
    def __await__(self):
        return (yield from bare().__await__())


async def awaits_object():
    await OldStyle()


def python_task(coroutine):
    return tasks._PyTask(coroutine, loop=asyncio.get_running_loop())


async def main():
    shared = start(middle(), "shared", ["left", "right"], ["sleep", "nap", "middle"])
    start(wait_for_task(shared), "left", [], ["wait_for_task"])
    start(wait_for_task(shared), "right", [], ["wait_for_task"])
    start(loop_over_numbers(), "agen", [], ["sleep", "nap", "numbers", "loop_over_numbers"])
    start(one_number(), "anext", [], ["sleep", "nap", "numbers", "one_number"])
    start(wait_both(), "wait", [], None)
    start(shielding(), "shield", [], None)
    start(with_timeout(), "timeout", [], None)
    start(nested_gather(), "gather", [], ["nested_gather"])
    start(awaits_object(), "object", [], ["bare", "OldStyle.__await__", "awaits_object"])
    start(bare(), "näme \u2603 \U0001f40d", [], ["bare"])
    slow = start(middle(), "python", ["python-waiter"], ["sleep", "nap", "middle"], python_task)
    start(wait_for_task(slow), "python-waiter", [], ["Future.__await__", "wait_for_task"], python_task)
    done = start(asyncio.sleep(0), "done", [], None)
    truth.pop("done")
    if HAS_GROUPS:
        start(group(), "group", [], None)
    if HAS_EAGER:
        loop = asyncio.get_running_loop()
        loop.set_task_factory(asyncio.eager_task_factory)
        start(eager(), "eager", [], ["sleep", "nap", "eager"], loop.create_task)
        loop.set_task_factory(None)
    await asyncio.sleep(0.05)
    assert done.done()
    asyncio.current_task().set_name("main")
    if sys.version_info >= (3, 14):
        graphs()
    told.set()
    await asyncio.sleep(1000)


def graphs():
    """What asyncio says of itself."""
    for task in asyncio.all_tasks():
        graph = asyncio.capture_call_graph(task)
        one = truth.get(task.get_name())
        if one is None or not isinstance(task, tasks._CTask):
            continue
        one["asyncio"] = {
            "awaited_by": sorted(above.future.get_name() for above in graph.awaited_by),
            "chain": [[entry.frame.f_code.co_qualname, entry.frame.f_lineno] for entry in graph.call_stack],
        }


async def second_main():
    start(middle(), "other-loop", [], ["sleep", "nap", "middle"])
    asyncio.current_task().set_name("other-main")
    other_told.set()
    await asyncio.sleep(1000)


told, other_told = threading.Event(), threading.Event()
threading.Thread(target=lambda: asyncio.run(second_main()), daemon=True).start()


def tell():
    told.wait()
    other_told.wait()
    time.sleep(0.2)
    print("ready", json.dumps(truth), flush=True)


threading.Thread(target=tell, daemon=True).start()
asyncio.run(main())
