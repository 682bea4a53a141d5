# SPDX-License-Identifier: MIT
"""Run by `generate --verify` inside an interpreter: looks at this very process through a table
and compares what it finds with what Python says. argv: {"layout": ..., "debug_offsets": [hex]}."""

import asyncio
import builtins
import ctypes
import dis
import gc
import json
import sys
import threading

WHAT = json.loads(sys.argv[1])
L = WHAT["layout"]
MINOR = sys.version_info[1]
checked = 0
wrong = []


def u64(address):
    return ctypes.c_uint64.from_address(address).value


def u32(address):
    return ctypes.c_uint32.from_address(address).value


def i32(address):
    return ctypes.c_int32.from_address(address).value


def u8(address):
    return ctypes.c_uint8.from_address(address).value


def check(name, got, want):
    global checked
    checked += 1
    if got != want:
        wrong.append("%s: %r, not %r" % (name, got, want))


def field(base, group, member, load=u64):
    """The field's value, or None where the version has none."""
    offset = L[group][member]
    return None if offset is None else load(base + offset)


def check_field(base, group, member, want, load=u64):
    got = field(base, group, member, load)
    if got is not None:
        check(group + "." + member, got, want)


RUNTIME = ctypes.addressof(ctypes.c_char.in_dll(ctypes.pythonapi, "_PyRuntime"))
INTERP = u64(RUNTIME + L["runtime"]["interpreters_head"])


def find_thread(ident):
    state = u64(INTERP + L["interp"]["threads_head"])
    while state and u64(state + L["tstate"]["thread_id"]) != ident:
        state = u64(state + L["tstate"]["next"])
    return state


TSTATE = find_thread(threading.get_ident())


def check_runtime():
    if WHAT["debug_offsets"]:  # with and without a JIT
        size = len(WHAT["debug_offsets"][0]) // 2
        check("_Py_DebugOffsets known", ctypes.string_at(RUNTIME, size).hex() in WHAT["debug_offsets"], True)
    check_field(RUNTIME, "runtime", "core_initialized", 1, i32)
    check_field(RUNTIME, "runtime", "initialized", 1, i32)
    check_field(RUNTIME, "runtime", "finalizing", 0)
    check_field(RUNTIME, "runtime", "interpreters_main", INTERP)
    check_field(INTERP, "interp", "next", 0)
    check_field(INTERP, "interp", "id", 0)
    check_field(INTERP, "interp", "threads_main", TSTATE)
    check_field(INTERP, "interp", "modules", id(sys.modules))
    check_field(INTERP, "interp", "sysdict", id(vars(sys)))
    check_field(INTERP, "interp", "builtins", id(vars(builtins)))
    check_field(INTERP, "interp", "finalizing", 0, i32)
    before = field(INTERP, "interp", "code_generation")
    compile("1", "x", "eval")
    if before is not None:
        check("interp.code_generation moves", u64(INTERP + L["interp"]["code_generation"]) > before, True)


def check_gil():
    gil = RUNTIME + L["runtime"]["gil"] if L["runtime"]["gil"] is not None else field(INTERP, "interp", "gil_ptr")
    if L["interp"]["gil"] is not None:
        check("interp.gil", INTERP + L["interp"]["gil"], gil)
    if L["gil"]["enabled"] is not None:  # free-threaded
        check_field(gil, "gil", "enabled", 0, i32)
        check_field(INTERP, "interp", "stop_requester", 0)
        return
    check_field(gil, "gil", "locked", 1, i32)
    check_field(gil, "gil", "last_holder", TSTATE)
    before = field(gil, "gil", "switch_number")
    thread = threading.Thread(target=lambda: None)
    thread.start()
    thread.join()
    check("gil.switch_number moves", 0 < field(gil, "gil", "switch_number") - before < 50, True)


