"""Completion in real shells: every option of the help is offered, its values are, and running Pythons."""
import os
import pty
import re
import select
import shutil
import subprocess
import time

import pytest

from harness import BINARY, SLOW, tachyscope

VERBS = ("run", "attach", "replay", "dump", "ps")


def script(shell):
    return tachyscope("help", "--completion", shell).out


class Bash:
    def __init__(self, folder):
        self.text = script("bash")
        self.environment = {"PATH": os.path.dirname(BINARY) + ":/usr/bin:/bin"}

    def offers(self, line):
        """What is offered at the end of a line."""
        words = re.findall(r"[^\s=]+|=", line) + ([""] if line.endswith((" ", "=")) else [])
        if line.endswith("="):
            words.pop()  # the shell's own words end with the =
        ask = f"{self.text}\ncompopt() {{ :; }}\nCOMP_WORDS=(\"$@\")\nCOMP_CWORD=$(($# - 1))\n" \
              "_tachyscope\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n"
        done = subprocess.run(["bash", "--norc", "-c", ask, "bash", *words], env=self.environment, check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=20 * SLOW)
        assert not done.stderr, done.stderr.decode()
        return set(done.stdout.decode().split())


class Fish:
    def __init__(self, folder):
        self.file = os.path.join(folder, "tachyscope.fish")
        with open(self.file, "w", encoding="ascii") as file:
            file.write(script("fish"))
        self.environment = {"PATH": os.path.dirname(BINARY) + ":/usr/bin:/bin", "HOME": str(folder), "LANG": "C.UTF-8"}

    def offers(self, line):
        done = subprocess.run(["fish", "--no-config", "-c", f"source {self.file}; complete -C '{line}'"],
                              env=self.environment, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=20 * SLOW)
        assert not done.stderr, done.stderr.decode()
        offered = {offer.split("\t")[0] for offer in done.stdout.decode().splitlines()}
        return {offer.split("=")[-1] if line.endswith("=") else offer for offer in offered}


ZSH_SETUP = """PS1= PS2= RPS1=
autoload -Uz compinit && compinit -u -D
source {file}
unsetopt zle_bracketed_paste 2>/dev/null; zle_bracketed_paste=()
compadd() {{
	if [[ " ${{argv[1,(i)(-|--)]}} " == *" -"[OAD]" "* ]]; then builtin compadd "$@"; return; fi
	local -a hits
	builtin compadd -A hits "$@"
	(( $#hits )) && print -rl -- "<"${{^hits}}">" >>{offers}
	builtin compadd "$@"
}}
complete-all() {{ zle expand-or-complete; print END >>{offers}; zle kill-whole-line; }}
zle -N complete-all
bindkey '^I' complete-all
print READY
"""


class Zsh:
    """zsh completes in its line editor only, so it gets a terminal; every offer goes through compadd."""

    def __init__(self, folder):
        self.log = os.path.join(folder, "offers")
        file, setup = os.path.join(folder, "_tachyscope"), os.path.join(folder, "setup")
        with open(file, "w", encoding="ascii") as out:
            out.write(script("zsh"))
        with open(setup, "w", encoding="ascii") as out:
            out.write(ZSH_SETUP.format(file=file, offers=self.log))
        environment = {"PATH": os.path.dirname(BINARY) + ":/usr/bin:/bin", "HOME": str(folder), "TERM": "xterm",
                       "LANG": "C.UTF-8", "LINES": "500", "COLUMNS": "200"}
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.execvpe("zsh", ["zsh", "-f", "-i"], environment)
        self.send(f" source {setup}\n")
        self.wait(lambda text: b"READY" in text)

    def send(self, text):
        os.write(self.terminal, text.encode())

    def wait(self, done, seconds=20):
        text, deadline = b"", time.monotonic() + seconds * SLOW
        while not done(text):
            assert time.monotonic() < deadline, text.decode(errors="replace")[-3000:]
            if select.select([self.terminal], [], [], 0.05)[0]:
                text += os.read(self.terminal, 1 << 16)

    def read(self):
        with open(self.log, encoding="utf-8") as file:
            return file.read()

    def offers(self, line):
        with open(self.log, "w", encoding="utf-8"):
            pass
        self.send(line + "\t")
        self.wait(lambda _: "END\n" in self.read())
        return {offer.rstrip("=") for offer in re.findall("<(.*)>", self.read())}

    def end(self):
        os.kill(self.pid, 9)
        os.waitpid(self.pid, 0)
        os.close(self.terminal)


@pytest.fixture(scope="module", params=[Bash, Fish, Zsh], ids=["bash", "fish", "zsh"])
def shell(request, tmp_path_factory):
    name = request.param.__name__.lower()
    if not shutil.which(name):
        pytest.skip(f"this machine has no {name}")
    shell = request.param(tmp_path_factory.mktemp(name))
    yield shell
    if hasattr(shell, "end"):
        shell.end()


def options_of(verb):
    return set(re.findall(r"^ +(?:-\w, )?(--[\w-]+)", tachyscope(verb, "--help").out, re.M))


def test_verbs(shell):
    assert shell.offers("tachyscope ") >= {*VERBS, "help"}
    assert "attach" in shell.offers("tachyscope att") | shell.offers("tachyscope a")


def test_every_option(shell):
    for verb in VERBS:
        wanted = options_of(verb)
        assert {offer for offer in shell.offers(f"tachyscope {verb} --") if offer.startswith("--")} == wanted, verb
        assert len(wanted) >= 2


def test_values(shell):
    assert shell.offers("tachyscope attach --mode ") >= {"wall", "cpu", "gil", "exception"}
    assert shell.offers("tachyscope attach --mode=") >= {"wall", "cpu", "gil", "exception"}
    assert shell.offers("tachyscope replay -f ") >= {"table", "heatmap", "pstats", "diff-flamegraph"}
    assert shell.offers("tachyscope run --snapshot ") >= {"auto", "ride", "parallel", "stop"}
    assert "zsh" in shell.offers("tachyscope help --completion ")
    assert not shell.offers("tachyscope attach --duration ") & {"wall", "run", "--mode"}


def test_running_pythons(shell, start, debian):
    target = start(debian, "busy.py")
    assert str(target.pid) in shell.offers("tachyscope attach ")
    assert str(target.pid) in shell.offers("tachyscope dump --native ")


def test_the_program_of_run_has_options_of_its_own(shell):
    """What follows the program is its, not ours."""
    assert "--mode" in shell.offers("tachyscope run --quiet --")
    if not isinstance(shell, Fish):  # whose completions know no order of words
        assert "--mode" not in shell.offers("tachyscope run -q program.py --")


def test_other_shells_are_refused():
    for args in ([], ["tcsh"], ["bash", "zsh"]):
        result = tachyscope("help", "--completion", *args, status=2)
        assert "bash, zsh or fish" in result.err and len(result.err.splitlines()) == 1
