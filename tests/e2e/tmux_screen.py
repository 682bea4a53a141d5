"""A terminal of a chosen size, by tmux: keys go in, rows of cells come out."""
import contextlib
import os
import shlex
import signal
import subprocess

from harness import BINARY, wait_until


class Screen:
    def __init__(self, folder, argv, cols=80, rows=24, environment=None):
        self.server = ["tmux", "-S", os.path.join(folder, "tmux"), "-f", "/dev/null"]
        env = {"LC_ALL": "C.UTF-8", "TERM": "screen-256color", **(environment or {})}
        unset = "".join(f"-u {name} " for name, value in env.items() if value is None)
        words = " ".join(shlex.quote(f"{k}={v}") for k, v in env.items() if v is not None)
        command = " ".join(shlex.quote(str(word)) for word in argv)
        status = os.path.join(folder, "status")
        # a shell stays when the program has ended, so that what it left behind can be read
        self.shell = f"env {unset}{words} {command}; echo \"status $?\"; echo $? >{status}; exec sh"
        self.status_file = status
        self.tmux("new-session", "-d", "-s", "s", "-x", str(cols), "-y", str(rows), "sh", "-c", self.shell)
        self.tmux("set-option", "-g", "status", "off")
        self.tmux("resize-window", "-t", "s", "-x", str(cols), "-y", str(rows))

    def tmux(self, *words):
        done = subprocess.run([*self.server, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=20,
                              stdin=subprocess.DEVNULL)
        assert done.returncode == 0, (words, done.stderr)
        return done.stdout.decode("utf-8")

    def rows(self):
        return self.tmux("capture-pane", "-p", "-t", "s").split("\n")[:-1]

    def text(self):
        return "\n".join(self.rows())

    def styled(self):
        """With the escape sequences of colours."""
        return self.tmux("capture-pane", "-p", "-e", "-t", "s")

    def keys(self, *keys):
        self.tmux("send-keys", "-t", "s", *keys)

    def type(self, text):
        self.tmux("send-keys", "-t", "s", "-l", text)

    def record(self, path):
        """All bytes that the terminal is sent from now on, into a file."""
        self.tmux("pipe-pane", "-t", "s", f"cat >{shlex.quote(str(path))}")

    def resize(self, cols, rows):
        self.tmux("resize-window", "-t", "s", "-x", str(cols), "-y", str(rows))

    def wait(self, word, seconds=10):
        """The rows, as soon as `word` (or what a function of the text wants) is on the screen."""
        wanted = word if callable(word) else lambda text: word in text
        try:
            return wait_until(lambda: (lambda rows: rows if wanted("\n".join(rows)) else None)(self.rows()), seconds)
        except AssertionError:
            raise AssertionError(f"no {word!r} on the screen within {seconds} s:\n{self.text()}") from None

    def wait_end(self, seconds=10):
        """The exit status of the program."""
        wait_until(lambda: os.path.exists(self.status_file) and os.path.getsize(self.status_file), seconds,
                   "the end of the program")
        return int(self.wait(lambda text: "status " in text) and
                   next(row for row in reversed(self.rows()) if row.startswith("status ")).split()[1])

    def flags(self):
        """(alternate screen, cursor visible, mouse wanted) as the terminal has them."""
        return tuple(self.tmux("display-message", "-p", "-t", "s",
                               "#{alternate_on} #{cursor_flag} #{mouse_any_flag}").split())

    def modes(self):
        """What stty says of the terminal."""
        name = self.tmux("display-message", "-p", "-t", "s", "#{pane_tty}").strip()
        with open(name, "rb") as tty:
            return subprocess.run(["stty", "-a"], stdin=tty, stdout=subprocess.PIPE, check=True).stdout.decode()

    def tachyscope_pid(self):
        """Of the program on the screen."""
        pane = int(self.tmux("display-message", "-p", "-t", "s", "#{pane_pid}"))
        for entry in os.listdir("/proc"):
            with contextlib.suppress(OSError, ValueError, IndexError):
                with open(f"/proc/{entry}/stat", encoding="utf-8") as file:
                    parent = int(file.read().rpartition(")")[2].split()[1])
                if parent == pane and os.path.samefile(f"/proc/{entry}/exe", BINARY):
                    return int(entry)
        return 0

    def close(self):
        with contextlib.suppress(Exception):
            pid = self.tachyscope_pid()
            if pid:
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(Exception):
            self.tmux("kill-server")
