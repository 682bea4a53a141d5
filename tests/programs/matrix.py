"""One thread for every shape that a Python call can have, each standing still inside park()."""
import asyncio
import contextlib
import functools
import json
import os
import re
import sys
import threading

import standstill
from standstill import park

SHAPES = []


def shape(function):
    SHAPES.append(function)
    return function


# ---- plain calls

@shape
def nested_functions():
    def inner():
        def innermost():
            park()
        innermost()
    inner()


class Base:
    def method(self):
        return self.of_class()

    @classmethod
    def of_class(cls):
        return cls.static()

    @staticmethod
    def static():
        return Base().attribute

    @property
    def attribute(self):
        return park()


class Derived(Base):
    class Inner:
        def deep(self):
            Derived().method()

    def method(self):
        return super().method()


@shape
def methods():
    Derived.Inner().deep()


@shape
def lambdas():
    (lambda: (lambda x, *rest: park())(1, 2))()


def many(a, *args, b=0, **kwargs):
    park()


@shape
def star_arguments():
    many(*(1, 2, 3), b=2, **{"c": 3})


@shape
def keyword_arguments():
    many(1, b=2, c=3)


def recurse(n):
    if n:
        return recurse(n - 1)
    park()


@shape
def recursion():
    recurse(40)


# ---- decorators and closures

def noisy(word):
    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            return function(*args, **kwargs) or word
        return wrapper
    return decorate


@shape
@noisy("outer")
@noisy("inner")
def decorators():
    park()


@functools.lru_cache(maxsize=None)
def cached(n):
    park()


@shape
def lru_cached():
    cached(1)


@functools.singledispatch
def dispatched(value):
    raise TypeError


@dispatched.register(int)
def _(value):
    park()


@shape
def single_dispatch():
    dispatched(1)


# ---- generators

def counting():
    yield 1
    park()
    yield 2


def delegating():
    yield from (x for x in counting())


@shape
def generators():
    for _ in delegating():
        pass


@shape
def generator_send_and_throw():
    def body():
        try:
            got = yield 1
            assert got
            yield 2
        except KeyError:
            park()

    g = body()
    next(g)
    g.send(True)
    g.throw(KeyError("x"))


@shape
def generator_close():
    def body():
        try:
            yield 1
        finally:
            park()

    g = body()
    next(g)
    g.close()


@shape
def comprehensions():
    [[park() for _ in range(1)] for _ in range(1)]


@shape
def dict_comprehension():
    {x: {park() for y in (1,)} for x in (1, 2)}


@shape
def generator_expression():
    sum(park() for _ in range(1))


# ---- coroutines

async def innermost():
    await asyncio.sleep(0)
    park()


async def middle():
    await innermost()


class Entering:
    async def __aenter__(self):
        await middle()

    async def __aexit__(self, *args):
        pass


async def countdown():
    yield 1
    async with Entering():
        pass


async def iterate():
    async for _ in countdown():
        pass


@shape
def coroutines_in_a_loop():
    asyncio.new_event_loop().run_until_complete(middle())


@shape
def async_iteration():
    asyncio.new_event_loop().run_until_complete(iterate())


@shape
def coroutine_by_hand():
    async def outer():
        await inner()

    async def inner():
        park()

    outer().send(None)


# ---- Python called from C

class Special:
    def __init__(self, what):
        self.what = what

    def __getattr__(self, name):
        park()

    def __call__(self):
        park()

    def __add__(self, other):
        park()

    def __getitem__(self, key):
        park()

    def __iter__(self):
        return self

    def __next__(self):
        park()

    def __eq__(self, other):
        park()

    def __hash__(self):
        park()

    def __enter__(self):
        park()

    def __exit__(self, *args):
        pass

    def __repr__(self):
        park()


class Dying:
    def __del__(self):
        park()


@shape
def sorted_key():
    sorted([3, 1, 2], key=lambda x: park())


def mapped(x):
    return park()


@shape
def map_callback():
    list(map(mapped, filter(lambda x: x, [1])))


@shape
def reduce_callback():
    functools.reduce(lambda a, b: park(), [1, 2])


@shape
def partial_callback():
    functools.partial(many, 1, b=3)()


@shape
def regular_expression_callback():
    re.sub("a", lambda match: park(), "banana")


@shape
def json_callback():
    json.dumps({"x": object()}, default=lambda o: park())


@shape
def special_attribute():
    Special(1).missing


@shape
def special_operator():
    Special(1) + 1


@shape
def special_item():
    Special(1)[1]


@shape
def special_call():
    Special(1)()


@shape
def special_next():
    for _ in Special(1):
        pass


@shape
def special_equal():
    [1].index(Special(1))


@shape
def special_hash():
    {Special(1): 1}


@shape
def special_repr():
    "%r" % Special(1)


@shape
def special_delete():
    x = Dying()
    del x


@shape
def entering():
    with Special(1):
        pass


@contextlib.contextmanager
def managed():
    park()
    yield


