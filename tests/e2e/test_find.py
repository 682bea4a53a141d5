"""Pythons that are hard to find: renamed, stripped, embedded, deleted, replaced, in other namespaces."""
import glob
import os
import shutil
import struct
import subprocess
import time

import pytest

from harness import (PROGRAMS, PYTHONS, children, dump, functions, parts, profile, settled, tachyscope, threads_of, total,
                     wait_until)
from test_attach import WORKERS
from test_threads import library_of, shared_sibling


def check(target, python, leaf="wait"):
    """A full dump of WORKERS, or of another program whose leaf is known."""
    main = settled(target.pid, [leaf, "<module>"])
    assert main["frames"][-1]["file"] == target.path
    told = dump(target.pid)
    assert told["python"]["version"] == python.text_version
    stacks, stats, _ = profile("attach", "-r", 500, "-d", 0.2, target.pid)
    assert total(stacks) > 0 and stats["samples_lost"] == 0
    return told


def home(python):
    """What a copy of the interpreter needs to find its library."""
    if python.root or python.is_embedded:
        return {"PYTHONHOME": "/usr"}
    return {"PYTHONHOME": os.path.dirname(os.path.dirname(os.path.realpath(python.argv[0])))}


def no_section_headers(path):
    """Cut the section headers off: nothing is left but what the loader needs."""
    with open(path, "r+b") as file:
        head = bytearray(file.read(64))
        assert head[:5] == b"\x7fELF\x02"
        sections = struct.unpack_from("<Q", head, 40)[0]
        struct.pack_into("<Q", head, 40, 0)
        struct.pack_into("<HHH", head, 58, 0, 0, 0)
        file.seek(0)
        file.write(head)
        file.truncate(sections)


def copied_plain(python, folder, name):
    """A copy of the interpreter's program under another name; with its libpython beside it."""
    program = os.path.join(folder, name)
    shutil.copy(os.path.realpath(python.file) if not python.root else python.file, program)
    environment = home(python)
    files = [program]
    if python.shared:
        libraries = os.path.join(environment["PYTHONHOME"], "lib")
        soname = f"libpython{python.version[0]}.{python.version[1]}.so.1.0"
        shutil.copy(os.path.join(libraries, soname), os.path.join(folder, soname))
        files.append(os.path.join(folder, soname))
        environment["LD_LIBRARY_PATH"] = folder[len(python.root):]
    return files, environment


@pytest.fixture
def folder(python):
    path = f"{python.root}/tmp/tachyscope-copy-{os.getpid()}"
    shutil.rmtree(path, ignore_errors=True)
    os.mkdir(path)
    os.chmod(path, 0o755)
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.mark.pythons("all")
@pytest.mark.parametrize("how", ["strip", "no-sections"])
def test_renamed_and_stripped(how, python, start, folder):
    files, environment = stripped(python, folder, how)
    target = launch(start, python, files, environment)
    assert "python" not in os.path.basename(os.readlink(f"/proc/{target.pid}/exe"))
    check(target, python)


def stripped(python, folder, how):
    files, environment = copied(python, folder)
    for path in files:
        subprocess.run(["strip", "--strip-all", path], check=True, stderr=subprocess.DEVNULL)
        if how == "no-sections":
            no_section_headers(path)
    return files, environment


def copied(python, folder):
    """As copied_plain(), for the embedding program too: then only its library is a Python's."""
    if not python.is_embedded:
        return copied_plain(python, folder, "frobnicate")
    program, library = os.path.join(folder, "frobnicate"), os.path.join(folder, "libfrob.so")
    shutil.copy(python.root + python.argv[python.argv.index("--main") - 1], program)
    shutil.copy(python.file, library)
    name = next(word for word in python.argv if word.startswith("EMBED_ARGV0="))
    return [program, library], {"EMBED_ARGV0": name.split("=", 1)[1]}


def launch(start, python, files, environment):
    inside = [path[len(python.root):] for path in files]
    words = [inside[0], "--main", inside[1]] if python.is_embedded else [inside[0]]
    return start(python, WORKERS, argv=[*(["chroot", python.root] if python.root else []), *words],
                 environment=environment)


@pytest.mark.pythons("all")
@pytest.mark.parametrize("how", ["deleted", "replaced"])
def test_deleted_or_replaced_on_disk(how, python, start, folder):
    """As after an upgrade: the files that run are gone, or others have their names."""
    files, environment = copied(python, folder)
    target = launch(start, python, files, environment)
    for path in files:
        os.unlink(path)
        if how == "replaced":
            shutil.copy("/bin/true", path)
    check(target, python)


# ---- embedded, static

def static_library(python):
    """(libpython.a, other libraries it needs) of an interpreter that is installed with one"""
    question = ("import sysconfig as s; v = s.get_config_var; "
                "print(v('LIBPL'), v('LIBRARY'), '|', v('LIBS'), v('SYSLIBS'), v('MODLIBS') or '')")
    told = subprocess.run([*python.argv, "-c", question], check=True, text=True, stdout=subprocess.PIPE).stdout
    where, needs = told.split("|")
    path = os.path.join(*where.split())
    assert os.path.exists(path), path
    return path, needs.split()


