"""Run by the Python of an environment that holds breadth and NumPy, and nothing else."""

from importlib import resources
from importlib.metadata import distributions, version

import numpy as np

import breadth

installed = sorted({found.metadata["Name"] for found in distributions()})
assert installed == ["breadth", "numpy"], installed
assert "site-packages" in breadth.__file__, breadth.__file__
assert version("breadth") == breadth.__version__
assert resources.files("breadth").joinpath("py.typed").is_file()

rng = np.random.default_rng(3)
rows = rng.standard_normal((200, 16))
rows[1] = rows[0] + 0.001
rows /= np.linalg.norm(rows, axis=1, keepdims=True)
found = breadth.select(rows, rows[0], k=5)
assert 0 in found.ids
assert 1 not in found.ids  # a copy of row 0
assert found.certificate is not None
assert found.certificate.bound >= found.objective
for method in breadth.methods():
    if method != "exact":
        assert len(breadth.select(rows, rows[0], k=5, method=method).ids) == 5, method

with breadth.Index.create("rows.index", dim=16) as index:
    index.add([breadth.Document(f"d{i}", f"text {i}", {"year": 2000 + i}) for i in range(200)], vectors=rows)
    assert index.search(rows[0].astype(np.float32), k=3, where={"year": {"$lt": 2050}}).ids[0] == "d0"
