"""Control of Firefox without a third-party driver."""

import json
import socket
import subprocess
import time
from pathlib import Path

from browsing import patience

# No proxy listens on port 9, so Firefox's own requests to the internet fail.
OFFLINE = """user_pref("network.proxy.type", 1);
user_pref("network.proxy.http", "127.0.0.1"); user_pref("network.proxy.http_port", 9);
user_pref("network.proxy.ssl", "127.0.0.1"); user_pref("network.proxy.ssl_port", 9);
user_pref("marionette.port", 0);"""


class Firefox:
    """Client of Firefox's Marionette protocol, whose messages are `length:JSON`."""

    def __init__(self, profile: Path, width: int) -> None:
        (profile / "user.js").write_text(OFFLINE)
        command = ["firefox-esr", "--headless", "--marionette", "--remote-allow-system-access"]
        options = ["--no-remote", "--profile", str(profile)]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen([*command, *options], **quiet)
        port = profile / "MarionetteActivePort"
        end = time.monotonic() + patience() / 1000
        while not (port.exists() and port.read_text()):
            assert time.monotonic() < end, "Firefox did not start"
            try:
                self.process.wait(0.2)
            except subprocess.TimeoutExpired:
                continue
            raise AssertionError("Firefox ended while it started")
        # This limit, twice the limit for a page, ends the test if Firefox itself hangs.
        place, limit = ("127.0.0.1", int(port.read_text())), 2 * patience() / 1000
        self.socket = socket.create_connection(place, timeout=limit)
        self.stream = self.socket.makefile("rwb")
        self.read()
        self.ask("WebDriver:NewSession")
        limit = int(patience())
        self.ask("WebDriver:SetTimeouts", script=limit, pageLoad=limit)
        # Windows have a minimal width; the browser element inside has none.
        self.ask("Marionette:SetContext", value="chrome")
        size = f"min-width: {width}px; max-width: {width}px; min-height: 844px"
        self.run(f"gBrowser.selectedBrowser.style = '{size}'")
        self.ask("Marionette:SetContext", value="content")

    def read(self):
        size = b""
        while (one := self.stream.read(1)) != b":":
            size += one
        return json.loads(self.stream.read(int(size)))

    def ask(self, name, **given):
        message = json.dumps([0, 1, name, given]).encode()
        self.stream.write(b"%d:%s" % (len(message), message))
        self.stream.flush()
        _, _, error, result = self.read()
        assert error is None, error
        return result

    def run(self, script):
        return self.ask("WebDriver:ExecuteScript", script=script, args=[])["value"]

    def open(self, url):
        self.ask("WebDriver:Navigate", url=url)

    def place(self, selector):
        place = self.ask("WebDriver:FindElement", using="css selector", value=selector)
        return {"id": next(iter(place["value"].values()))}

    def click(self, selector):
        self.ask("WebDriver:ElementClick", **self.place(selector))

    def type(self, selector, text):
        self.ask("WebDriver:ElementClear", **self.place(selector))
        self.ask("WebDriver:ElementSendKeys", **self.place(selector), text=f"{text}\ue007")

    def close(self):
        self.stream.close()
        self.socket.close()
        self.process.kill()
        self.process.wait()
