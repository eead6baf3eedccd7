"""The page about the index cannot drift: its code runs, and the numbers it states are those of the program."""

from __future__ import annotations

import re
from pathlib import Path

from breadth.filters.reading import MAX_CONDITIONS, MAX_VALUES, OPERATORS
from breadth.filters.values import MAX_DEPTH
from breadth.index import merging
from breadth.index.collection import ATTEMPTS
from breadth.index.schema import _SCHEMA, FORMAT

PAGE = Path(__file__).parents[2] / "docs" / "the-index.md"


def test_the_code_runs(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        exec(compile(block, "the-index.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "3 6\n" in printed  # asked, searched
    assert "True" in printed
    assert "['report#0']" in printed


def test_what_it_says_is_so():
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert f"at most {MAX_CONDITIONS} comparisons, {MAX_VALUES:,} values and {MAX_DEPTH} levels" in text
    assert f"(format {FORMAT})" in text
    assert f"From {merging.FLUSH:,} on" in text
    assert f"up to {merging.LARGEST >> 20} MB" in text
    assert (merging.FANOUT, ATTEMPTS) == (8, 6)  # in words
    assert "eight neighbouring files" in text
    assert "last of six attempts" in text
    for operator in OPERATORS:
        assert f"`{operator}`" in text or f'"{operator}"' in text or operator == "$eq"
    for name in re.findall(r"CREATE (?:VIRTUAL )?TABLE (\w+)", _SCHEMA):
        assert f"`{name}`" in text
