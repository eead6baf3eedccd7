"""What pyproject.toml cannot say: addresses of the project, and the README as it reads away from its repository."""

from __future__ import annotations

import re
from pathlib import Path

from setuptools import setup

REPOSITORY = ""
"""The address of the public repository, without a slash at its end. Empty as long as there is none."""

PAPER = "https://arxiv.org/abs/2604.02554"

_LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^\]]*)\]\((?P<target>[^)\s]+)\)")


def list_addresses(repository: str) -> dict[str, str]:
    """The links beside the description on a package index."""
    if not repository:
        return {"Paper": PAPER}
    return {
        "Repository": repository,
        "Documentation": f"{repository}/tree/main/docs",
        "Changelog": f"{repository}/blob/main/CHANGELOG.md",
        "Issues": f"{repository}/issues",
        "Paper": PAPER,
    }


def describe(readme: str, repository: str) -> str:
    """The README with links that work anywhere: into the repository, or, where there is none, as plain text."""

    def change(link: re.Match[str]) -> str:
        target = link["target"]
        if "://" in target:
            return link[0]
        if repository:
            kind = "raw" if link["image"] else "blob"
            return f"{link['image']}[{link['text']}]({repository}/{kind}/main/{target})"
        return "" if link["image"] else link["text"]

    return _LINK.sub(change, readme)


if __name__ == "__main__":
    setup(
        long_description=describe(Path("README.md").read_text(encoding="utf-8"), REPOSITORY),
        long_description_content_type="text/markdown",
        project_urls=list_addresses(REPOSITORY),
    )
