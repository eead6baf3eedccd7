"""The page is served to everybody, asks no other host, and cannot run what documents hold."""

from __future__ import annotations

import hashlib
import json
import re
from importlib.resources import files

import httpx
import pytest

from breadth.service.routes.page import FILES
from breadth.service.settings import Settings
from tests.service.running import serving

OWN = [path for path in FILES if "vendor" not in path]
ABSENT = ["page/", "page/page.py", "page/index.html", "page/%2e%2e/app.py", "page/vendor/%2e%2e/%2e%2e/app.py"]
FOLDER = files("breadth.service") / "page"


@pytest.fixture(scope="module")
def pages(index_path):
    with serving(Settings(str(index_path), port=0, token="the-token-of-this-test")) as running:
        yield {path: httpx.get(f"{running.url}/{path}") for path in (*FILES, *ABSENT)}


def test_its_files_need_no_token(pages):
    kinds = {"html": "text/html", "css": "text/css", "js": "text/javascript", "LICENSE": "text/plain"}
    for path, file in FILES.items():
        assert pages[path].status_code == 200
        assert pages[path].headers["content-type"] == f"{kinds[file.rpartition('.')[2]]}; charset=utf-8"
        assert pages[path].content == (FOLDER / file).read_bytes()
    assert {pages[path].status_code for path in ABSENT} == {401}


def test_files_that_are_not_there(running):
    answer = httpx.get(f"{running.url}/page/nothing.js")
    assert answer.status_code == 404
    assert "/page/nothing.js" in answer.json()["error"]["message"]


def test_browsers_are_told_what_the_page_may_do(pages):
    for path in FILES:
        policy = dict(part.split(" ", 1) for part in pages[path].headers["content-security-policy"].split("; "))
        assert policy["default-src"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
        assert pages[path].headers["x-content-type-options"] == "nosniff"
        assert pages[path].headers["referrer-policy"] == "no-referrer"


def test_it_asks_no_other_host_and_takes_no_text_as_html(pages):
    for path in OWN:
        text = pages[path].text.replace("http://www.w3.org/2000/svg", "")  # a name, not an address
        assert not re.search(r"https?:|//[a-z]|@import|url\(", text)
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", text)
        assert not re.search(r"<script>|style=|\son\w+=", text)


def test_every_file_is_used_and_every_element_is_there(pages):
    scripts = "".join(pages[path].text for path in OWN if path.endswith(".js"))
    for path in FILES:
        if path and not path.endswith(".LICENSE"):
            assert path in pages[""].text or f'"./{path.removeprefix("page/")}"' in scripts
    named = set(re.findall(r'at\("([a-z-]+)"\)', scripts))
    named |= {
        f"{one}{rest}" for one in ("top", "chosen") for rest in re.findall(r"at\(`\$\{name\}(-[a-z]+)`\)", scripts)
    }
    there = re.findall(r'id="([a-z-]+)"', pages[""].text)
    assert named <= set(there)
    assert len(there) == len(set(there))


def test_the_plotting_library_is_the_one_that_was_vendored():
    facts = json.loads((FOLDER / "vendor" / "uplot.json").read_text())
    for name, checksum in facts["sha256"].items():
        assert hashlib.sha256((FOLDER / "vendor" / name).read_bytes()).hexdigest() == checksum
    assert f"(v{facts['version']})" in (FOLDER / "vendor" / "uPlot.iife.min.js").read_text()
    assert "MIT" in (FOLDER / "vendor" / "uPlot.LICENSE").read_text()
