"""The Python interface on vectors you already have: top-k beside the set that `breadth.select` chooses.

    python examples/demo.py

The vectors are those of 504 real Wikipedia passages, which come with the project. A rule chooses the questions: of the
24 there are, those two whose top 8 is most redundant, and the one in the middle of that order. A passage marked - is in
top-k only, one marked + in the chosen set only. (`make demo` is something else: it runs `breadth demo`, a tour of the
command line.)
"""

from __future__ import annotations

import json
import textwrap
from itertools import zip_longest
from pathlib import Path

import numpy as np

import breadth

DATA = Path(__file__).parent / "data" / "wikipedia"
K = 8


def main() -> None:
    passages = [json.loads(line) for line in (DATA / "passages.jsonl").open(encoding="utf-8")]
    questions = [json.loads(line) for line in (DATA / "questions.jsonl").open(encoding="utf-8")]
    vectors, queries = np.load(DATA / "passages.f16.npy"), np.load(DATA / "questions.f16.npy")
    oracle = breadth.ArrayOracle(vectors)  # checks the rows once, for all questions
    print(f"{oracle.size} Wikipedia passages, {oracle.dim} dimensions; k = {K}, default settings\n")
    chosen = breadth.select_many(oracle, queries, k=K, prove=1.0)
    # Top-k, measured as the default measures a set.
    theta, sharpness = chosen[0].theta, chosen[0].sharpness
    plain = breadth.select_many(oracle, queries, k=K, method="topk", theta=theta, sharpness=sharpness)
    order = sorted(range(len(questions)), key=lambda number: -plain[number].redundancy)
    for number in (*order[:2], order[len(order) // 2]):
        print(questions[number]["question"])
        print_sets(plain[number], chosen[number], passages)
        print_figures(plain[number], chosen[number])
        print_coverage(plain[number], chosen[number], vectors, queries[number])


def print_sets(plain: breadth.Selection, chosen: breadth.Selection, passages: list[dict[str, str]]) -> None:
    print(f"  {'top-k':56}  breadth")
    for left, right, copies in zip_longest(plain.ids, chosen.ids, chosen.copies):
        gone = " " if left in chosen.ids else "-"
        if right is None:  # fewer passages are worth choosing
            print(f"{gone} {shorten(passages[left])}")
            continue
        came = " " if right in plain.ids else "+"
        print(f"{gone} {shorten(passages[left]):56} {came} {shorten(passages[right])}")
        for copy in copies:
            print(f"  {'':56}     … stands for {shorten(passages[copy])}")


def print_figures(plain: breadth.Selection, chosen: breadth.Selection) -> None:
    certificate = chosen.certificate
    assert certificate is not None
    for name, found in (("top-k", plain), ("breadth", chosen)):
        gap = certificate.bound - found.objective
        print(
            f"  {name:8} relevance {found.relevance:.3f}   redundancy {found.redundancy:.3f}   "
            f"objective {found.objective:.4f}, at most {gap:.4f} below the best allowed set"
        )
    if certificate.optimal:
        print(f"  proved: no other {chosen.k} passages without copies and with the best hit have a larger objective")


def print_coverage(plain: breadth.Selection, chosen: breadth.Selection, vectors: np.ndarray, query: np.ndarray) -> None:
    relevance = vectors.astype(np.float32) @ query.astype(np.float32)
    share, plain_share = (breadth.metrics.coverage(vectors, relevance, found.ids) for found in (chosen, plain))
    print(
        f"  these {chosen.k} passages stand for {share:.0%} of the relevant material, the top {plain.k} "
        f"for {plain_share:.0%}\n"
    )


def shorten(passage: dict[str, str]) -> str:
    """Shorten a passage to its title and its first words."""
    text = passage["text"].removeprefix(passage["title"]).strip()
    return textwrap.shorten(f"{passage['title']}: {text}", 56, placeholder="…")


if __name__ == "__main__":
    main()