@shape
def context_manager():
    with contextlib.ExitStack() as stack:
        stack.enter_context(managed())


class Meta(type):
    def __call__(cls, *args):
        return super().__call__(*args)

    def __new__(mcs, name, bases, namespace):
        return super().__new__(mcs, name, bases, namespace)


class Made(metaclass=Meta):
    def __new__(cls, *args):
        return super().__new__(cls)

    def __init__(self, *args):
        park()


@shape
def metaclass_call():
    Made(1)


# ---- code from elsewhere

@shape
def class_body():
    class Body:
        class Deeper:
            park()


@shape
def executed_text():
    exec(compile("\n\ndef f():\n\n    park()\n\nf()", "text with blanks.py", "exec"), {"park": park})


@shape
def evaluated_text():
    eval("[park() for x in (1,)]")


@shape
def importing():
    folder = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(folder, "imported_module.py"), "w") as file:
        file.write("import standstill\n\n\ndef f():\n    standstill.park()\n\n\nif True:\n    f()\n")
    import imported_module  # noqa


# ---- lines

@shape
def call_over_many_lines():
    many(
        1,
        2,
        *[
            3,
        ],
        b=(
            lambda: park()
        )(),
    )


@shape
def callee_above_its_arguments():
    (
        many
    )(
        1,

        b=4
    )


@shape
def chained_calls():
    class Chain:
        def one(self, *args):
            return self

        def two(self, *args):
            park()

    (Chain()
     .one(1,
          2)
     .one()
     .two(3,
          4))


@shape
def line_goes_backwards():
    for _ in range(2):
        x = [
            1,
            2,
            (3
             if _ else
             4),
        ]
        if _:
            while x:
                x.pop() or many(x,
                                x)
                park()


@shape
def far_apart_lines():
    text = "def f():\n    x = 1\n" + "\n" * 300 + "    if x:\n" + "\n" * 40000 + "        park()\n" + "\n" * 140 + "    x\nf()"
    exec(compile(text, "far.py", "exec"), {"park": park})


@shape
def wide_columns():
    text = "x = '" + "é" * 200 + "'; y = [" + "1, " * 3000 + "]; park()"
    exec(compile(text, "wide.py", "exec"), {"park": park})


@shape
def many_locals():
    names = ["v%d" % i for i in range(700)]
    text = "def f():\n" + "".join("  %s = %d\n" % (n, i) for i, n in enumerate(names))
    text += "  g = park\n  return [%s, g()]\nf()" % ", ".join(names)
    exec(compile(text, "locals.py", "exec"), {"park": park})


@shape
def in_handlers():
    try:
        try:
            raise ValueError
        except ValueError:
            {}["x"]
        finally:
            with contextlib.suppress(Exception):
                park()
    except KeyError:
        pass


# ---- code that ran often before: specialised instructions have frames of their own

N_HOT = 3000


class Hot:
    def __init__(self, n):
        self.n = n
        if n == N_HOT - 1:
            park()


class HotItem:
    def __getitem__(self, n):
        if n == N_HOT - 1:
            park()
        return n


class HotProperty:
    n = 0

    @property
    def value(self):
        self.n += 1
        if self.n == N_HOT:
            park()
        return self.n


def hot_function(n, k=1):
    if n == N_HOT - 1:
        park()


def hot_generator():
    for n in range(N_HOT):
        hot_function(n)
        yield n


@shape
def hot_calls():
    for n in range(N_HOT):
        hot_function(n)


@shape
def hot_init():
    for n in range(N_HOT):
        Hot(n)


@shape
def hot_items():
    item = HotItem()
    for n in range(N_HOT):
        item[n]


@shape
def hot_properties():
    item = HotProperty()
    for _ in range(N_HOT):
        item.value


@shape
def hot_generators():
    for _ in hot_generator():
        pass


@shape
def hot_coroutines():
    async def leaf(n):
        hot_function(n)

    async def loop():
        for n in range(N_HOT):
            await leaf(n)

    loop().send(None)


# ---- watched code

@shape
def traced():
    def watch(frame, event, arg):
        return watch

    def inner():
        x = 1
        park()
        return x

    sys.settrace(watch)
    inner()


@shape
def inside_a_trace_function():
    def watch(frame, event, arg):
        if event == "line" and frame.f_code is inner.__code__:
            sys.settrace(None)
            park()
        return watch

    def inner():
        x = 1
        return x

    sys.settrace(watch)
    inner()


@shape
def profiled():
    def watch(frame, event, arg):
        pass

    sys.setprofile(watch)
    hot_calls()


@shape
def looked_at_frames():
    def inner():
        kept.append(sys._getframe())
        park()

    kept = []
    inner()


# ---- the main thread

def main():
    for function in SHAPES:
        name = getattr(function, "__name__")
        threading.Thread(target=function, name=name, daemon=True).start()
    standstill.stand_still(len(SHAPES) + 1)
    sorted([1], key=lambda x: park())


if __name__ == "__main__":
    main()
