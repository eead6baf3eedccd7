"""Are copies told from contradictions? Tables of pairs, RAMDocs, and the time of a comparison."""

from __future__ import annotations

import statistics
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.report import load, page, save, table
from benchmarks.timing import machine
from breadth.encoders import encoder
from breadth.text import DIFFERS, compare
from breadth.text.tokens import read_tokens
from breadth_experiments import records
from tests.text.test_table import BLIND, CLOSE, PAIRS, Pair

_ABOVE = 0.85
"""Pairs of RAMDocs above this cosine are compared."""
_TEXT = """# Are copies told from contradictions?

`python -m benchmarks pairs --data FOLDER` writes this page from `benchmarks/results/pairs.json`; do not edit it.
{machine}

**Tables of pairs.** `tests/text/pairs.tsv` was written with the rules in mind, and the rules were mended on it.
`tests/text/blind.tsv` was written by somebody who had not seen the rules; afterwards number formats, units and marks
were mended. All pairs count as close ones, so that their words alone decide. A pair is *found* if one text is said to
say all of the other. Precision is the share of found pairs that are copies, recall the share of copies that are found.

{tables}

**RAMDocs.** Pairs of documents of one question with a cosine above {above:g} (built-in encoder), both with a known
answer. Even questions are for choosing, odd ones for reporting. Documents with the same answer need not say the same:
the last column counts the pairs of which each has two facts or more that the other lacks. Pairs of both halves were
read while the rules were mended, so neither half is untouched.

{ramdocs}

**Time.** {time}
"""


def main(data: Path) -> None:
    """Measure, and write results/pairs.json and docs/benchmarks/pairs.md. `data`: the folder with ramdocs/."""
    found = {"machine": machine(), "tables": {"pairs": _judge(PAIRS), "blind": _judge(BLIND)}}
    save("pairs", {**found, "above": _ABOVE, "ramdocs": _compare_ramdocs(data), "microseconds": _time()})
    render()


def _judge(pairs: list[Pair]) -> dict[str, Any]:
    """For each relation how many pairs there are, and for how many of them one text is said to say all of the other."""
    every = Counter(pair.relation for pair in pairs)
    found = Counter(pair.relation for pair in pairs if compare(pair.left, pair.right, CLOSE).relation != DIFFERS)
    return {relation: [found[relation], count] for relation, count in every.items()}


def _compare_ramdocs(data: Path) -> dict[str, Any]:
    """For each half: pairs with different answers, how many were told apart; with equal ones, how many were grouped."""
    halves: dict[str, Counter[str]] = {"choosing": Counter(), "reporting": Counter()}
    encode = encoder("builtin").encode
    for number, line in enumerate(records.read(data / "ramdocs" / "RAMDocs_test.jsonl")):
        counts = halves["reporting" if number % 2 else "choosing"]
        documents = [one for one in line["documents"] if one["answer"] != "unknown"]
        if len(documents) < 2:
            continue
        rows = encode([one["text"] for one in documents], "document")
        cosines = rows @ rows.T
        for i, j in zip(*np.nonzero(np.triu(cosines > _ABOVE, k=1)), strict=True):
            one, other = documents[i], documents[j]
            differs = compare(one["text"], other["text"], float(cosines[i, j])).relation == DIFFERS
            if one["answer"].strip().casefold() != other["answer"].strip().casefold():
                counts.update(["different", *["told apart"] * differs])
                continue
            left, right = read_tokens(one["text"]), read_tokens(other["text"])
            own = min(len(left.facts - right.vocabulary), len(right.facts - left.vocabulary))
            counts.update(["equal", *["grouped"] * (not differs), *["further facts"] * (own >= 2)])
    return {half: dict(counts) for half, counts in halves.items()}


def _time() -> dict[str, float]:
    """Microseconds of a comparison: of texts read before, that need an alignment or none, and of reading one."""
    texts = [pair.left + " " + pair.right for pair in PAIRS]
    near = [(text, text.replace(" ", " very ", 1)) for text in texts]
    far = list(pairwise(texts))

    def clock(pairs: list[tuple[str, str]]) -> float:
        times = []
        for left, right in pairs:
            started = time.perf_counter()
            compare(left, right, CLOSE)
            times.append(time.perf_counter() - started)
        return 1e6 * statistics.median(times)

    read_tokens.cache_clear()
    cold = clock(far)
    return {"not read before": cold, "other words": clock(far), "nearly the same words": (clock(near), clock(near))[1]}


def render() -> None:
    """Write the page."""
    data = load("pairs")
    at = data["machine"]
    rows = []
    for name, found in data["tables"].items():
        wrong, different = found[DIFFERS]
        copies = {relation: pair for relation, pair in found.items() if relation != DIFFERS}
        right, every = (sum(pair[place] for pair in copies.values()) for place in (0, 1))
        cells = [f"{pair[0]} of {pair[1]}" for _, pair in sorted(copies.items())]
        rows.append(
            [f"{name}.tsv", f"{wrong} of {different}", *cells, f"{right / (right + wrong):.0%}", f"{right / every:.0%}"]
        )
    relations = sorted(relation for relation in data["tables"]["pairs"] if relation != DIFFERS)
    tables = table(
        ["", "differing pairs called copies", *(f"found: {one}" for one in relations), "precision", "recall"], rows
    )
    ramdocs = table(
        [
            "",
            "different answers: told apart",
            "equal answers: grouped",
            "equal answers with further facts on both sides",
        ],
        [
            [
                half,
                f"{counts['told apart']} of {counts['different']}",
                f"{counts['grouped']} of {counts['equal']}",
                f"{counts['further facts']} of {counts['equal']}",
            ]
            for half, counts in data["ramdocs"].items()
        ],
    )
    spent = ", ".join(f"{name} {value:.0f} µs" for name, value in data["microseconds"].items())
    page(
        "pairs",
        _TEXT.format(
            machine=f"{at['cpu']}, Python {at['python']}.", tables=tables, above=data["above"], ramdocs=ramdocs,
            time=f"One comparison of two texts of some 20 words, median: {spent}.",
        ),
    )  # fmt: skip
