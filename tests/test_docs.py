"""The documents cannot drift: README code runs, the demo runs, benchmark pages match their data."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import breadth

ROOT = Path(__file__).parent.parent


def test_readme_code_runs(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) >= 4
    namespace: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), namespace)
    printed = capsys.readouterr().out
    assert "frank_wolfe" in printed
    assert "divide every row by its length" in printed


def test_code_in_the_method_pages_runs(monkeypatch, tmp_path):
    data = ROOT / "examples" / "data" / "wikipedia"
    vectors, query = np.load(data / "passages.f16.npy"), np.load(data / "questions.f16.npy")[1]
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "methods.md").read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, "methods.md", "exec"), {"vectors": vectors, "query": query, "breadth": breadth})


def test_the_tutorial_runs(monkeypatch, tmp_path):
    """Commands and code of the tutorial, in the order they stand there, in one folder."""
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    namespace: dict[str, object] = {}
    for kind, block in re.findall(r"```(console|python)\n(.*?)```", page, re.DOTALL):
        if kind == "python":
            exec(compile(block, "tutorial.md", "exec"), namespace)
            continue
        run_commands(block)
    assert (tmp_path / "frontier.png").exists()


def run_commands(block: str) -> None:
    for line in block.splitlines():
        assert line.startswith("$ breadth ")
        command = [sys.executable, "-m", "breadth", *shlex.split(line)[2:]]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, f"{line}: {done.stderr}"


def test_the_experiments_page_runs(monkeypatch, tmp_path):
    """Its commands, on the questions and passages it names."""
    for name in ("questions.jsonl", "passages.jsonl"):
        (tmp_path / name).write_bytes((ROOT / "examples" / "data" / "wikipedia" / name).read_bytes())
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "experiments.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```console\n(.*?)```", page, re.DOTALL)
    run_commands(block)
    written = {path.name for path in (tmp_path / "my-run" / "report").iterdir()}
    assert written == {"retrieval.md", "retrieval.png", "retrieval.svg", "scores.json.gz"}


def test_the_command_line_reference_is_written_from_the_commands():
    from breadth.cli.reference import text

    assert (ROOT / "docs" / "cli.md").read_text(encoding="utf-8") == text()


def test_the_example_shows_top_k_beside_the_chosen_set():
    done = subprocess.run([sys.executable, ROOT / "examples" / "demo.py"], capture_output=True, text=True, check=True)
    assert "353 passages" in done.stdout
    assert done.stdout.count("facts of the top 6 that are lost: 0. Proved optimal") == 3
    assert "says all of row" in done.stdout
    assert "a BLP → an ICO" in done.stdout


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "benchmarks").glob("*.md")), ids=lambda p: p.stem)
def test_benchmark_pages_are_written_from_their_results(page, tmp_path, monkeypatch):
    from benchmarks import report
    from benchmarks.__main__ import PAGES

    monkeypatch.setattr(report, "DOCS", tmp_path)
    PAGES[page.stem]()
    assert (tmp_path / page.name).read_text(encoding="utf-8") == page.read_text(encoding="utf-8")


def test_the_results_page_is_written_from_its_results(tmp_path, monkeypatch):
    from benchmarks import results_page

    monkeypatch.setattr(results_page, "DOCS", tmp_path)
    results_page.render(figures_too=False)
    for name in ("results.md", "results/generation.tex"):
        assert (tmp_path / name).read_text(encoding="utf-8") == (ROOT / "docs" / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("document", [p for p in ROOT.rglob("*.md") if ".venv" not in p.parts], ids=lambda p: p.name)
def test_links_lead_somewhere(document):
    for target in re.findall(r"\]\(([^)#]+)", document.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (document.parent / target).exists(), f"{document.name}: {target}"
