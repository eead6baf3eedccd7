"""The Python interface on texts and vectors: plain top-k beside the set that `breadth.select` chooses.

    python examples/demo.py

The passages are 353 security advisories that come with the package; the built-in encoder makes their vectors. Many are
word for word alike, or alike but for a version or a function. A passage marked - is in top-k only, one marked + in the
chosen set only. (`make demo` is something else: it runs `breadth demo`, a tour of the command line.)
"""

from __future__ import annotations

import gzip
import json
import textwrap
from importlib.resources import files

import breadth
from breadth.encoders import encoder

K = 6
QUESTIONS = ("denial of service in tensorflow", "pillow denial of service via large image", "open redirect in django")


def main() -> None:
    packed = files("breadth.cli") / "data" / "advisories.jsonl.gz"
    passages = [json.loads(line) for line in gzip.decompress(packed.read_bytes()).splitlines()]
    texts = [passage["text"] for passage in passages]
    encode = encoder("builtin").encode
    vectors, queries = encode(texts, "document"), encode(list(QUESTIONS), "query")
    oracle = breadth.ArrayOracle(vectors)  # checks the rows once, for all questions
    print(f"{oracle.size} passages, {oracle.dim} dimensions; k = {K}, default settings\n")
    chosen = breadth.select_many(oracle, queries, k=K, texts=texts, prefer=[passage["id"] for passage in passages])
    plain = breadth.select_many(oracle, queries, k=K, method="topk")
    for question, top, found in zip(QUESTIONS, plain, chosen, strict=True):
        print(question)
        print_sets(top, found, texts)
        lost = breadth.metrics.lost([texts[row] for row in top.ids], [texts[row] for row in found.ids])
        print(f"  facts of the top {K} that are lost: {len(lost)}. {found.describe_proof()}\n")


def print_sets(plain: breadth.Selection, chosen: breadth.Selection, texts: list[str]) -> None:
    print(f"  {'top-k':56}  breadth")
    for place, (left, right) in enumerate(zip(plain.ids, chosen.ids, strict=True)):
        gone = " " if left in chosen.ids else "-"
        came = " " if right in plain.ids else "+"
        print(f"{gone} {shorten(texts[left]):56} {came} {shorten(texts[right])}")
        for copy in chosen.copies[place]:
            print(f"  {'':56}     says all of row {copy.id} ({copy.relation})")
        for variant in chosen.variants[place][:1]:
            differences = "; ".join(map(str, variant.differences[:2]))
            print(f"  {'':56}     differs from row {variant.id}: {shorten(differences)}")


def shorten(text: str) -> str:
    """The first words of a passage."""
    return textwrap.shorten(text, 56, placeholder="…")


if __name__ == "__main__":
    main()
