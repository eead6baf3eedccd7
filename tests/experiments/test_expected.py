"""A slice of the experiments, end to end on shipped data, gives the scores that are written down."""

from __future__ import annotations

import json

from benchmarks import expected
from tests.cores import needs_compiled


@needs_compiled  # NumPy's sets need not be the same
def test_the_slice_gives_the_expected_scores(tmp_path):
    checked = expected.check(tmp_path)
    data = json.loads(expected.EXPECTED.read_text(encoding="utf-8"))
    assert len(checked) == len(data["scores"]) * len(data["tolerances"]) > 50
    assert not [str(one) for one in checked if not one.good]
    # The tolerance is narrow enough to tell the methods from each other.
    ilad = {(s["method"], s["k"], s["theta"]): s["ilad"] for s in data["scores"]}
    assert ilad["certified", 10, 0.5] - ilad["topk", 10, None] > 5 * data["tolerances"]["ilad"]
