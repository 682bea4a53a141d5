"""Start Pythons of every kind, run tachyscope against them, and say what is wrong in one place."""
import contextlib
import json
import os
import re
import select
import shutil
import signal
import subprocess
import tempfile
import threading
import time

TOP = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
PROGRAMS = os.path.join(TOP, "tests/programs")
BINARY = os.path.abspath(os.environ.get("TACHYSCOPE", os.path.join(TOP, "build/tachyscope")))
SANITIZED = os.path.abspath(os.environ.get("TACHYSCOPE_ASAN", os.path.join(TOP, "build-asan/tachyscope")))
SLOW = float(os.environ.get("TACHYSCOPE_SLOW", "1"))  # stretch every time limit on a slow machine
PATIENCE = 3 * SLOW  # of waiting for what comes at once when nobody else is at work on the machine


class Python:
    def __init__(self, told):
        self.id = told["id"]
        self.version = tuple(told["version"])
        self.argv = told["argv"]
        self.root = told["root"]
        self.debug = told["debug"]
        self.shared = told["shared"]
        self.free_threaded = told["free_threaded"]
        self.is_embedded = "--main" in self.argv
        # the program itself, as seen from outside; the library for one that embeds it
        self.file = self.root + self.argv[-1]

    def __repr__(self):
        return self.id

    @property
    def text_version(self):
        return "%d.%d.%d" % self.version


def find_pythons():
    told = subprocess.run([os.path.join(TOP, "tools/setup_interpreters"), "--no-setup", "--json"],
                          check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    return [Python(one) for one in json.loads(told)]


PYTHONS = find_pythons()


def wait_until(condition, seconds=10, what="it"):
    """The first true value of condition(), or a failure."""
    deadline = time.monotonic() + seconds * PATIENCE
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"{what} did not happen within {seconds} s")
        time.sleep(0.01)


def proc_status(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)


def children(pid):
    with contextlib.suppress(OSError):
        with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
            return [int(word) for word in file.read().split()]
    return []


