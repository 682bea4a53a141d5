"""Which other profilers this machine has. A missing one is a line in the tables, not a failure."""
import importlib.machinery
import importlib.util
import os
import shutil
import subprocess
import sys

import common

from . import tools

PIP_S = 120


def setup_interpreters():
    """tools/setup_interpreters as a module: it knows where things are kept."""
    path = os.path.join(common.TOP, "tools/setup_interpreters")
    loader = importlib.machinery.SourceFileLoader("setup_interpreters", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


class Peers:
    """tachyon, tachyon_raw, austin, py_spy: a tool or None; `told` has a line for each."""

    def __init__(self):
        self.setup = setup_interpreters()
        self.told = []
        sid = common.python("3.15-sid")
        self.tachyon = self.tachyon_raw = None
        if self.found("Tachyon", sid and sid.text_version, "no CPython 3.15 in a sid root"):
            self.tachyon, self.tachyon_raw = tools.Tachyon(sid), tools.TachyonRaw(sid)
        self.austin = self.find_austin()
        self.py_spy = self.find_py_spy()

    def found(self, name, version, why_not):
        self.told.append(f"{name} {version}" if version else f"{name}: missing ({why_not})")
        return bool(version)

    def find_austin(self):
        root = self.setup.sid_root()
        if not os.path.exists(root + tools.Austin.PATH):
            self.found("Austin", "", "not in the sid root; tools/setup_interpreters --peers fetches it")
            return None
        version = first_line(["chroot", root, tools.Austin.PATH, "--version"])
        return tools.Austin(root) if self.found("Austin", last_word(version), "it does not start") else None

    def find_py_spy(self):
        path = shutil.which("py-spy") or self.py_spy_of_our_own()
        version = first_line([path, "--version"]) if path else ""
        why_not = "no package index to install it from"
        return tools.PySpy(path) if self.found("py-spy", last_word(version), why_not) else None

    def py_spy_of_our_own(self):
        """In a venv among the things that are kept, installed once."""
        folder = os.path.join(self.setup.cache_folder(), "bench-venv")
        path = os.path.join(folder, "bin/py-spy")
        if not os.path.exists(path):
            quietly([sys.executable, "-m", "venv", folder])
            quietly([os.path.join(folder, "bin/pip"), "install", "--quiet", "--disable-pip-version-check", "py-spy"])
        return path if os.path.exists(path) else ""

    def whole_tools(self):
        """Those with a command line of their own."""
        return [tool for tool in (self.tachyon, self.austin, self.py_spy) if tool]


def quietly(argv):
    try:
        subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       timeout=PIP_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        pass


def first_line(argv):
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=20, text=True, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.partition("\n")[0] if done.returncode == 0 else ""


def last_word(text):
    return text.split()[-1] if text.split() else ""
