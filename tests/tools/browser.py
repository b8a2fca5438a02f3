"""A real browser without a window, spoken to through its debugging pipe: what a page asks for, complains of, and shows."""
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

from check import PATIENCE

NAMES = ("chromium", "chromium-browser", "google-chrome", "chromium-headless-shell")


def program():
    """A browser that starts on this machine, None if there is none."""
    for name in NAMES:
        path = shutil.which(name)
        if path and subprocess.run([path, "--version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
            return path
    return None


class Browser:
    """One page after the other. After open(): complaints (console, exceptions, policy, failed requests) and requests (addresses)."""

    def __init__(self, path):
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()
        self._in, self._out, self._rest, self._id = ours_in, ours_out, b"", 0
        self._folder = tempfile.mkdtemp(dir=".")
        words = [path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions",
                 "--disable-background-networking", "--disable-component-update", "--window-size=1400,1000",
                 "--remote-debugging-pipe", "--user-data-dir=" + os.path.abspath(self._folder), "about:blank"]
        self._process = subprocess.Popen(["bash", "-c", f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}', "bash", *words],
                                         pass_fds=(theirs_in, theirs_out), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                         stderr=subprocess.DEVNULL)
        os.close(theirs_in)
        os.close(theirs_out)
        self.events, self.complaints, self.requests = [], [], []
        target = self._ask("Target.createTarget", {"url": "about:blank"})["targetId"]
        self._session = None
        self._session = self._ask("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        for name in ("Page", "Runtime", "Log", "Network"):
            self._ask(name + ".enable", {})

    def _ask(self, method, params):
        self._id += 1
        message = {"id": self._id, "method": method, "params": params}
        if getattr(self, "_session", None):
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._take()
            if answer.get("id") == self._id:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def _take(self):
        """The next message; events are noted."""
        end = time.monotonic() + PATIENCE
        while b"\0" not in self._rest:
            ready = select.select([self._in], [], [], max(0.0, end - time.monotonic()))[0]
            more = os.read(self._in, 1 << 20) if ready else b""
            if not more:
                raise RuntimeError("the browser says nothing")
            self._rest += more
        one, _, self._rest = self._rest.partition(b"\0")
        message = json.loads(one)
        if "method" in message:
            self._note(message["method"], message["params"])
        return message

    def _note(self, method, p):
        self.events.append(method)
        if method == "Runtime.exceptionThrown":
            self.complaints.append("exception: " + p["exceptionDetails"]["text"])
        elif method == "Runtime.consoleAPICalled" and p["type"] in ("error", "warning", "assert"):
            self.complaints.append(f"console {p['type']}: {p['args'][0].get('value') if p['args'] else ''}")
        elif method == "Log.entryAdded" and p["entry"]["level"] in ("error", "warning"):
            self.complaints.append(p["entry"]["text"])
        elif method == "Network.loadingFailed":
            self.complaints.append("request failed: " + p["errorText"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(p["request"]["url"])

    def open(self, path):
        """Loads a file, from an address with no more than its bytes in it."""
        self.events, self.complaints, self.requests = [], [], []
        from urllib.request import pathname2url
        self._ask("Page.navigate", {"url": "file://" + pathname2url(os.path.abspath(path))})
        while "Page.loadEventFired" not in self.events:
            self._take()

    def value(self, expression):
        """The value of an expression of JavaScript in the page."""
        r = self._ask("Runtime.evaluate", {"expression": expression, "returnByValue": True, "awaitPromise": True})
        if "exceptionDetails" in r:
            raise RuntimeError(f"{expression}: {r['exceptionDetails']}")
        return r["result"].get("value")

    def key(self, name):
        for kind in ("keyDown", "keyUp"):
            self._ask("Input.dispatchKeyEvent", {"type": kind, "key": name, "code": name})

    def close(self):
        try:
            self._session = None
            self._ask("Browser.close", {})
            self._process.wait(timeout=20)
        except (RuntimeError, OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        os.close(self._in)
        os.close(self._out)
        shutil.rmtree(self._folder, ignore_errors=True)
