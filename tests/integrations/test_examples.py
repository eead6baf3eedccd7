"""Every example of a framework runs, and prints what it promises."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

_FOLDER = Path(__file__).parents[2] / "examples"
PROMISES = {
    "langchain_rag": "coverage",
    "llama_index_rag": "near-copies",
    "haystack_rag": "copies",
    "sklearn_subset": "mean squared cosine",
    "mcp_agent": "passages stand for",
}


@pytest.mark.parametrize("name", PROMISES)
def test_the_example_runs(name, capsys):
    runpy.run_path(str(_FOLDER / f"{name}.py"), run_name="__main__")
    assert PROMISES[name] in capsys.readouterr().out


def test_every_framework_has_an_example():
    frameworks = {"langchain", "llama_index", "haystack", "sklearn", "mcp"}
    there = {path.stem if path.is_file() else path.name for path in _integrations().iterdir()}
    assert frameworks <= there
    assert {next(one for one in frameworks if name.startswith(one)) for name in PROMISES} == frameworks


def _integrations() -> Path:
    import breadth.integrations

    return Path(breadth.integrations.__file__).parent
