"""Pages of the site that are not in docs/: the README is its home. MkDocs calls these functions (`hooks`, mkdocs.yml).

Links are written for the repository. On the site a file of the repository may have another place, or none of its own.
"""

from __future__ import annotations

import posixpath
import re
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent

PLACES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "src/breadth/cli/data/README.md": "data/medquad.md",
    "src/breadth/encoders/data/README.md": "data/potion.md",
    "examples/data/wikipedia/README.md": "data/wikipedia.md",
} | {path.relative_to(ROOT).as_posix(): f"examples/{path.stem}.md" for path in sorted((ROOT / "examples").glob("*.py"))}
"""Files outside of docs/, and their pages on the site."""

_LINK = re.compile(r"(?<=\]\()([^)\s#:]+)(?=[)#])")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the pages that a name with a star stands for into the navigation."""
    pages = [path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")]
    listed = _list_names(config.nav)
    free = sorted({*pages, *PLACES.values()} - set(listed), key=lambda name: name.removesuffix(".md"))
    config.nav = _expand(config.nav, free)
    return config


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages of the files outside of docs/."""
    for name, page in PLACES.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=_show(name, text)))
    return files


def on_page_markdown(markdown: str, *, page: Page, **_: Any) -> str:
    """Let links lead to the places that files have on the site, and let Markdown inside of HTML be Markdown."""
    places = {there: here for here, there in PLACES.items()}
    source = places.get(page.file.src_uri, f"docs/{page.file.src_uri}")

    def change(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), link[1]))
        if not (ROOT / target).exists():
            return link[0]
        if (ROOT / target).is_dir():
            target = f"{target}/README.md"
        place = PLACES.get(target, target.removeprefix("docs/"))
        return posixpath.relpath(place, posixpath.dirname(page.file.src_uri) or ".")

    return _LINK.sub(change, markdown).replace("<details>", '<details markdown="1">')


def _show(name: str, text: str) -> str:
    """The Markdown of a page. Code is shown, but would only be in the way of those who search."""
    if not name.endswith(".py"):
        return text
    return f"---\nsearch: {{exclude: true}}\n---\n# {Path(name).name}\n\n```python\n{text}```\n"


def _list_names(nav: Any) -> list[str]:
    if isinstance(nav, str):
        return [nav]
    parts = nav.values() if isinstance(nav, dict) else nav
    return [name for part in parts for name in _list_names(part)]


def _expand(nav: Any, free: list[str]) -> Any:
    if isinstance(nav, dict):
        return {title: _expand(part, free) for title, part in nav.items()}
    if isinstance(nav, str):
        return nav
    expanded: list[Any] = []
    for part in nav:
        names = [name for name in free if fnmatch(name, part)] if isinstance(part, str) and "*" in part else None
        expanded.extend([_expand(part, free)] if names is None else names)
    return expanded
