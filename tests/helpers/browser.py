"""A headless Chromium, spoken to over two pipes by its DevTools protocol.

A window of the browser is never narrower than about 500 pixels; the protocol sets any width, dark
colours and paper, and tells of requests and messages, for which scripts in a page would not do.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import time
from base64 import b64decode
from pathlib import Path
from typing import Any

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--remote-debugging-pipe",
)
PATIENCE = 20.0
CONTRAST = """
(() => {
  const rgb = (text) => {
    const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number);
    return [r, g, b, a];
  };
  const light = (colour) => {
    const part = (value) =>
      value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    const [r, g, b] = colour.map((value) => part(value / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    const layers = [];
    for (let one = element; one; one = one.parentElement)
      layers.push(rgb(getComputedStyle(one).backgroundColor));
    return layers.reverse().reduce(
      (below, [r, g, b, a]) => [r, g, b].map((value, i) => a * value + (1 - a) * below[i]),
      [255, 255, 255],
    );
  };
  const found = [];
  for (const one of document.querySelectorAll(WITHIN)) {
    const words = [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!words || one.tagName === "SCRIPT") continue;
    const style = getComputedStyle(one);
    const ink = one.ownerSVGElement ? style.fill : style.color;
    const back = behind(one);
    const mixed = rgb(ink).slice(0, 3)
      .map((value, i) => style.opacity * value + (1 - style.opacity) * back[i]);
    const [a, b] = [light(mixed), light(back)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) found.push([one.tagName, one.className.baseVal ?? one.className, ratio]);
  }
  return found;
})()
"""
"""What has less contrast than WCAG 2.1 asks for (success criterion 1.4.3)."""


def find_browser() -> str | None:
    """Return the path of a Chromium, if there is one."""
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    return next(filter(None, map(shutil.which, names)), None)


class Page:
    """A page of a browser that is started with it and ends with it."""

    def __init__(self, program: str, profile: Path) -> None:
        to_read, self._write = os.pipe()
        self._read, to_write = os.pipe()
        # The program reads file 3 and writes file 4; the shell puts them there.
        command = 'exec 3<&$0 4>&$1; shift 1; exec "$@"'
        arguments = [str(to_read), str(to_write), program, *FLAGS, f"--user-data-dir={profile}"]
        self._process = subprocess.Popen(
            ["bash", "-c", command, *arguments],
            pass_fds=(to_read, to_write),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_read)
        os.close(to_write)
        self._rest = b""
        self._number = 0
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        answer = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = answer["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> Page:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._read)
        os.close(self._write)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the protocol and return its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        answer = self._wait(lambda event: event.get("id") == self._number)
        assert "error" not in answer, (method, answer)
        return answer["result"]

    def _wait(self, fits: Any) -> dict[str, Any]:
        end = time.monotonic() + PATIENCE
        while (left := end - time.monotonic()) > 0:
            while b"\0" in self._rest:
                line, _, self._rest = self._rest.partition(b"\0")
                message = json.loads(line)
                if "method" in message:
                    self.events.append(message)
                if fits(message):
                    return message
            ready, _, _ = select.select([self._read], [], [], left)
            if ready:
                part = os.read(self._read, 1 << 16)
                assert part, "the browser has ended"
                self._rest += part
        raise AssertionError("the browser did not answer")

    def open(self, path: Path) -> None:
        """Open a file and wait until it is loaded."""
        self.events.clear()
        self.call("Page.navigate", url=path.as_uri())
        if not self.told("Page.loadEventFired"):
            self._wait(lambda event: event.get("method") == "Page.loadEventFired")

    def told(self, method: str) -> list[dict[str, Any]]:
        """Return what events of a kind said since the page was opened."""
        return [event["params"] for event in self.events if event["method"] == method]

    def size(self, width: int, height: int = 900) -> None:
        """Make the page so wide and high."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip

    def colors(self, scheme: str, media: str = "screen") -> None:
        """Prefer dark or light colours, on a screen or in print."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", media=media, features=features)

    def run(self, script: str) -> Any:
        """Return the value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def faint_text(self, within: str = "body *") -> Any:
        """Return the elements among those of a selector whose text has too little contrast."""
        return self.run(CONTRAST.replace("WITHIN", json.dumps(within)))

    def press(self, key: str, code: int) -> None:
        """Press a key and let it go."""
        text = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent", type=kind, key=key, code=key,
                windowsVirtualKeyCode=code, **(text if kind == "keyDown" else {}),
            )  # fmt: skip

    def print(self, path: Path) -> None:
        """Write the page as PDF."""
        answer = self.call("Page.printToPDF", preferCSSPageSize=True, printBackground=True)
        path.write_bytes(b64decode(answer["data"]))
