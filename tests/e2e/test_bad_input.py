"""Wrong arguments: one clear line, the documented status, nothing left behind."""
import os
import re
import shutil
import struct
import subprocess
import tempfile
import time

import pytest

from harness import BINARY, SANITIZED, SLOW, fails, tachyscope


@pytest.fixture
def target(start, debian):
    return start(debian, "busy.py")


@pytest.mark.parametrize("rate", ["0", "-1", "1e9", "1000000000", "10^9", "abc", "", "nan", "inf", "1kk", "0x10", "-5k"])
def test_rates_that_cannot_be(rate, target):
    for option in ("-r", "--sampling-rate"):
        fails("attach", option, rate, "-d", "1", target.pid, status=2, words=["rate|--sampling-rate|-r"])
    fails("run", "-r", rate, "--", "true", status=2, words=["rate"])


@pytest.mark.parametrize("duration", ["-1", "abc", "nan", "inf", "", "5x", "1e99"])
def test_durations_that_cannot_be(duration, target):
    fails("attach", "-d", duration, target.pid, status=2, words=["duration|-d"])


@pytest.mark.parametrize("wrong, near", [
    ("--sampling-rtae", "--sampling-rate"),
    ("--samplng-rate", "--sampling-rate"),
    ("--collapsd", "--collapsed"),
    ("--al-threads", "--all-threads"),
    ("--outptu", "--output"),
    ("--limt", "--limit"),
])
def test_a_mistyped_option_is_answered_with_the_near_one(wrong, near, target):
    line = fails("attach", wrong, target.pid, status=2, words=[re.escape(wrong)])
    assert near in line, line


@pytest.mark.parametrize("argv, words", [
    (["--no-such-thing-at-all"], ["no-such-thing"]),
    (["atach", "1"], ["atach", "attach"]),
    (["frobnicate"], ["frobnicate"]),
    (["attach"], ["process id"]),
    (["dump"], ["process id"]),
    (["attach", "abc"], ["abc"]),
    (["attach", "12abc"], ["12abc"]),
    (["attach", "-5"], ["-5"]),
    (["attach", "0"], ["0"]),
    (["attach", "99999999999999999999"], ["99999999999999999999"]),
    (["attach", "1", "2", "x"], []),
    (["attach", "-r"], ["-r"]),
    (["attach", "-Z", "1"], ["-Z|Z"]),
    (["attach", "-f", "no-such-format", "1"], ["no-such-format", "collapsed"]),
    (["attach", "--mode", "sideways", "1"], ["sideways", "wall"]),
    (["attach", "--snapshot", "magic", "1"], ["magic", "auto"]),
    (["attach", "--sort", "colour", "1"], ["colour"]),
    (["attach", "-l", "-3", "1"], ["limit|-l"]),
    (["attach", "-l", "many", "1"], ["many|limit"]),
    (["run"], []),
    (["run", "-m"], ["-m"]),
    (["run", "--"], []),
])
def test_usage(argv, words):
    fails(*argv, status=2, words=words)


def test_no_arguments_at_all():
    result = tachyscope(status=2)
    assert result.out == "" and "tachyscope" in result.err and "--help" in result.err, result


@pytest.mark.parametrize("argv", [["--help"], ["-h"], ["help"], ["attach", "--help"], ["run", "--help"],
                                  ["dump", "-h"], ["ps", "--help"]])
def test_help_goes_to_stdout(argv):
    result = tachyscope(*argv)
    assert result.err == "" and result.out.count("\n") > 5 and "tachyscope" in result.out
    if argv[0] not in ("dump", "ps"):
        assert "attach" in result.out or "--sampling-rate" in result.out
    assert all(len(line) <= 100 for line in result.out.splitlines())


def test_version():
    result = tachyscope("--version")
    assert re.fullmatch(r"tachyscope \d+\.\d+\.\d+\n", result.out)


# ---- files that cannot be written

def test_into_a_folder_that_is_not_there(target):
    line = fails("attach", "-d", "5", "-o", "/no/such/folder/p.txt", target.pid, words=["/no/such/folder", "no such|not"])
    assert "p.txt" in line


def test_an_unwritable_file_is_told_before_the_work(target):
    """Not after an hour of sampling."""
    began = time.monotonic()
    fails("attach", "-d", "5", "-o", "/no/such/folder/p.txt", target.pid)
    assert time.monotonic() - began < 2 * SLOW


