"""`breadth.pack`: passages in a prompt, within a budget of tokens, with where each of them comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from breadth.checks import check_choice, check_count
from breadth.errors import InputError
from breadth.index.documents import Hit
from breadth.near import CLOSE_VECTORS
from breadth.selection import Selection


@dataclass(frozen=True)
class Passage:
    """A passage of a prompt.

    text       its text
    id         its id; None if it has none
    score      its relevance; None if it has none
    metadata   what is known about it
    copies     what it stands for, because it says all of it: dicts with "id", "cosine" and "relation"
    variants   passages in nearly its words that say something else: dicts with "id", "cosine" and "differences"
    number     its number in the prompt, from 1 on
    """

    text: str
    id: str | None = None
    score: float | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    copies: tuple[Mapping[str, Any], ...] = ()
    variants: tuple[Mapping[str, Any], ...] = ()
    number: int = 0


@dataclass(frozen=True)
class Packed:
    """A context for a prompt. `str()` returns its text.

    text       the passages, ready for a prompt
    passages   what is in it, in the order of the text
    left_out   what did not fit, most relevant first
    tokens     how many tokens the text has, never more than the budget
    budget     how many it may have
    """

    text: str
    passages: tuple[Passage, ...]
    left_out: tuple[Passage, ...]
    tokens: int
    budget: int

    def __str__(self) -> str:
        return self.text

    def __iter__(self) -> Iterator[Passage]:
        return iter(self.passages)

    def __len__(self) -> int:
        return len(self.passages)

    def sources(self) -> dict[int, list[str | None]]:
        """For each number in the prompt, the ids that can be cited: the passage's, and those of which it says all."""
        return {
            one.number: [one.id, *(copy.get("id") for copy in one.copies if copy.get("relation") != CLOSE_VECTORS)]
            for one in self.passages
        }

    def differing(self) -> dict[int, list[str]]:
        """For each number in the prompt that has variants, their ids with what differs: "b7: 18.0 → 20.0"."""
        return {
            one.number: [_describe_variant(other) for other in one.variants] for one in self.passages if one.variants
        }


def number_passage(passage: Passage) -> str:
    """How a passage looks in a prompt unless the caller says otherwise: its number in brackets, then its text."""
    return f"[{passage.number}] {passage.text}"


def pack(
    found: Any,
    budget: int,
    tokenizer: Any,
    *,
    order: str = "relevance",
    texts: Any = None,
    form: Callable[[Passage], str] = number_passage,
    separator: str = "\n\n",
) -> Packed:
    """Put passages into a context of at most `budget` tokens.

    found       what a search returned: the results of an index, documents of LangChain or Haystack, nodes of
                LlamaIndex, texts; or a `Selection`, with `texts`.
    budget      the most tokens that the whole context may have: passages, numbers and separators together.
    tokenizer   a function from a text to its tokens or to their number, or anything with `encode`, such as an encoding
                of tiktoken or a tokenizer of Hugging Face.
    order       "relevance", the best passage first; "ends", the best ones at both ends, for models that overlook the
                middle of a long context; "given", as they come.
    texts       for a `Selection`: the texts by id, a list or a mapping. An entry may be any of the above.
    form        how a passage is written.
    separator   what stands between two passages.

    Passages are taken from the most relevant on. One that does not fit is left out as a whole, and a less relevant one
    that fits may still come in. No passage is cut.
    """
    limit = check_count(budget, "budget")
    arrange = ORDERS[check_choice(order, "order", ORDERS)]
    count = _read_tokenizer(tokenizer)
    if not callable(form):
        raise InputError(f"form must be a function of a passage, got {form!r}")
    ranked = _rank(_read_selection(found, texts) if isinstance(found, Selection) else _read_passages(found))
    taken: list[int] = []
    text, tokens = "", 0
    for place in range(len(ranked)):
        written = _write([*taken, place], ranked, arrange, form, separator)
        size = count(written)
        if size <= limit:
            taken, text, tokens = [*taken, place], written, size
    passages = tuple(_number(taken, ranked, arrange))
    left_out = tuple(one for place, (_, one) in enumerate(ranked) if place not in taken)
    return Packed(text, passages, left_out, tokens, limit)


Ranked = list[tuple[int, Passage]]
"""Passages, most relevant first, each with the place at which it was given."""


def _spread(taken: Sequence[int], ranked: Ranked) -> list[int]:
    """The best first, the second best last, the third best second, and so on."""
    return [*taken[::2], *reversed(taken[1::2])]


ORDERS: dict[str, Callable[[Sequence[int], Ranked], list[int]]] = {
    "relevance": lambda taken, ranked: list(taken),
    "ends": _spread,
    "given": lambda taken, ranked: sorted(taken, key=lambda place: ranked[place][0]),
}
"""How passages, taken from the most relevant on, are arranged."""


