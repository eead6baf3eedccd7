"""The page is served to everybody, asks no other host, and cannot run what documents hold."""

from __future__ import annotations

import re

import httpx
import pytest

from breadth.service.routes.page import FILES
from breadth.service.settings import Settings
from tests.service.running import serving


@pytest.fixture(scope="module")
def pages(index_path):
    with serving(Settings(str(index_path), port=0, token="the-token-of-this-test")) as running:
        yield {path: httpx.get(f"{running.url}/{path}") for path in (*FILES, "page.py", "page.html")}


def test_its_files_need_no_token(pages):
    for path, (_, media) in FILES.items():
        assert pages[path].status_code == 200
        assert pages[path].headers["content-type"] == f"{media}; charset=utf-8"
    assert {pages["page.py"].status_code, pages["page.html"].status_code} == {401}


def test_it_asks_no_other_host_and_takes_no_text_as_html(pages):
    for path in FILES:
        assert "default-src 'self'" in pages[path].headers["content-security-policy"]
        assert not re.search(r"https?:|//[a-z]|@import|url\(", pages[path].text)
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", pages[path].text)
        assert not re.search(r"<script>|style=|\son\w+=", pages[path].text)


def test_the_script_finds_every_element_it_names(pages):
    named = set(re.findall(r'at\("([a-z-]+)"\)', pages["page.js"].text))
    assert named <= set(re.findall(r'id="([a-z-]+)"', pages[""].text))