def test_into_a_folder(target, tmp_path):
    """The file gets a name of ours, which is told."""
    result = tachyscope("attach", "-d", "0.2", "--collapsed", "-o", tmp_path, target.pid)
    names = os.listdir(tmp_path)
    assert len(names) == 1 and str(target.pid) in names[0] and str(tmp_path / names[0]) in result.err, result
    assert (tmp_path / names[0]).stat().st_size > 0
    fails("dump", "-o", tmp_path, target.pid, words=["director|folder"])
    assert os.listdir(tmp_path) == names


def test_a_file_in_place_of_a_folder(target, tmp_path):
    (tmp_path / "file").write_text("x")
    fails("attach", "-d", "0.2", "-o", tmp_path / "file" / "p.txt", target.pid, words=["director|folder"])
    assert (tmp_path / "file").read_text() == "x"


@pytest.fixture
def full_folder():
    """A tiny file system with no byte left."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to mount a tiny file system")
    folder = tempfile.mkdtemp(prefix="tachyscope-e2e-")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", folder], check=True)
    try:
        with open(os.path.join(folder, "filler"), "wb", buffering=0) as file:
            try:
                while file.write(b"x" * 1024):
                    pass
            except OSError:
                pass
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)
        os.rmdir(folder)


def test_into_a_full_file_system(target, full_folder):
    for verb in (["attach", "-d", "0.3", "--collapsed"], ["dump", "--json"], ["dump"]):
        fails(*verb, "-o", os.path.join(full_folder, "p.txt"), target.pid, words=["p.txt", "space|full"])
        assert os.listdir(full_folder) == ["filler"]
    fails("attach", "-d", "0.3", "-o", "/tmp/tachyscope-e2e-unused.txt", "--stats-json",
          os.path.join(full_folder, "s.json"), target.pid, words=["s.json", "space|full"])
    assert os.listdir(full_folder) == ["filler"]
    if os.path.exists("/tmp/tachyscope-e2e-unused.txt"):
        os.unlink("/tmp/tachyscope-e2e-unused.txt")


def test_stdout_that_is_full_or_closed(target):
    with open("/dev/full", "wb") as full:
        done = subprocess.run([BINARY, "dump", str(target.pid)], stdout=full, stderr=subprocess.PIPE, timeout=20)
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1, done
    for verb, n_lines in (["dump"], 1), (["attach", "-d", "0.2"], 2):  # attach has its summary to tell as well
        done = subprocess.run([BINARY, *verb, str(target.pid)], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              timeout=20, preexec_fn=lambda: os.close(1))
        assert done.returncode == 1 and len(done.stderr.splitlines()) <= n_lines, done
        assert b"cannot write" in done.stderr, done


def test_a_reader_that_goes_away(target):
    """`tachyscope dump PID | head -1` is no reason to complain."""
    done = subprocess.run(["/bin/sh", "-c", f"{BINARY} dump {target.pid} | head -c 1"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=20)
    assert done.stderr == b"" and len(done.stdout) == 1, done


# ---- ELF files that make no sense

@pytest.mark.parametrize("fault", ["sections", "names", "garbage"])
def test_an_absurd_elf_file(fault, start, debian):
    """The file of a running program is overwritten by one with absurd tables: a line or a dump, no crash."""
    folder = tempfile.mkdtemp(prefix="tachyscope-e2e-")
    try:
        program = os.path.join(folder, "python-odd")
        shutil.copy(os.path.realpath(debian.argv[0]), program)
        with open(program, "r+b") as file:
            head = bytearray(file.read(64))
            if fault == "sections":
                struct.pack_into("<Q", head, 40, 0xffffffffffffff00)
            elif fault == "names":
                struct.pack_into("<H", head, 62, 0xfff0)
            else:
                size = os.path.getsize(program)
                start_of_sections = struct.unpack_from("<Q", head, 40)[0]
                file.seek(start_of_sections)
                file.write(b"\xa5" * (size - start_of_sections))
            file.seek(0)
            file.write(head)
        odd = start(debian, "busy.py", argv=[program], environment={"PYTHONHOME": "/usr"})
        for binary in filter(os.path.exists, (BINARY, SANITIZED)):
            result = tachyscope("dump", odd.pid, status=None, binary=binary)
            assert result.status in (0, 1), result
            assert len(result.err.splitlines()) == (result.status == 1), result
            if result.status == 0:
                assert "busy.py" in result.out
    finally:
        shutil.rmtree(folder)
