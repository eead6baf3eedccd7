"""The packages are on no package index yet: every hint installs from a clone, and names an extra that there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLACES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs", "examples", "experiments", "scripts", "src", "deploy")
_COMMAND = re.compile(r"pip install ([^`\n;&|]+)")
_REQUIREMENT = re.compile(r"(?P<name>[\w./-]+)(\[(?P<extras>[\w,-]+)\])?")


def list_files() -> list[Path]:
    named = [ROOT / place for place in PLACES]
    found = [path for place in named for path in ([place] if place.is_file() else sorted(place.rglob("*")))]
    return [
        path for path in found if path.suffix in {".md", ".py", ".toml", ".service"} or path.name == "Containerfile"
    ]


def list_hints() -> list[tuple[str, str]]:
    """Each file and what it says to install."""
    hints = []
    for path in list_files():
        for command in _COMMAND.findall(path.read_text(encoding="utf-8")):
            hints.append((path.relative_to(ROOT).as_posix(), command.split('"""')[0]))
    return hints


def read_extras(project: str) -> set[str]:
    text = (ROOT / project / "pyproject.toml").read_text(encoding="utf-8")
    section = text.partition("[project.optional-dependencies]")[2].partition("\n[")[0]
    return set(re.findall(r"^([\w-]+) = \[", section, re.MULTILINE))


def list_requirements(command: str) -> list[tuple[str, set[str]]]:
    """The names in a command, with their extras. What follows in a sentence, such as `(needs Java 21)`, is left out."""
    command = command.partition(" (")[0].replace("{extra}", "text").replace("${EXTRAS}", "service")
    words = [word for word in re.sub(r"['\"\\]", " ", command).split() if not word.startswith("-")]
    found = [match for match in map(_REQUIREMENT.match, words) if match]
    return [(match["name"], set((match["extras"] or "").split(",")) - {""}) for match in found]


def test_there_are_hints():
    files = {file for file, _ in list_hints()}
    assert {"README.md", "docs/service.md", "examples/mcp_agent.py", "src/breadth/errors.py"} <= files


@pytest.mark.parametrize(("file", "command"), list_hints(), ids=lambda text: str(text)[:60])
def test_a_hint_installs_from_a_clone(file, command):
    extras = {".": read_extras("."), "./experiments": read_extras("experiments")}
    for name, wanted in list_requirements(command):
        assert not name.startswith("breadth"), f"{file}: {command!r}: breadth is on no package index yet"
        if name in extras:
            assert wanted <= extras[name], f"{file}: {command!r} names an extra that there is not"


def test_a_hint_that_names_the_package_would_be_found():
    assert list_requirements("'breadth[sklearn]'") == [("breadth", {"sklearn"})]
    assert list_requirements("'.[service,client]' ./experiments") == [
        (".", {"service", "client"}),
        ("./experiments", set()),
    ]


def test_errors_name_extras_that_there_are():
    extras, named = read_extras("."), set()
    for folder in ("src", "experiments/src"):
        for path in (ROOT / folder).rglob("*.py"):
            code = path.read_text(encoding="utf-8")
            named |= set(re.findall(r'MissingExtraError\([^\n]*, "([\w-]+)"\)', code))
            named |= set(re.findall(r"hint_install\(['\"]([\w-]+)['\"]\)", code))
    assert {"text", "faiss", "service", "bm25"} <= named <= extras
