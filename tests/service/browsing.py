"""A real Chromium without a window, and what a person does with the page."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

PICTURES = Path(__file__).parent.parent.parent / "build" / "screenshots"
"""Where screenshots are kept, to be looked at."""
_NAMES = ("chromium", "chromium-browser", "google-chrome")
_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
_PATIENCE = 30_000.0
_LISTEN = "window.drawn = []; document.addEventListener('drawn', (event) => window.drawn.push(event.detail));"
"""The page tells of every answer that can be seen."""


def find_browser() -> str | None:
    """The Chromium of this machine; the variable CHROMIUM names another one."""
    return os.environ.get("CHROMIUM") or next((found for name in _NAMES if (found := shutil.which(name))), None)


@contextmanager
def browsing() -> Iterator[Browser]:
    """Start a browser with a profile of its own; skip the test if there is none."""
    path = find_browser()
    if path is None:
        pytest.skip("there is no Chromium to drive the page with: apt-get install chromium")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=_FLAGS)
        try:
            yield browser
        finally:
            browser.close()


class Visitor:
    """Somebody at the page. Everything that goes wrong in it is noted."""

    def __init__(self, page: Page, url: str) -> None:
        self.page, self.url = page, url
        self.asked: list[str] = []
        self.wrong: list[str] = []
        page.set_default_timeout(_PATIENCE)
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("console", lambda line: self.wrong.append(line.text) if line.type == "error" else None)
        page.on("dialog", lambda dialog: (self.wrong.append(dialog.message), dialog.dismiss()))
        page.add_init_script(_LISTEN)
        page.goto(url)

    def search(self, query: str) -> None:
        """Type a query, press Enter, and wait for the whole answer."""
        self.page.fill("#query", query)
        self.page.press("#query", "Enter")
        self.wait()

    def wait(self) -> None:
        """Wait until everything is shown."""
        self.page.wait_for_selector("#results:not([hidden])[aria-busy='false']")

    def wait_for(self, name: str, text: str) -> None:
        """Wait until an element shows a text."""
        self.page.wait_for_selector(f"#{name}:has-text('{text}')")

    def move(self, slider: str, keys: list[str]) -> None:
        """Press keys on a slider, and wait for the whole answer."""
        self.page.evaluate("() => { window.drawn.length = 0; }")
        for key in keys:
            self.page.press(f"#{slider}", key)
        self.page.wait_for_function("() => window.drawn.length")
        self.wait()

    def ids(self, name: str) -> list[str]:
        """The passages of a list."""
        found: list[str] = self.page.eval_on_selector_all(f"#{name} li strong", "all => all.map(one => one.innerText)")
        return found

    def marks(self, name: str) -> dict[str, str]:
        """What a list says about its passages."""
        script = "all => all.map(one => [one.dataset.id, one.querySelector('.mark')?.innerText ?? ''])"
        return dict(self.page.eval_on_selector_all(f"#{name} li", script))

    def text(self, name: str) -> str:
        """The text of an element."""
        return self.page.inner_text(f"#{name}")

    def value(self, name: str) -> Any:
        """The number that a field or a slider has."""
        return self.page.eval_on_selector(f"#{name}", "one => one.valueAsNumber")

    def picture(self, name: str) -> None:
        """Keep a screenshot of the whole page."""
        PICTURES.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=PICTURES / f"{name}.png", full_page=True)
