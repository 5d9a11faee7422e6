# SPDX-License-Identifier: GPL-2.0
"""Chromium without a window, driven over a pipe: what it says of a page."""

import json
import os
import select
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

PROGRAM = "chromium"
ANSWER_S = 60.0
OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
    *("--disable-background-networking", "--disable-component-update", "--no-first-run"),
    *("--remote-debugging-pipe", "--hide-scrollbars"),
)
# How much wider than its window a page is.
WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
# Where the browser reads commands and writes answers.
COMMANDS, ANSWERS = 3, 4


@dataclass
class Seen:
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


class Browser:
    """A browser with one page, in a context; its profile is kept in a scratch directory."""

    def __init__(self, scratch: Path) -> None:
        self.seen = Seen()
        self._number = 0
        self._session = ""
        self._buffer = b""
        self._loaded = False
        theirs_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()
        # Through the shell's redirections: they give the browser the numbers that it wants.
        script = f'exec "$@" {COMMANDS}<&{theirs_in} {ANSWERS}>&{theirs_out}'
        self._process = subprocess.Popen(
            ["bash", "-c", script, "bash", PROGRAM, *OPTIONS, f"--user-data-dir={scratch}"],
            pass_fds=(theirs_in, theirs_out),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)

    def __enter__(self) -> Self:
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._out)
        self._process.kill()
        self._process.wait()
        os.close(self._in)

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + ANSWER_S
        while True:
            answer = self._read(deadline)
            if answer.get("id") == self._number:
                assert "error" not in answer, (method, answer)
                return dict(answer["result"])

    def _read(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._in], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, f"{PROGRAM}: no answer in {ANSWER_S:.0f} s"
            data = os.read(self._in, 1 << 20)
            assert data, f"{PROGRAM} has ended"
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\0")
        message = json.loads(line)
        self._note(message.get("method", ""), message.get("params", {}))
        return dict(message)

    def _note(self, event: str, params: dict[str, Any]) -> None:
        complaints = self.seen.complaints
        if event == "Page.loadEventFired":
            self._loaded = True
        elif event == "Runtime.exceptionThrown":
            complaints.append(json.dumps(params["exceptionDetails"]))
        elif event == "Log.entryAdded":
            complaints.append(params["entry"]["text"])
        elif event == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            complaints.append(json.dumps(params["args"]))
        elif event == "Network.requestWillBeSent":
            self.seen.requests.append(params["request"]["url"])

    def look(self, width: int, dark: bool = False, scripts: bool = True) -> None:
        mode = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        self.call("Emulation.setDeviceMetricsOverride", **mode)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)

    def open(self, page: Path) -> Seen:
        """Open a page from disk and wait for it; what was seen of it so far."""
        self.seen, self._loaded = Seen(), False
        self.call("Page.navigate", url=page.as_uri())
        deadline = time.monotonic() + ANSWER_S
        while not self._loaded:
            self._read(deadline)
        # Whatever was said before this answer has been noted.
        self.call("Page.getNavigationHistory")
        return self.seen

    def ask(self, expression: str) -> Any:
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")
