"""A page of ours in a real Chromium: open it, use it as a person would, ask what it shows."""
import json
import os
import pathlib
import shutil
import subprocess

import pytest

from harness import TOP

HERE = os.path.dirname(os.path.abspath(__file__))
WEB = os.path.join(TOP, "web")
SCREENSHOTS = os.path.join(TOP, "build/screenshots")


def chromium():
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def install():
    """Whether node and what web/ needs of npm are there; installed from the lock file when they are missing."""
    if not shutil.which("node") or not shutil.which("npm"):
        pytest.skip("this machine has no node and npm")
    if not chromium():
        pytest.skip("this machine has no chromium")
    done = subprocess.run([os.path.join(TOP, "tools/web"), "install"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=300)
    if done.returncode and not os.path.exists(os.path.join(WEB, "node_modules/playwright-core")):
        pytest.skip(f"the packages of web/ cannot be installed here: {done.stdout.decode()[-500:]}")


class Browser:
    def __init__(self):
        install()
        self.process = subprocess.Popen(
            ["node", os.path.join(HERE, "browser.mjs"), os.path.join(WEB, "node_modules/playwright-core"), chromium()],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, what, **args):
        self.process.stdin.write(json.dumps({"what": what, **args}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, f"the browser is gone: {self.process.poll()}"
        answer = json.loads(line)
        assert "error" not in answer, f"{what} {args}: {answer.get('error')}"
        return answer["value"]

    def open(self, path, hash="", **more):
        self.ask("open", url=pathlib.Path(path).absolute().as_uri() + hash, **more)

    def evaluate(self, js):
        return self.ask("evaluate", js=js)

    def wait(self, js, **more):
        return self.ask("wait", js=js, **more)

    def click(self, selector, **more):
        self.ask("click", selector=selector, **more)

    def press(self, *keys):
        for key in keys:
            self.ask("press", key=key)

    def text(self, selector):
        return self.ask("text", selector=selector)

    def screenshot(self, name):
        os.makedirs(SCREENSHOTS, exist_ok=True)
        path = os.path.join(SCREENSHOTS, f"{name}.png")
        self.ask("screenshot", path=path)
        assert os.path.getsize(path) > 1000, path
        return path

    def is_quiet(self):
        """No error, warning, dialog or access to a network since the page was opened."""
        complaints = self.ask("complaints")
        assert not complaints, complaints

    def end(self):
        self.process.stdin.close()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
