"""What is not a Python that we can read is told apart, each in one line with the cure where there is one."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import pytest

from harness import BINARY, PROGRAMS, PYTHONS, SLOW, dump, fails, functions, proc_status, tachyscope, threads_of, wait_until

VERBS = [("dump",), ("dump", "--json"), ("attach", "-d", "1"), ("attach", "-d", "1", "--collapsed")]
each_verb = pytest.mark.parametrize("verb", VERBS, ids=" ".join)
NOBODY = 65534


@pytest.fixture
def child():
    """child(argv, ...) -> Popen, killed at the end."""
    made = []

    def child(argv, **more):
        made.append(subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, **more))
        return made[-1]

    yield child
    for process in made:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.fixture(scope="module")
def public_binary():
    """A copy that every user may run."""
    folder = tempfile.mkdtemp(prefix="tachyscope-e2e-")
    os.chmod(folder, 0o755)
    yield shutil.copy(BINARY, folder)
    shutil.rmtree(folder)


@each_verb
def test_not_a_python(verb, child):
    process = child(["sleep", "100"])
    time.sleep(0.1)
    fails(*verb, process.pid, words=[str(process.pid), "(no|not a) C?Python"])
    assert proc_status(process.pid)["State"][0] == "S"


@each_verb
@pytest.mark.pythons("old")
def test_too_old(verb, python, start):
    code = "import sys, time\nsys.stdout.write('ready\\n')\nsys.stdout.flush()\ntime.sleep(100)\n"
    target = start(python, code)
    fails(*verb, target.pid, words=["%d\\.%d" % python.version[:2], "3\\.8"])


@each_verb
def test_no_such_process(verb):
    gone = subprocess.Popen(["true"])
    gone.wait()
    fails(*verb, gone.pid, words=[str(gone.pid), "no (such )?process"])


@each_verb
def test_a_zombie(verb, child):
    process = child(["true"])
    wait_until(lambda: proc_status(process.pid)["State"][0] == "Z")
    fails(*verb, process.pid, words=[str(process.pid), "zombie|ended"])


@each_verb
def test_a_kernel_thread(verb):
    kernel = [int(pid) for pid in os.listdir("/proc") if pid.isdigit() and is_kernel_thread(pid)]
    if not kernel:
        pytest.skip("no kernel threads can be seen on this machine")
    fails(*verb, kernel[0], words=[str(kernel[0]), "kernel"])


def is_kernel_thread(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return int(file.read().rpartition(")")[2].split()[6]) & 0x00200000
    except OSError:
        return False


def test_a_thread_of_a_process(debian, start):
    """A tid is no pid; it is either understood or refused in one line."""
    target = start(debian, "import threading, time\nthreading.Thread(target=time.sleep, args=(100,), daemon=True)"
                           ".start()\nprint('ready', flush=True)\ntime.sleep(100)\n")
    tid = next(int(t) for t in os.listdir(f"/proc/{target.pid}/task") if int(t) != target.pid)
    result = tachyscope("dump", "--json", tid, status=None)
    assert result.status in (0, 1) and len(result.err.splitlines()) == (result.status == 1), result


# ---- a Python that comes or goes, and one that is strange

def built(folder, name, *flags):
    program = os.path.join(folder, name)
    subprocess.run(["gcc", "-O1", "-o", program, os.path.join(PROGRAMS, name + ".c"), *flags], check=True)
    return program


def told_of(process):
    assert process.stdout.readline() == b"ready\n"
    return tachyscope("dump", process.pid, status=1)


@pytest.mark.parametrize("embedded", [python for python in PYTHONS if python.is_embedded], ids=repr)
def test_a_library_that_is_just_being_loaded(embedded, child, tmp_path):
    """Its runtime has an address, and other parts of the file lie there: a Python on its way, not a strange one."""
    result = told_of(child([built(tmp_path, "half_loaded"), embedded.root + embedded.argv[-1]]))
    assert "not initialised" in result.err or "still being loaded" in result.err, result


def test_a_runtime_that_makes_no_sense(child, tmp_path):
    result = told_of(child([built(tmp_path, "strange_runtime", "-rdynamic")]))
    assert "laid out in no way" in result.err and "()" not in result.err, result


def test_a_runtime_that_makes_no_sense_for_a_moment(child, tmp_path):
    """No verdict from one look: as a Python starts and ends, its pointers do not always hold together."""
    process = child([built(tmp_path, "strange_runtime", "-rdynamic"), "flicker"])
    assert process.stdout.readline() == b"ready\n"
    for _ in range(20):
        row = next(row for row in tachyscope("ps").out.splitlines() if row.split()[0] == str(process.pid))
        assert "not initialised" in row, row


def test_ourselves():
    """The shell's own $$ becomes tachyscope itself by exec: not a Python."""
    result = tachyscope(status=1, binary="/bin/sh", *("-c", f"exec {BINARY} dump $$"))
    assert len(result.err.splitlines()) == 1, result


# ---- rights

def as_nobody(*groups):
    def become():
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    return become


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to become another user")


