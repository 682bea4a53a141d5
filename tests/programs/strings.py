"""Names of every width that a str can have, on the stack of the main thread, from the root to the leaf."""
import sys
import threading

import standstill

NAMES = [
    "ascii_name",
    "latin_\xe9\xff",
    "\u0438\u043c\u044f",
    "\u65e5\u672c\u8a9e_mixed_\xe9",
    "\U00020000\U00020001",
    "wide_\U0001f40d_and_\u0416_and_z",
    "lone_\ud800_surrogate",
    "escaped_\udcff\udc80_bytes",
    "nul_\x00_inside",
    "semi;colon and\nnewline and\ttab",
    "quote\"back\\slash'<html>&amp;",
    "ends_with_space ",
    "\x1b[31mcolour\x7f\x85\u2028",
    "\u202egnp.txet",
    "x" * 5000,
    "\u0416" * 3000,
    "\U0001f40d" * 2000,
    "",
]
FILES = ["dir/" + name + ".py" for name in NAMES[:-1]] + [""]


def link(name, file, callee):
    def template():
        callee()

    more = {"co_qualname": "Q." + name} if sys.version_info >= (3, 11) else {}
    code = template.__code__.replace(co_name=name, co_filename=file, **more)
    return type(template)(code, globals(), name, None, template.__closure__)


def main():
    call = standstill.park
    for name, file in reversed(list(zip(NAMES, FILES))):
        call = link(name, file, call)
    for i, name in enumerate(["\u0438\u043c\u044f-1", "\U0001f40d" * 100, "a\nb", "\xe9", ""]):
        threading.Thread(target=standstill.park, name=name, daemon=True).start()
    standstill.stand_still(6)
    call()


main()
