"""The stage `encode`: a unit vector for every passage and question of a run, block by block, to be gone on with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from breadth.encoders.protocol import Encoder, Kind, Vectors
from breadth.errors import InputError
from breadth.experiments.run import Run, checksum, read_json, write_json

_BLOCK = 1024


def encode(run: Run, encoder: Encoder, *, dtype: str = "float32", progress: Any = None) -> None:
    """Encode what is not encoded yet: passages.npy and questions.npy. `progress(done, total)` counts texts.

    A passage is encoded as its title, a new line and its text (the text alone if it begins with the title).
    """
    if dtype not in ("float32", "float16"):
        raise InputError(f"dtype must be float32 or float16, got {dtype!r}")
    passages = [p.text if p.text.startswith(p.title) else f"{p.title}\n{p.text}" for p in run.passages()]
    questions = [q.question for q in run.questions()]
    total = len(passages) + len(questions)

    def tell(before: int) -> Callable[[int], None]:
        return lambda done: progress(before + done, total) if progress is not None else None

    for name, texts, kind, before in (
        ("passages", passages, "document", 0),
        ("questions", questions, "query", len(passages)),
    ):
        _encode_one(run, name, texts, kind, encoder, dtype, tell(before))  # type: ignore[arg-type]
    run.note(encoder=encoder.name, dim=encoder.dim)


def put(run: Run, name: str, passages: Vectors, questions: Vectors) -> None:
    """Take vectors that were made elsewhere, by the encoder of this name."""
    wanted = (len(run.passages()), len(run.questions()))
    if (len(passages), len(questions)) != wanted:
        raise InputError(f"there are {wanted} passages and questions, but ({len(passages)}, {len(questions)}) vectors")
    for part, rows in (("passages", passages), ("questions", questions)):
        partial = run.path(f"{part}.partial.npy")
        np.save(partial, rows)
        partial.replace(run.path(f"{part}.npy"))
        write_json(
            run.path(f"{part}.vectors.json"), {"encoder": name, "texts": checksum(run.needed(f"{part}.jsonl", "pool"))}
        )
    run.note(encoder=name, dim=passages.shape[1])


def vectors(run: Run) -> tuple[npt.NDArray[Any], Vectors]:
    """Passages (memory-mapped) and questions."""
    rows = np.load(run.needed("passages.npy", "encode"), mmap_mode="r")
    questions: Vectors = np.load(run.needed("questions.npy", "encode")).astype(np.float32)
    for part in ("passages", "questions"):
        known = read_json(run.path(f"{part}.vectors.json"))
        if known.get("texts") != checksum(run.needed(f"{part}.jsonl", "pool")):
            raise InputError(f"{part}.npy was made from other texts; run `breadth experiment encode` again")
    return rows, questions


def _encode_one(
    run: Run, name: str, texts: list[str], kind: Kind, encoder: Encoder, dtype: str, tell: Callable[[int], None]
) -> None:
    """One file of vectors. The partial file and how far it is are kept, for the same texts and the same encoder."""
    mark = {"encoder": encoder.name, "texts": checksum(run.needed(f"{name}.jsonl", "pool")), "dtype": dtype}
    notes, target = run.path(f"{name}.vectors.json"), run.path(f"{name}.npy")
    known = read_json(notes)
    if known.get("encoder", encoder.name) != encoder.name and target.exists():
        raise InputError(f"{target} was made by {known['encoder']}, not by {encoder.name}; take another folder")
    same = all(known.get(key) == value for key, value in mark.items())
    if same and target.exists():
        tell(len(texts))
        return
    partial = run.path(f"{name}.partial.npy")
    done = int(known.get("done", 0)) if same and partial.exists() else 0
    if done:
        rows = np.lib.format.open_memmap(partial, mode="r+")
    else:
        rows = np.lib.format.open_memmap(partial, mode="w+", dtype=np.dtype(dtype), shape=(len(texts), encoder.dim))
    for start in range(done, len(texts), _BLOCK):
        made = encoder.encode(texts[start : start + _BLOCK], kind)
        empty = np.flatnonzero(~made.any(axis=1))
        if len(empty):
            raise InputError(f"{encoder.name} knows no word of {name[:-1]} {start + int(empty[0])}; leave it out")
        rows[start : start + len(made)] = made
        rows.flush()
        write_json(notes, {**mark, "done": start + len(made)})
        tell(start + len(made))
    del rows
    partial.replace(target)
