"""A headless Chromium."""
import base64
import json
import os
import select
import signal
import subprocess
import time

from report import expect


class Browser:
    """A headless Chromium, driven by the DevTools protocol over a pair of pipes."""

    def __init__(self, directory):
        (in_read, self.output), (self.input, out_write) = os.pipe(), os.pipe()

        def arrange():
            # Chromium reads commands from descriptor 3, and writes messages to 4.
            source, target = os.dup(in_read), os.dup(out_write)
            os.dup2(source, 3)
            os.dup2(target, 4)

        arguments = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars"]
        arguments += ["--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage"]
        arguments += [f"--user-data-dir={directory}", "--remote-debugging-pipe", "about:blank"]
        self.process = subprocess.Popen(
            arguments, preexec_fn=arrange, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env={**os.environ, "TZ": "UTC"}, start_new_session=True,
        )
        os.close(in_read)
        os.close(out_write)
        self.buffer, self.number, self.session, self.events = b"", 0, None, []
        target = [t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page"][0]["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Accessibility", "DOM"):
            self.call(f"{domain}.enable")

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.output, json.dumps(message).encode() + b"\0")
        while True:
            reply = self.read(60)
            if reply is None:
                raise TimeoutError(f"{method}: Chromium does not reply")
            if reply.get("id") == self.number:
                if "error" in reply:
                    raise RuntimeError(f"{method}: {reply['error']}")
                return reply["result"]
            self.events.append(reply)

    def read(self, timeout):
        while b"\0" not in self.buffer:
            if not select.select([self.input], [], [], timeout)[0]:
                return None
            chunk = os.read(self.input, 1 << 20)
            if not chunk:
                raise EOFError("Chromium has ended")
            self.buffer += chunk
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def evaluate(self, script):
        result = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{script}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def wait(self, script, text):
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            if self.evaluate(script):
                return True
            time.sleep(0.02)
        expect(False, f"within 20 s, {text}")
        return False

    def open(self, address):
        self.call("Page.navigate", url=address)
        self.wait("document.readyState === 'complete' && document.querySelector('#connection.connected') !== null",
                  f"{address} follows the events")

    def size(self, width, height, scheme):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def picture(self, path):
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def end(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