def check_gc():
    base = RUNTIME + L["runtime"]["gc"] if L["runtime"]["gc"] is not None else INTERP + L["interp"]["gc"]
    seen = []

    def callback(phase, info):
        seen.append((field(base, "gc", "collecting", i32), field(base, "gc", "frame"), frames()[1]))

    check_field(base, "gc", "collecting", 0, i32)
    gc.callbacks.append(callback)
    gc.collect()
    gc.callbacks.remove(callback)
    for collecting, frame, caller in seen:
        check("gc.collecting", collecting, 1)
        if frame is not None:
            check("gc.frame", frame, caller)


def check_tstate():
    check_field(TSTATE, "tstate", "interp", INTERP)
    if L["tstate"]["native_thread_id"] is not None:
        check_field(TSTATE, "tstate", "native_thread_id", threading.get_native_id())
    check_field(TSTATE, "tstate", "recursion_limit", sys.getrecursionlimit(), i32)
    depth = len(frames())
    left = field(TSTATE, "tstate", "recursion_remaining", i32)
    if left is not None:
        check("tstate.recursion_remaining", 0 <= sys.getrecursionlimit() - left - depth <= 3, True)
    check("tstate.recursion_depth", 0 <= (field(TSTATE, "tstate", "recursion_depth", i32) or 0) < 9, True)
    check("tstate.status.active", (field(TSTATE, "tstate", "status", u32) or 16) >> 4 & 1, 1)
    check_field(TSTATE, "tstate", "state", 1, i32)
    check_field(TSTATE, "tstate", "holds_gil", 1, i32)
    check_field(TSTATE, "tstate", "gil_requested", 0, i32)
    check_field(TSTATE, "tstate", "current_exception", 0)
    check_field(TSTATE, "tstate", "exc_info", TSTATE + L["tstate"]["exc_state"])
    ctypes.pythonapi.PyThreadState_GetDict.restype = ctypes.c_void_p  # a borrowed reference
    check_field(TSTATE, "tstate", "dict", ctypes.pythonapi.PyThreadState_GetDict())
    if MINOR >= 9:
        ctypes.pythonapi.PyThreadState_GetID.restype = ctypes.c_uint64
        ctypes.pythonapi.PyThreadState_GetID.argtypes = [ctypes.c_void_p]
        check_field(TSTATE, "tstate", "id", ctypes.pythonapi.PyThreadState_GetID(TSTATE))
    try:
        raise ValueError
    except ValueError as error:
        item = field(TSTATE, "tstate", "exc_info")
        check_field(item, "exc", "exc_value", id(error) if MINOR >= 11 else id(ValueError))
        check_field(item, "exc", "previous_item", 0)


def check_threads():
    go, ready = threading.Event(), threading.Event()
    thread = threading.Thread(target=lambda: (ready.set(), go.wait()))
    thread.start()
    ready.wait()
    other = find_thread(thread.ident)
    check("tstate.next, thread_id", other != 0, True)
    check("newest first", u64(INTERP + L["interp"]["threads_head"]), other)
    check_field(other, "tstate", "next", TSTATE)
    check_field(TSTATE, "tstate", "prev", other)
    check_field(other, "tstate", "state", 0, i32)
    go.set()
    thread.join()


