"""Drives a headless Chromium through its debugging pipe: needs nothing but Python and Debian's chromium."""
import base64
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import tempfile
import time


class Browser:
    """A browser with a separate profile, without a network. A context manager."""

    def __init__(self, width=1400, height=900):
        self.profile = tempfile.TemporaryDirectory(prefix="cameo_browser_", ignore_cleanup_errors=True)
        down_read, self.down = os.pipe()
        self.up, up_write = os.pipe()
        # The browser reads commands from descriptor 3 and writes answers to 4. The shell moves the pipes there.
        command = ["/bin/sh", "-c", 'exec "$@" 3<&%d 4>&%d' % (down_read, up_write), "sh", find_browser(),
                   "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--no-first-run", "--disable-gpu",
                   "--disable-dev-shm-usage", "--disable-extensions", "--disable-sync", "--disable-component-update",
                   "--disable-background-networking", "--disable-default-apps", "--no-default-browser-check",
                   "--host-resolver-rules=MAP * ~NOTFOUND", "--force-color-profile=srgb", "--hide-scrollbars",
                   "--window-size=%d,%d" % (width, height), "--user-data-dir=" + self.profile.name, "about:blank"]
        environment = {**os.environ, "HOME": self.profile.name, "XDG_CONFIG_HOME": self.profile.name,
                       "XDG_CACHE_HOME": self.profile.name}
        self.process = subprocess.Popen(command, pass_fds=(down_read, up_write), env=environment,
                                        start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        os.close(down_read)
        os.close(up_write)
        self.number, self.answers, self.events, self.rest, self.size = 0, {}, [], b"", (width, height)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close", timeout=5)
            self.process.wait(10)
        except (TimeoutError, BrokenPipeError, EOFError, subprocess.TimeoutExpired):
            pass
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)  # the browser has a separate session (start_new_session)
            self.process.wait()
        os.close(self.down)
        os.close(self.up)
        self.profile.cleanup()

    def call(self, method, session=None, timeout=60, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        rest = json.dumps(message).encode() + b"\0"
        while rest:
            rest = rest[os.write(self.down, rest):]
        wanted, until = self.number, time.monotonic() + timeout
        while wanted not in self.answers:
            self.receive(until)
        answer = self.answers.pop(wanted)
        if "error" in answer:
            raise RuntimeError("%s: %s" % (method, answer["error"]))
        return answer["result"]

    def receive(self, until):
        """Reads messages of the browser, and waits for at least one until the time `until`."""
        while b"\0" not in self.rest:
            if not select.select([self.up], [], [], max(0, until - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            got = os.read(self.up, 1 << 20)
            if not got:
                raise EOFError("the browser has ended")
            self.rest += got
        *messages, self.rest = self.rest.split(b"\0")
        for message in map(json.loads, messages):
            if "id" in message:
                self.answers[message["id"]] = message
            else:
                self.events.append(message)

    def open(self, path, dark=False):
        return Page(self, pathlib.Path(path).resolve().as_uri(), dark)


class Page:
    """A tab with a loaded page."""

    def __init__(self, browser, url, dark):
        self.browser, self.url = browser, url
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.target = target
        self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Log", "Network"]:
            self.call(domain + ".enable")
        self.call("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=-1,
                  uploadThroughput=-1)
        self.call("Emulation.setDeviceMetricsOverride", width=browser.size[0], height=browser.size[1],
                  deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Page.navigate", url=url)
        until = time.monotonic() + 60
        while not any(e["method"] == "Page.loadEventFired" for e in self.events()):
            browser.receive(until)

    def call(self, method, **parameters):
        return self.browser.call(method, session=self.session, **parameters)

    def events(self):
        return [e for e in self.browser.events if e.get("sessionId") == self.session]

    def run(self, script):
        """The value of a JavaScript expression; of a promise, its result."""
        done = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in done:
            raise RuntimeError("%s: %s" % (script, done["exceptionDetails"]))
        return done["result"].get("value")

    def frame(self):
        """Waits until the browser has drawn the last changes."""
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def key(self, key, **more):
        text = {"text": key} if len(key) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text, **more)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, **more)
        self.frame()

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y):
        for kind in ["mousePressed", "mouseReleased"]:
            self.mouse(kind, x, y, button="left", clickCount=1)
        self.frame()

    def screenshot(self, path):
        shot = self.call("Page.captureScreenshot", format="png")
        pathlib.Path(path).write_bytes(base64.b64decode(shot["data"]))

    def complaints(self):
        """The exceptions, errors and warnings of the console since the page was requested."""
        self.run("0")  # all earlier messages have arrived when this is answered
        wrong = []
        for e in self.events():
            p = e["params"]
            if e["method"] == "Runtime.exceptionThrown":
                wrong.append(p["exceptionDetails"])
            elif e["method"] == "Runtime.consoleAPICalled" and p["type"] in ("error", "warning", "assert"):
                wrong.append(p)
            elif e["method"] == "Log.entryAdded" and p["entry"]["level"] in ("error", "warning"):
                wrong.append(p["entry"])
        return wrong

    def requests(self):
        return [e["params"]["request"]["url"] for e in self.events() if e["method"] == "Network.requestWillBeSent"]

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)


def find_browser():
    for name in ["chromium", "chromium-browser", "google-chrome"]:
        if shutil.which(name):
            return shutil.which(name)
    raise FileNotFoundError("no Chromium: the package chromium has it")
