"""The Python interface on vectors you already have: top-k beside the diverse set, for three questions.

    python examples/demo.py

The vectors are those of 504 real Wikipedia passages, which come with the project. A passage marked - is in top-k only,
one marked + in the diverse set only. (`make demo` is something else: it runs `breadth demo`, a tour of the command
line.)
"""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import numpy as np

import breadth

DATA = Path(__file__).parent / "data" / "wikipedia"
QUESTIONS = (0, 1, 3)
K, THETA = 8, 0.8


def main() -> None:
    passages = [json.loads(line) for line in (DATA / "passages.jsonl").open(encoding="utf-8")]
    questions = [json.loads(line) for line in (DATA / "questions.jsonl").open(encoding="utf-8")]
    queries = np.load(DATA / "questions.f16.npy")
    oracle = breadth.ArrayOracle(np.load(DATA / "passages.f16.npy"))  # checks the rows once, for all questions
    print(f"{oracle.size} Wikipedia passages, {oracle.dim} dimensions; k = {K}, theta = {THETA}\n")
    for number in QUESTIONS:
        plain = breadth.select(oracle, queries[number], k=K, theta=THETA, method="topk")
        diverse = breadth.select(oracle, queries[number], k=K, theta=THETA, prove=1.0)
        print_comparison(questions[number]["question"], plain, diverse, passages)


def print_comparison(
    question: str, plain: breadth.Selection, diverse: breadth.Selection, passages: list[dict[str, str]]
) -> None:
    print(question)
    print(f"  {'top-k':56}  diverse")
    for left, right in zip(plain.ids, diverse.ids, strict=True):
        kept = " " if right in plain.ids else "+"
        gone = " " if left in diverse.ids else "-"
        print(f"{gone} {shorten(passages[left]):56} {kept} {shorten(passages[right])}")
    certificate = diverse.certificate
    assert certificate is not None
    # The bound holds for every set of k passages, so it tells how far top-k is from the optimum, too.
    for name, found in (("top-k", plain), ("diverse", diverse)):
        gap = certificate.bound - found.objective
        print(
            f"  {name:8} relevance {found.relevance:.3f}   diversity {found.diversity:.3f}   "
            f"objective {found.objective:.4f}   at most {gap:.4f} below the optimum"
        )
    if certificate.optimal:
        print(f"  proved: no {diverse.k} of these passages have a larger objective than the diverse set")
    print()


def shorten(passage: dict[str, str]) -> str:
    """Shorten a passage to its title and its first words."""
    text = passage["text"].removeprefix(passage["title"]).strip()
    return textwrap.shorten(f"{passage['title']}: {text}", 56, placeholder="…")


if __name__ == "__main__":
    main()
