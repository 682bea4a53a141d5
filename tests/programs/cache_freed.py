"""Code objects made and dropped as fast as it goes, without compiling: name, file and first line agree."""
import sys


def body(n):
    s = 0
    for k in range(n):
        s += k
    return s


def call(function, n):
    return function(n)


def main():
    code, make = body.__code__, type(body)
    qualified = sys.version_info >= (3, 11)
    names = {"range": range}
    i = 0
    while True:
        i = (i + 1) % 90
        name = "fn_%02d" % (i + 10)
        more = {"co_qualname": name} if qualified else {}
        new = code.replace(co_name=name, co_filename="gen_%02d.py" % (i + 10), co_firstlineno=i + 10, **more)
        call(make(new, names), 150)
        del new


print("ready", flush=True)
main()