def heed_signals():
    """What nohup or a shell's `&` has had us ignore, our children would ignore too; a handler is not inherited."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


class Target:
    """A program under a Python of our choice, with its own folder at the same path inside its root.

    `program` is the name of a file in tests/programs, or the text of one (it has a newline).
    """

    def __init__(self, python, program, *args, helpers=("standstill.py",), environment=None, before=(),
                 argv=None, options=(), wait_for="ready", seconds=60, **popen):
        self.python = python
        root = python.root if python else ""
        self.folder = tempfile.mkdtemp(prefix="tachyscope-e2e-", dir=root + "/tmp")
        os.chmod(self.folder, 0o755)
        self.inside = self.folder[len(root):]
        for name in helpers:
            shutil.copy(os.path.join(PROGRAMS, name), self.folder)
        if "\n" in program:
            with open(os.path.join(self.folder, "program.py"), "w", encoding="utf-8") as file:
                file.write(program)
            program = "program.py"
        elif program:
            shutil.copy(os.path.join(PROGRAMS, program), self.folder)
        self.path = os.path.join(self.inside, program)
        self.name = os.path.basename(program)
        self.errors = open(os.path.join(self.folder, "stderr"), "w+", encoding="utf-8", errors="replace")
        base = list(argv) if argv is not None else python.argv
        words = [*before, *base, *options, *([self.path] if program else []), *map(str, args)]
        env = dict(os.environ, TRUTH_FILE=os.path.join(self.inside, "truth"), **(environment or {}))
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors,
                                        env=env, **popen)
        self.pid = self.process.pid
        self.buffer = b""
        self.harmless = True
        try:
            self.ready = self.expect(wait_for, seconds) if wait_for else ""
        except BaseException:
            self.end()
            raise

    def expect(self, word, seconds=60):
        """Wait for a line that starts with `word`; the rest of it."""
        deadline = time.monotonic() + seconds * PATIENCE
        while True:
            line, newline, rest = self.buffer.partition(b"\n")
            if newline:
                self.buffer = rest
                text = line.decode("utf-8")
                if text.split(" ", 1)[0] == word:
                    return text[len(word):].strip()
                continue
            left = deadline - time.monotonic()
            stream = self.process.stdout.fileno()
            if left <= 0 or not select.select([stream], [], [], left)[0]:
                raise AssertionError(f"no line '{word}' within {seconds} s; stderr: {self.stderr()}")
            got = os.read(stream, 1 << 20)
            if not got:
                raise AssertionError(f"ended with {self.process.wait()} before '{word}'; stderr: {self.stderr()}")
            self.buffer += got

    def tell(self, line=""):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def stderr(self):
        self.errors.seek(0)
        return self.errors.read()[-2000:]

    def harm(self):
        """What is not as it was: the target must run on, untraced."""
        if self.process.poll() is not None or not self.harmless:
            return
        status = proc_status(self.pid)
        if status["TracerPid"].strip() != "0":
            yield f"pid {self.pid} is still traced by {status['TracerPid']}"
        if status["State"][0] in "tT":
            yield f"pid {self.pid} is left in state {status['State']}"

    def end(self):
        harms = list(self.harm())
        for pid in children(self.pid):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        self.errors.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        return harms


class Result:
    def __init__(self, argv, status, out, err, seconds):
        self.argv, self.status, self.out, self.err, self.seconds = argv, status, out, err, seconds

    def __repr__(self):
        return (f"{' '.join(map(str, self.argv))}\n-> status {self.status} after {self.seconds:.2f} s\n"
                f"stdout: {self.out[-1500:]}\nstderr: {self.err[-3000:]}")

    def json(self):
        return json.loads(self.out)


def tachyscope(*args, status=0, seconds=30, binary=None, input=None, raw=False, **more):
    """Run it; fail when it does not end in time or not with `status` (None: any). `raw`: out stays bytes."""
    argv = [binary or BINARY, *map(str, args)]
    began = time.monotonic()
    try:
        done = subprocess.run(argv, input=input, stdin=None if input is not None else subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=seconds * PATIENCE, **more)
    except subprocess.TimeoutExpired as late:
        raise AssertionError(f"{' '.join(argv)} did not end within {seconds} s: {late.stdout} {late.stderr}")
    result = Result(argv, done.returncode, done.stdout if raw else done.stdout.decode("utf-8"),
                    done.stderr.decode("utf-8"), time.monotonic() - began)
    assert status is None or result.status == status, result
    return result


def fails(*args, status=1, words=(), **more):
    """Run it and expect one clear line on stderr, nothing on stdout, and this status."""
    result = tachyscope(*args, status=status, **more)
    lines = result.err.splitlines()
    assert len(lines) == 1 and result.err.endswith("\n"), f"not one line: {result}"
    assert result.out == "", f"an error and output: {result}"
    assert lines[0].startswith("tachyscope: ") and len(lines[0]) > 25, f"not a sentence: {result}"
    for word in words:
        assert re.search(word, lines[0], re.I), f"no word of {word!r}: {result}"
    return lines[0]


def dump(pid, *args, **more):
    """`dump --json`, checked for what every dump must have."""
    result = tachyscope("dump", "--json", *args, pid, **more)
    assert result.err == "", result
    told = result.json()
    assert told["schema"] == "tachyscope-dump/1" and told["pid"] == int(pid), told
    for interpreter in told["interpreters"]:
        for thread in interpreter["threads"]:
            assert set(thread) >= {"tid", "name", "main", "status", "frames"}, thread
            for frame in thread["frames"]:
                assert set(frame) >= {"function", "file", "line", "end_line", "column", "end_column", "kind"}, frame
    return told


def threads_of(told):
    return [thread for interpreter in told["interpreters"] for thread in interpreter["threads"]]


def settled(pid, chain):
    """The main thread, as soon as its functions are `chain`: a program says "ready" a moment before it is."""
    def look():
        return next((t for t in threads_of(dump(pid)) if t["main"] and functions(t) == chain), None)
    return wait_until(look, what=f"the stack {chain}")


def functions(thread):
    """Names from the leaf to the root, markers left out."""
    return [frame["function"] for frame in thread["frames"] if frame["kind"] == "python"]


def collapsed(text):
    """[([frame, ...], count), ...] of collapsed stacks, root first; every line must be one."""
    stacks = []
    for line in text.splitlines():
        stack, _, count = line.rpartition(" ")
        assert stack and count.isdigit() and int(count) > 0, f"not a collapsed line: {line!r}"
        stacks.append((stack.split(";"), int(count)))
    return stacks


FRAME = re.compile(r"(.*) \((.*):(\d+)\)", re.S)


def parts(frame):
    """(function, file, line) of a collapsed frame; markers have no file."""
    match = FRAME.fullmatch(frame)
    return (match.group(1), match.group(2), int(match.group(3))) if match else (frame, "", 0)


class NotQuiet(AssertionError):
    """A test that a quiet machine would have passed. conftest.py gives it two more tries."""


def quiet(holds, told=None):
    """Asserts what depends on how busy the machine is, such as shares of time. Never use it for what must always be
    true, such as that a stack is possible, or none lost."""
    if not holds:
        raise NotQuiet(repr(told))


@contextlib.contextmanager
def asleep():
    """A list that has, after the block, how many of a thousand wake-ups a second came too late by themselves."""
    late, over = [0], threading.Event()

    def sleep():
        began = time.monotonic()
        due = 0
        while not over.is_set():
            now = time.monotonic()
            met = max(due + 1, int((now - began) * 1000) + 1)
            late[0] += met - due - 1
            due = met
            time.sleep(max(0, began + due / 1000 - now))

    thread = threading.Thread(target=sleep)
    thread.start()
    try:
        yield late
    finally:
        over.set()
        thread.join()


def profile(*args, **more):
    """Run a sampling verb with collapsed output and statistics; ([(stack, count)], statistics, Result)."""
    with tempfile.TemporaryDirectory(prefix="tachyscope-e2e-") as folder:
        out, stats = os.path.join(folder, "out.txt"), os.path.join(folder, "stats.json")
        verb, *rest = args
        result = tachyscope(verb, "--collapsed", "-o", out, "--stats-json", stats, *rest, **more)
        assert sorted(os.listdir(folder)) == ["out.txt", "stats.json"], (os.listdir(folder), result)
        with open(out, encoding="utf-8") as file:
            stacks = collapsed(file.read())
        with open(stats, encoding="utf-8") as file:
            told = json.load(file)
    assert told["schema"] == "tachyscope-stats/1", told
    return stacks, told, result


def peak_memory_kb(process):
    """Wait for the end of a Popen; the largest resident set that was seen on the way."""
    peak = 0
    while process.poll() is None:
        with contextlib.suppress(OSError, KeyError):
            status = proc_status(process.pid)
            if status["Name"].strip() == "tachyscope":  # not the fork of ourselves before the exec
                peak = max(peak, int(status["VmHWM"].split()[0]))
        time.sleep(0.01)
    return peak


def total(stacks):
    return sum(count for _, count in stacks)