def _write(taken: Sequence[int], ranked: Ranked, arrange: Any, form: Callable[[Passage], str], separator: str) -> str:
    written = [form(one) for one in _number(taken, ranked, arrange)]
    if not all(isinstance(one, str) for one in written):
        raise InputError("form must return a text for every passage")
    return separator.join(written)


def _number(taken: Sequence[int], ranked: Ranked, arrange: Any) -> list[Passage]:
    return [replace(ranked[place][1], number=number) for number, place in enumerate(arrange(taken, ranked), 1)]


def _rank(passages: Sequence[Passage]) -> Ranked:
    """Most relevant first; without scores, as they come."""
    numbered = list(enumerate(passages))
    if any(one.score is None for one in passages):
        return numbered
    return sorted(numbered, key=lambda pair: -float(pair[1].score or 0.0))


def _read_tokenizer(tokenizer: Any) -> Callable[[str], int]:
    if isinstance(tokenizer, str):
        raise InputError(f"tokenizer must be a function of a text, or have encode, got the text {tokenizer!r}")
    function = tokenizer if callable(tokenizer) and not hasattr(tokenizer, "encode") else None
    function = function or getattr(tokenizer, "encode", None)
    if function is None:
        raise InputError(f"tokenizer must be a function of a text, or have encode, got {type(tokenizer).__name__}")

    def count(text: str) -> int:
        tokens = function(text)
        if isinstance(tokens, (int, np.integer)) and not isinstance(tokens, bool):
            return int(tokens)
        tokens = getattr(tokens, "ids", tokens)
        if not hasattr(tokens, "__len__"):
            raise InputError(f"tokenizer must return tokens or their number, got {type(tokens).__name__}")
        return len(tokens)

    return count


def _read_selection(selection: Selection, texts: Any) -> list[Passage]:
    if texts is None:
        raise InputError("a Selection holds no texts; pass texts=, a list or a mapping from ids")
    nobody: Sequence[Any] = ((),) * len(selection.ids)
    near = (selection.copies or nobody, selection.variants or nobody)
    found = []
    for identity, score, *others in zip(selection.ids.tolist(), selection.scores, *near, strict=True):
        try:
            one = _read_passage(texts[identity])
        except (KeyError, IndexError):
            raise InputError(f"texts has no entry for {identity!r}") from None
        copies, variants = (tuple({**other.to_dict(), "id": str(other.id)} for other in some) for some in others)
        one = replace(one, copies=one.copies or copies, variants=one.variants or variants)
        found.append(replace(one, id=one.id or str(identity), score=float(score)))
    return found


def _read_passages(found: Any) -> list[Passage]:
    if isinstance(found, (str, bytes, Mapping)) or not isinstance(found, Iterable):
        raise InputError(f"pack needs a list of passages, got {type(found).__name__}")
    return [_read_passage(one) for one in found]


def _read_passage(one: Any) -> Passage:
    """A passage from whatever a framework calls a document."""
    if isinstance(one, Passage):
        return one
    if isinstance(one, str):
        return Passage(one)
    if isinstance(one, Hit):
        copies = tuple({**copy.to_dict(), "metadata": dict(copy.metadata)} for copy in one.copies)
        variants = tuple({**other.to_dict(), "metadata": dict(other.metadata)} for other in one.variants)
        return Passage(one.text, one.id, one.score, one.metadata, copies, variants)
    if isinstance(one, Mapping):
        return _make_passage(one.get("text"), one.get("id"), one.get("score"), one.get("metadata") or {})
    if hasattr(one, "page_content"):  # LangChain
        return _make_passage(one.page_content, one.id, None, one.metadata)
    if hasattr(one, "node"):  # LlamaIndex
        return _make_passage(one.node.get_content(), one.node.node_id, one.score, one.node.metadata)
    if hasattr(one, "content") and hasattr(one, "meta"):  # Haystack
        return _make_passage(one.content, one.id, one.score, one.meta)
    raise InputError(f"pack cannot read a passage from {type(one).__name__}; pass texts, or dicts with a text")


def _make_passage(text: Any, identity: Any, score: Any, metadata: Mapping[str, Any]) -> Passage:
    if not isinstance(text, str):
        raise InputError(f"a passage must have a text, got {text!r}")
    told = metadata.get("breadth")
    told = told if isinstance(told, Mapping) else {}
    plain = {name: value for name, value in metadata.items() if name != "breadth"}
    known = told.get("score") if score is None else score
    copies, variants = (tuple(told.get(name, ())) for name in ("copies", "variants"))
    return Passage(text, identity, None if known is None else float(known), plain, copies, variants)


def _describe_variant(variant: Mapping[str, Any]) -> str:
    differences = "; ".join(
        f"{one['here'] or '(nothing)'} → {one['there'] or '(nothing)'}" for one in variant["differences"]
    )
    return f"{variant['id']}: {differences}"