@pytest.mark.pythons("minors", until=(3, 13))
@pytest.mark.parametrize("how", ["whole", "stripped"])
def test_embedded_static_library(how, python, start, folder):
    """A program with libpython.a inside, exporting nothing, with no symbol left: only its memory tells."""
    library, needs = static_library(python)
    program = os.path.join(folder, "accounting")
    command = ["gcc", "-DEMBED_STATIC", "-w", "-O1", "-pthread", os.path.join(PROGRAMS, "embed.c"), "-o", program,
               library, *needs, "-lm", "-lutil", "-ldl"]
    if not python.shared:  # Debian's is not position-independent
        command += ["-no-pie", "-lexpat", "-lz"]
    subprocess.run(command, check=True)
    if how == "stripped":
        subprocess.run(["strip", "--strip-all", program], check=True)
        no_section_headers(program)
    target = start(python, "frameless.py", argv=[program, "--host", "-", "2"], environment=home(python))
    settled(target.pid, ["sleeper", "main", "<module>"])
    told = dump(target.pid)
    assert told["python"]["version"] == python.text_version
    threads = threads_of(told)
    assert len(threads) == 4 and len([t for t in threads if not t["frames"]]) == 2


def test_libpython_mapped_twice(python, start):
    """The library's file mapped again as plain data, at other addresses: a false candidate."""
    library = python.file
    if python.shared and not python.is_embedded:
        base = home(python)["PYTHONHOME"]
        library = glob.glob(f"{base}/lib/libpython{python.version[0]}.{python.version[1]}.so.1.0")[0]
    library = library[len(python.root):]
    target = start(python, f"""
import mmap, time
def wait():
    time.sleep(1000)
kept = []
with open({library!r}, "rb") as file:
    for access in (mmap.ACCESS_READ, mmap.ACCESS_COPY, mmap.ACCESS_COPY):
        kept.append(mmap.mmap(file.fileno(), 0, access=access))
    kept[2][0:1] = kept[2][0:1]
print("ready", flush=True)
wait()
""")
    check(target, python)


# ---- not yet, and no longer

def test_a_python_that_is_just_starting(python, start):
    """Attached to within its first milliseconds: waits for the interpreter instead of failing."""
    statuses = []
    for delay in (0, 0.002, 0.004, 0.008, 0.012, 0.02):
        target = start(python, WORKERS, wait_for=None)
        wait_until(lambda: b"python" in read_bytes(f"/proc/{target.pid}/cmdline").split(b"\0")[0] or
                   b"embed" in read_bytes(f"/proc/{target.pid}/cmdline"))
        time.sleep(delay)
        result = tachyscope("dump", "--json", target.pid, status=None)
        statuses.append(result.status)
        assert result.status == 0, result
        target.end()
    assert statuses == [0] * 6


def read_bytes(path):
    with open(path, "rb") as file:
        return file.read()


def test_embedded_and_initialised_late(python, start):
    """The library is there long before the interpreter is."""
    if not python.shared:
        python = shared_sibling(python)
    library, environment = library_of(python)
    embed = next(p for p in PYTHONS if p.is_embedded and p.root == python.root).argv
    word = embed.index("--main")
    target = start(python, "frameless.py", argv=[*embed[:word], "--late", library, "400"], environment=environment,
                   wait_for=None)
    time.sleep(0.1)
    told = dump(target.pid)
    assert told["python"]["version"] == python.text_version


# ---- other namespaces

NAMESPACED = ["unshare", "--mount", "--pid", "--fork", "--kill-child"]


def inner_pid(target):
    return wait_until(lambda: children(target.pid) and children(target.pid)[0])


@pytest.mark.pythons("all", since=(3, 14))
def test_in_a_container(python, start):
    """Its own mounts, pids and root: attached from outside, source lines from the target's root."""
    target = start(python, WORKERS, before=[*NAMESPACED, f"--mount-proc={python.root}/proc"])
    pid = inner_pid(target)
    assert os.readlink(f"/proc/{pid}/ns/pid") != os.readlink("/proc/self/ns/pid")
    assert settled(pid, ["wait", "<module>"])["tid"] == pid
    told = dump(pid)
    tids = {int(tid) for tid in os.listdir(f"/proc/{pid}/task")}
    assert {t["tid"] for t in threads_of(told)} == tids
    assert "time.sleep(1000)" in tachyscope("dump", pid).out
    stacks, _, _ = profile("attach", "-r", 200, "-d", 0.3, pid)
    assert {parts(stack[-1])[0] for stack, _ in stacks} == {"wait"} and total(stacks) > 4


@pytest.mark.pythons("minors", until=(3, 13))
def test_in_another_mount_namespace(python, start):
    """The program's file exists only in the target's own mounts; outside, another file has that name."""
    script = ("for last; do :; done; mount -t tmpfs tmpfs /mnt && cp \"$last\" /mnt/only_here.py && "
              "exec \"$1\" /mnt/only_here.py")
    target = start(python, WORKERS, before=[*NAMESPACED, "--mount-proc", "sh", "-c", script, "sh"])
    pid = inner_pid(target)
    settled(pid, ["wait", "<module>"])
    told = dump(pid)
    assert {f["file"] for t in threads_of(told) if t["main"] for f in t["frames"]} == {"/mnt/only_here.py"}
    text = tachyscope("dump", pid).out
    assert "time.sleep(1000)" in text
    assert not os.path.exists("/mnt/only_here.py")
    assert {t["tid"] for t in threads_of(told)} == {int(tid) for tid in os.listdir(f"/proc/{pid}/task")}
