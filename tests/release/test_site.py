"""The site of the documentation builds without a warning, holds every page, and asks no other host for anything."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def build_site(folder: Path, out: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", folder / "mkdocs.yml"]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(
        [*command, "--site-dir", out], capture_output=True, text=True, env=environment, cwd=folder, timeout=120
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("site") / "site"
    done = build_site(ROOT, out)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return out


class Loads(HTMLParser):
    """What a browser fetches for a page. A link that a reader may follow is none of that."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.addresses.extend(given[name] or "" for name in ("src", "srcset", "poster", "data") if name in given)
        if tag == "link":
            self.addresses.append(given.get("href") or "")


def test_every_page_is_there_and_leads_to_the_others(site):
    home = (site / "index.html").read_text(encoding="utf-8")
    assert "The k passages that together serve a reader best" in home
    for page in (ROOT / "docs").rglob("*.md"):
        place = page.relative_to(ROOT / "docs").with_suffix("")
        folder = place.parent if place.name == "README" else place
        assert (site / folder / "index.html").is_file(), page
        assert f'href="{folder.as_posix()}/"' in home, f"the navigation does not name {page}"
    for name in ("changelog", "contributing", "examples/langchain_rag", "data/medquad"):
        assert (site / name / "index.html").is_file()


def test_the_search_box_knows_the_pages(site):
    assert 'data-md-component="search-query"' in (site / "index.html").read_text(encoding="utf-8")
    known = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    places = {entry["location"].partition("#")[0] for entry in known["docs"]}
    assert {"", "methods/", "engines/faiss/", "service/", "decisions/"} <= places
    assert any("swap-optimal" in entry["text"] for entry in known["docs"])


def test_pages_load_nothing_from_other_hosts(site):
    pages = list(site.rglob("*.html"))
    assert pages
    for page in pages:
        text = page.read_text(encoding="utf-8")
        outside = [address for address in Loads(text).addresses if re.match(r"(\w+:)?//", address)]
        assert outside == [], page
        assert "mermaid" not in text  # the theme would fetch its code
    for sheet in site.rglob("*.css"):
        assert re.findall(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//", sheet.read_text(encoding="utf-8")) == []


def test_markdown_in_folded_parts_is_shown_as_such(site):
    results = (site / "results" / "index.html").read_text(encoding="utf-8")
    folded = re.findall(r"<details.*?</details>", results, re.DOTALL)
    assert folded
    assert all("<table>" in part for part in folded)


def test_a_link_that_leads_nowhere_is_an_error(tmp_path):
    lost = ("no-such-page.md", "methods.md#no-such-heading", "../src/breadth/api.py")
    for name in ("mkdocs.yml", "README.md", "CHANGELOG.md", "CONTRIBUTING.md"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts")
    for pattern in ("docs", "examples", "src/breadth/cli/data", "src/breadth/encoders/data"):
        shutil.copytree(ROOT / pattern, tmp_path / pattern)
    (tmp_path / "src/breadth/api.py").touch()
    with (tmp_path / "docs" / "files.md").open("a", encoding="utf-8") as page:
        page.writelines(f"\n[lost]({link})\n" for link in lost)
    done = build_site(tmp_path, tmp_path / "site")
    assert done.returncode != 0
    warnings = [line for line in done.stderr.splitlines() if "WARNING" in line and "files.md" in line]
    assert len(warnings) == len(lost), done.stderr


def test_the_list_of_decisions_is_whole():
    folder = ROOT / "docs" / "decisions"
    listed = re.findall(r"\]\((\d{4}[^)]*)\)", (folder / "README.md").read_text(encoding="utf-8"))
    assert listed == sorted(path.name for path in folder.glob("0*.md"))
