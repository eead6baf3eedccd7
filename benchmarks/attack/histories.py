"""Random histories of an index beside a model of it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from tests.index.histories import run_history

HISTORIES, STEPS = 240, 40


def run_histories(folder: Path) -> dict[str, Any]:
    """Make random changes and compare the index with the model after each."""
    problems: list[str] = []
    for seed in range(HISTORIES):
        problems += run_history(folder / "history.index", seed, STEPS)
        shutil.rmtree(folder / "history.index")
    return {"histories": HISTORIES, "steps": STEPS, "problems": len(problems), "examples": problems[:3]}
