"""Run the code of an engine's page, on the vectors of the examples."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[2]
PAGES = {page.stem: page for page in sorted((ROOT / "docs" / "engines").glob("*.md"))}


def run_code(name: str, **names: Any) -> None:
    """Execute all blocks of a page one after the other; `names` are what they may refer to."""
    shipped = ROOT / "examples" / "data" / "wikipedia"
    vectors = np.load(shipped / "passages.f16.npy").astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    query = np.load(shipped / "questions.f16.npy")[1].astype(np.float32)
    namespace = {"vectors": vectors, "query": query / np.linalg.norm(query), **names}
    blocks = re.findall(r"```python\n(.*?)```", PAGES[name].read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, PAGES[name].name, "exec"), namespace)