@needs_root
@each_verb
def test_a_process_of_another_user(verb, debian, start, public_binary):
    target = start(debian, "busy.py")
    fails(*verb, target.pid, words=["permi|allowed|belongs to", "sudo|CAP_SYS_PTRACE"],
          binary=public_binary, preexec_fn=as_nobody(), cwd="/")


@needs_root
def test_a_process_of_our_own_user(debian, start, public_binary):
    """No root needed, neither for the process nor for its files."""
    target = start(debian, "busy.py", preexec_fn=as_nobody())
    told = dump(target.pid, binary=public_binary, preexec_fn=as_nobody(), cwd="/")
    assert functions(threads_of(told)[0])[-1] == "<module>"
    result = tachyscope("attach", "-d", 0.3, "--collapsed", target.pid, binary=public_binary,
                        preexec_fn=as_nobody(), cwd="/")
    assert "busy.py" in result.out
    result = tachyscope("run", "--collapsed", "--", *debian.argv, "-c", "sum(range(10**7))", binary=public_binary,
                        preexec_fn=as_nobody(), cwd="/")
    assert "<module>" in result.out


@needs_root
@each_verb
def test_a_process_that_forbids_it(verb, debian, start, public_binary):
    """Our own user, but not dumpable, as set-user-id programs are."""
    target = start(debian, "import ctypes, time\nassert ctypes.CDLL(None).prctl(4, 0, 0, 0, 0) == 0\n"
                           "print('ready', flush=True)\ntime.sleep(100)\n", preexec_fn=as_nobody())
    fails(*verb, target.pid, words=["permi|allowed|dump", "sudo|CAP_SYS_PTRACE"],
          binary=public_binary, preexec_fn=as_nobody(), cwd="/")


SECCOMP = r"""
import ctypes, os, struct, sys
# refuse process_vm_readv (310 on x86-64, 270 on arm64) with EPERM, allow all else
number = 270 if os.uname().machine == "aarch64" else 310
code = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050000 | 1), (0x06, 0, 0, 0x7fff0000)]
text = b"".join(struct.pack("HBBI", *line) for line in code)
buffer = ctypes.create_string_buffer(text)
program = struct.pack("HxxxxxxQ", len(code), ctypes.addressof(buffer))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.c_char_p(program), 0, 0) == 0, ctypes.get_errno()
os.execv(sys.argv[1], sys.argv[1:])
"""


def test_where_the_system_call_is_refused(debian, start):
    """A seccomp filter such as Docker's forbids process_vm_readv: /proc/PID/mem serves."""
    target = start(debian, "busy.py")
    argv = [*debian.argv, "-c", SECCOMP, BINARY]
    result = tachyscope("-c", SECCOMP, BINARY, "dump", target.pid, binary=debian.argv[0])
    assert "busy.py" in result.out and result.err == "", (argv, result)
    result = tachyscope("-c", SECCOMP, BINARY, "attach", "-r", 500, "-d", 0.5, "--collapsed", target.pid,
                        binary=debian.argv[0])
    assert "busy.py" in result.out


# ---- states

def test_a_stopped_target_stays_stopped(debian, start):
    target = start(debian, "busy.py")
    os.kill(target.pid, signal.SIGSTOP)
    wait_until(lambda: proc_status(target.pid)["State"][0] == "T")
    told = dump(target.pid)
    assert functions(next(t for t in threads_of(told) if t["main"]))[-1] == "<module>"
    assert functions(next(t for t in threads_of(dump(target.pid, "--blocking")) if t["main"]))[-1] == "<module>"
    time.sleep(0.05)
    assert proc_status(target.pid)["State"][0] == "T"
    os.kill(target.pid, signal.SIGCONT)
    wait_until(lambda: proc_status(target.pid)["State"][0] in "RS")


def test_a_target_under_a_debugger(debian, start):
    """Somebody else's ptrace does not stand in the way of reading."""
    target = start(debian, "busy.py")
    tracer = subprocess.Popen([sys.executable, "-c", f"""
import ctypes, os, time
libc = ctypes.CDLL(None)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
assert libc.ptrace(0x4206, {target.pid}, 0, 0) == 0
print("traced", flush=True)
time.sleep(100)
"""], stdout=subprocess.PIPE)
    try:
        assert tracer.stdout.readline() == b"traced\n"
        told = dump(target.pid)
        assert functions(threads_of(told)[0])[-1] == "<module>"
    finally:
        tracer.kill()
        tracer.wait()
        tracer.stdout.close()
    wait_until(lambda: proc_status(target.pid)["TracerPid"].strip() == "0")


def test_a_target_that_shuts_down(python, start):
    """Dumped all through its end: each time a dump or one line."""
    target = start(python, "import atexit, time\natexit.register(time.sleep, 0.3)\nprint('ready', flush=True)\n")
    statuses = set()
    deadline = time.monotonic() + 5 * SLOW
    while target.process.poll() is None and time.monotonic() < deadline:
        result = tachyscope("dump", "--json", target.pid, status=None)
        assert result.status in (0, 1), result
        assert len(result.err.splitlines()) == (result.status == 1), result
        statuses.add(result.status)
    assert 0 in statuses and target.process.wait() == 0