def check_datastack():
    chunk, top, limit = (field(TSTATE, "tstate", "datastack_" + n) for n in ("chunk", "top", "limit"))
    if chunk is None:
        return
    check("datastack_top", chunk + L["stack_chunk"]["data"] < top <= limit, True)
    check("stack_chunk.chunk_size", chunk + u64(chunk + L["stack_chunk"]["chunk_size"]), limit)
    check("stack_chunk.previous", field(chunk, "stack_chunk", "previous"), 0)
    check("stack_chunk.top", field(chunk, "stack_chunk", "top") <= u64(chunk + L["stack_chunk"]["chunk_size"]) // 8, True)
    check("frame on the data stack", chunk < frames()[0] < top, True)


def raw_frames():
    """Addresses of all frames, those of C entries too."""
    if L["tstate"]["frame"] is not None:
        address = u64(TSTATE + L["tstate"]["frame"])
    elif L["tstate"]["cframe"] is not None:
        address = u64(u64(TSTATE + L["tstate"]["cframe"]) + L["cframe"]["current_frame"])
    else:
        address = u64(TSTATE + L["tstate"]["current_frame"])
    result = []
    while address:
        result.append(address)
        address = u64(address + L["frame"]["back"])
    return result


def is_python(address):
    owner = field(address, "frame", "owner", u8)
    return owner is None or owner not in (L["owner"]["cstack"], L["owner"]["interpreter"])


def frames():
    """Python frames from the caller's on: before it come u64's, raw_frames' and this one."""
    return [f for f in raw_frames() if is_python(f)][3:]


def code_of(frame):
    return u64(frame + L["frame"]["code"]) & ~3


def check_frames():
    def inner(yielding):
        here = frames()
        python = sys._getframe()
        for address in here:
            check("frame.code", code_of(address), id(python.f_code))
            check("owner", field(address, "frame", "owner", u8) in (None, L["owner"]["thread"], L["owner"]["generator"]), True)
            python = python.f_back
        check("frames", python, None)
        check("frame.owner", field(here[1], "frame", "owner", u8), L["owner"]["generator"])
        check_instr(here[1], sys._getframe(1))
        check_field(here[0], "frame", "executing", 1, u8)
        check_field(here[0], "frame", "state", 0, u8)
        check_field(here[1], "frame", "gen", id(yielding[0]))
        if L["frame"]["return_offset"] is not None and MINOR >= 13:
            check("frame.return_offset", ctypes.c_uint16.from_address(here[1] + L["frame"]["return_offset"]).value > 0, True)
        if L["frame"]["func"] is not None:
            check("frame.func", u64(here[0] + L["frame"]["func"]) & ~3, id(inner))
            locals_at = u64(here[0] + L["frame"]["locals"]) & ~3
            check("frame.locals", locals_at, id(yielding))
        if L["gen"]["iframe"] is not None:
            check("gen.iframe", id(yielding[0]) + L["gen"]["iframe"], here[1])
            check("gen.frame_state", ctypes.c_int8.from_address(id(yielding[0]) + L["gen"]["frame_state"]).value, 4 if MINOR >= 15 else 0)
        check_field(id(yielding[0]), "gen", "frame_object", here[1])
        check_field(id(yielding[0]), "gen", "name", id(yielding[0].__name__))

    def generator(box):
        inner(box)
        yield

    box = []
    box.append(generator(box))
    next(box[0])
    if L["tstate"]["base_frame"] is not None:
        check("tstate.base_frame", raw_frames()[-1], field(TSTATE, "tstate", "base_frame"))


def check_instr(address, python):
    code = code_of(address)
    if MINOR <= 10:
        units = python.f_lasti // (2 if MINOR == 10 else 1)
        check("frame.instr", i32(address + L["frame"]["instr"]), units)
        return
    # 3.11, 3.12: f_lasti is where prev_instr stands, behind the inline caches of the CALL.
    instr = u64(address + L["frame"]["instr"]) - code - L["code"]["bytecode"]
    check("frame.instr", instr, python.f_lasti)
    at_call = {11: 8, 12: 6}.get(MINOR, 0)
    opcode = python.f_code.co_code[instr - at_call]
    check("CALL", opcode, dis.opmap["CALL"])


def check_code():
    code = check_code.__code__
    a = id(code)
    check_field(a, "code", "filename", id(code.co_filename))
    check_field(a, "code", "name", id(code.co_name))
    if L["code"]["qualname"] is not None:
        check_field(a, "code", "qualname", id(code.co_qualname))
        check_field(a, "code", "ob_size", len(code.co_code) // 2)
    check_field(a, "code", "firstlineno", code.co_firstlineno, i32)
    check_field(a, "code", "stacksize", code.co_stacksize, i32)
    check_field(a, "code", "flags", code.co_flags, u32)
    check_field(a, "code", "argcount", code.co_argcount, i32)
    check_field(a, "code", "nlocalsplus", code.co_nlocals, i32)
    if MINOR <= 9:
        check_field(a, "code", "linetable", id(code.co_lnotab))
    else:
        check_field(a, "code", "linetable", id(code.co_linetable))
    if MINOR <= 10:
        check_field(a, "code", "bytecode", id(code.co_code))
        check_field(a, "code", "localsplusnames", id(code.co_varnames))
    else:
        adaptive = code._co_code_adaptive
        got = ctypes.string_at(a + L["code"]["bytecode"], len(adaptive))
        # Counters in the inline caches count while we look: the opcode of the first unit does not.
        check("code.bytecode", got[:2], adaptive[:2])
        check("code.bytecode, end", got[-2:], adaptive[-2:])
        check("code.localsplusnames", u64(u64(a + L["code"]["localsplusnames"]) + L["tuple"]["ob_size"]), code.co_nlocals)
    if L["code"]["firsttraceable"] is not None:
        resume = next(i for i in dis.get_instructions(check_frames) if i.opname == "RESUME")
        check("code.firsttraceable", i32(id(check_frames.__code__) + L["code"]["firsttraceable"]), resume.offset // 2)
        check("code.firsttraceable", resume.offset > 0, True)  # it makes cells first
    if L["code"]["framesize"] is not None:
        check("code.framesize", i32(a + L["code"]["framesize"]), code.co_nlocals + code.co_stacksize + L["frame"]["size"] // 8)
        check("code.version", u32(a + L["code"]["version"]) != 0, True)
    check("code.size", code.__sizeof__() >= L["code"]["size"], True)


def check_text():
    for text in ("plain", "caf\u00e9", "\u20ac uro", "\U0001f40d"):
        a = id(text)
        state = u32(a + L["unicode"]["state"])
        kind = state >> L["unicode"]["kind_shift"] & 7
        is_ascii = state >> L["unicode"]["ascii_shift"] & 1
        check("unicode.length", u64(a + L["unicode"]["length"]), len(text))
        check("unicode.kind", kind, 1 if max(text) < "\u0100" else 2 if max(text) < "\U00010000" else 4)
        check("unicode.compact", state >> L["unicode"]["compact_shift"] & 1, 1)
        check("unicode.ascii", is_ascii, int(max(text) < "\x80"))
        if L["unicode"]["ready_shift"] is not None:
            check("unicode.ready", state >> L["unicode"]["ready_shift"] & 1, 1)
        check("unicode.hash", u64(a + L["unicode"]["hash"]), hash(text) % 2**64)
        start = a + L["unicode"]["ascii_size" if is_ascii else "compact_size"]
        encoding = {1: "latin-1", 2: "utf-16-le", 4: "utf-32-le"}[kind]
        check("unicode data", ctypes.string_at(start, kind * len(text)), text.encode(encoding))

    class Text(str):
        pass

    text = Text("not compact")
    a = id(text)
    check("unicode.compact", u32(a + L["unicode"]["state"]) >> L["unicode"]["compact_shift"] & 1, 0)
    check("unicode.data", ctypes.string_at(u64(a + L["unicode"]["data"]), len(text)), b"not compact")
    check("unicode.utf8", field(a, "unicode", "utf8") in (0, u64(a + L["unicode"]["data"])), True)


def check_containers():
    text = b"some bytes"
    check("bytes.ob_size", u64(id(text) + L["bytes"]["ob_size"]), len(text))
    check("bytes.sval", ctypes.string_at(id(text) + L["bytes"]["sval"], len(text)), text)
    items = ("one", "two")
    check("tuple.ob_size", u64(id(items) + L["tuple"]["ob_size"]), 2)
    check("tuple.item", u64(id(items) + L["tuple"]["item"] + 8), id(items[1]))
    many = [items, text, 3]
    check("list.ob_size", u64(id(many) + L["list"]["ob_size"]), 3)
    check("list.item", u64(u64(id(many) + L["list"]["item"]) + 8), id(text))
    unique = {"a", "b", "c"}
    check("set.used", u64(id(unique) + L["set"]["used"]), 3)
    check("set.mask", u64(id(unique) + L["set"]["mask"]), 7)
    table = ctypes.string_at(u64(id(unique) + L["set"]["table"]), 8 * 16)
    check("set.table", sorted(id(x) for x in unique), sorted(x for x in memoryview(table).cast("Q")[::2] if x))
    number = 2**75 + 12345
    tag = u64(id(number) + L["integer"]["tag"])
    check("integer.tag", tag if MINOR <= 11 else tag >> 3, 3)
    check("integer.digit", u32(id(number) + L["integer"]["digit"]), number & (2**30 - 1))
    check("object.ob_type", u64(id(text) + L["object"]["ob_type"]), id(bytes))
    check("object.tp_name", ctypes.string_at(u64(id(bytes) + L["object"]["tp_name"])), b"bytes")
    check("object.tp_flags", u64(id(bytes) + L["object"]["tp_flags"]), bytes.__flags__)
    check("object.tp_basicsize", u64(id(bytes) + L["object"]["tp_basicsize"]), bytes.__basicsize__)
    check("object.tp_dictoffset", u64(id(BaseException) + L["object"]["tp_dictoffset"]), BaseException.__dictoffset__)
    check("object.size", object.__basicsize__, L["object"]["size"])


def check_dict():
    d = {"key%d" % i: i for i in range(9)}
    del d["key3"]
    a = id(d)
    check("dict.used", u64(a + L["dict"]["used"]), 8)
    check("dict.values", u64(a + L["dict"]["values"]), 0)
    keys = u64(a + L["dict"]["keys"])
    check("dict.nentries", u64(keys + L["dict"]["nentries"]), 9)
    check("dict.usable", u64(keys + L["dict"]["usable"]), 16 * 2 // 3 - 9)
    if MINOR <= 10:
        check("dict.keys_size", u64(keys + L["dict"]["keys_size"]), 16)
    else:
        check("dict.log2_size", u8(keys + L["dict"]["log2_size"]), 4)
        check("dict.keys_size", u8(keys + L["dict"]["keys_size"]), 4)
        check("dict.log2_index_bytes", u8(keys + L["dict"]["log2_index_bytes"]), 4)
        check("dict.kind", u8(keys + L["dict"]["kind"]), 1)
    indices = ctypes.string_at(keys + L["dict"]["indices"], 16)
    check("dict.indices", sorted(i for i in indices if i < 128), [0, 1, 2, 4, 5, 6, 7, 8])
    entry = 24 if MINOR <= 10 else 16  # hash, key, value; from 3.11 no hash where keys are all text
    first = keys + L["dict"]["indices"] + 16
    check("entries", [u64(first + 8 * (entry == 24) + entry * i) for i in (0, 8)], [id(k) for k in d if k in ("key0", "key8")])


def check_asyncio():
    async def main():
        check_field(TSTATE, "tstate", "asyncio_running_loop", id(asyncio.get_running_loop()))
        check_field(TSTATE, "tstate", "asyncio_running_task", id(asyncio.current_task()))

    asyncio.run(main())


def main():
    check_runtime()
    check_gil()
    check_gc()
    check_tstate()
    check_threads()
    check_datastack()
    check_frames()
    check_code()
    check_text()
    check_containers()
    check_dict()
    check_asyncio()
    print("%s: %d checks, %d wrong" % (sys.version.split()[0], checked, len(wrong)))
    for text in wrong:
        print("\t" + text)
    return 1 if wrong else 0


sys.exit(main())
