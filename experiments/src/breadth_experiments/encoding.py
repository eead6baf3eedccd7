"""The stage `encode`: a unit vector for every passage and question of a run.

The texts are encoded in blocks. A stopped stage resumes with the next block.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from breadth.encoders import Encoder, Kind
from breadth.errors import InputError
from breadth_experiments.progress import Progress, report_nothing
from breadth_experiments.run import Run, checksum, read_json, write_json

Vectors = npt.NDArray[np.float32]

_BLOCK = 1024


def encode(run: Run, encoder: Encoder, *, dtype: str = "float32", progress: Progress = report_nothing) -> None:
    """Encode the texts that are not encoded yet, into passages.npy and questions.npy. `progress` counts texts.

    A passage is encoded as its title, a new line and its text (the text alone if it begins with the title).
    """
    if dtype not in ("float32", "float16"):
        raise InputError(f"dtype must be float32 or float16, got {dtype!r}")
    passages = [p.text if p.text.startswith(p.title) else f"{p.title}\n{p.text}" for p in run.passages()]
    questions = [q.question for q in run.questions()]
    total = len(passages) + len(questions)

    def report_after(before: int) -> Callable[[int], None]:
        return lambda done: progress(before + done, total)

    _encode_part(run, "passages", passages, "document", encoder, dtype, report_after(0))
    _encode_part(run, "questions", questions, "query", encoder, dtype, report_after(len(passages)))
    run.note(encoder=encoder.name, dim=encoder.dim)


def store_vectors(run: Run, name: str, passages: Vectors, questions: Vectors) -> None:
    """Store vectors that were made elsewhere, by the encoder of this name."""
    wanted = (len(run.passages()), len(run.questions()))
    if (len(passages), len(questions)) != wanted:
        raise InputError(
            f"the run has {wanted[0]} passages and {wanted[1]} questions, but there are {len(passages)} and "
            f"{len(questions)} vectors"
        )
    for part, rows in (("passages", passages), ("questions", questions)):
        mark = _mark(run, part, name, str(rows.dtype))
        if not _is_complete(run, part, mark):
            _discard(run, part)
            np.save(run.path(f"{part}.partial.npy"), rows)
            _publish(run, part, mark)
    run.note(encoder=name, dim=passages.shape[1])


def load_vectors(run: Run) -> tuple[npt.NDArray[Any], Vectors]:
    """The vectors of the passages (memory-mapped) and of the questions."""
    read_marks(run)
    passages = _load_rows(run.path("passages.npy"), run.facts.get("passages"))
    questions = _load_rows(run.path("questions.npy"), len(run.questions()))
    if passages.shape[1] != questions.shape[1]:
        raise InputError(
            f"passages.npy has {passages.shape[1]} dimensions, questions.npy {questions.shape[1]}; encode both again"
        )
    return passages, questions.astype(np.float32)


def _load_rows(path: Path, wanted: int | None) -> npt.NDArray[Any]:
    """A file of vectors, memory-mapped. `wanted` is how many there must be; None if that is not known."""
    try:
        rows = np.load(path, mmap_mode="r")
    except (ValueError, EOFError, OSError) as error:
        raise InputError(f"{path} cannot be read ({error}); delete it and encode again") from error
    if rows.ndim != 2 or rows.dtype.kind != "f" or len(rows) != (len(rows) if wanted is None else wanted):
        raise InputError(
            f"{path} must hold {'a' if wanted is None else wanted} vectors of floats, got {rows.dtype} of shape "
            f"{rows.shape}; delete it and encode again"
        )
    return np.asanyarray(rows)


def read_marks(run: Run) -> dict[str, Any]:
    """Which vectors these are: encoder, precision, and checksums of the texts that they were made from.

    Vectors of texts that have changed since are an error.
    """
    known = {}
    for part in ("passages", "questions"):
        run.require(f"{part}.npy", "encode")
        known[part] = read_json(run.path(f"{part}.vectors.json"))
        if known[part].get("texts") != checksum(run.require(f"{part}.jsonl", "pool")):
            raise InputError(f"{part}.npy was made from other texts; run `breadth experiment encode` again")
    return known


def _mark(run: Run, part: str, encoder: str, dtype: str) -> dict[str, Any]:
    return {"encoder": encoder, "dtype": dtype, "texts": checksum(run.require(f"{part}.jsonl", "pool"))}


def _is_complete(run: Run, part: str, mark: dict[str, Any]) -> bool:
    """Whether the run has a complete file of vectors with this mark. A file of another encoder is an error."""
    target, known = run.path(f"{part}.npy"), read_json(run.path(f"{part}.vectors.json"))
    if target.exists() and known.get("encoder", mark["encoder"]) != mark["encoder"]:
        raise InputError(f"{target} was made by {known['encoder']}, not by {mark['encoder']}; use another folder")
    return target.exists() and known == mark


def _discard(run: Run, part: str) -> None:
    """Remove vectors of other texts, or of another precision."""
    run.path(f"{part}.npy").unlink(missing_ok=True)
    run.path(f"{part}.vectors.json").unlink(missing_ok=True)


def _publish(run: Run, part: str, mark: dict[str, Any]) -> None:
    """Give the partial file its final name, then write its mark: a file without a mark does not count."""
    run.path(f"{part}.partial.npy").replace(run.path(f"{part}.npy"))
    write_json(run.path(f"{part}.vectors.json"), mark)
    run.path(f"{part}.partial.json").unlink(missing_ok=True)


def _encode_part(
    run: Run, name: str, texts: list[str], kind: Kind, encoder: Encoder, dtype: str, report: Callable[[int], None]
) -> None:
    """Write one file of vectors. A partial file of the same texts and encoder is continued."""
    if not texts:
        raise InputError(f"{name}.jsonl holds nothing to encode")
    mark = _mark(run, name, encoder.name, dtype)
    if _is_complete(run, name, mark):
        report(len(texts))
        return
    _discard(run, name)
    partial, notes = run.path(f"{name}.partial.npy"), run.path(f"{name}.partial.json")
    known = read_json(notes)
    done = int(known.pop("done", 0)) if partial.exists() else 0
    if done and known == mark:
        rows = np.lib.format.open_memmap(partial, mode="r+")
    else:
        done = 0
        rows = np.lib.format.open_memmap(partial, mode="w+", dtype=np.dtype(dtype), shape=(len(texts), encoder.dim))
    for start in range(done, len(texts), _BLOCK):
        made = encoder.encode(texts[start : start + _BLOCK], kind)
        empty = np.flatnonzero(~made.any(axis=1))
        if len(empty):
            row = start + int(empty[0])
            raise InputError(f"{encoder.name} knows no word of {name[:-1]} {row}; remove it from {name}.jsonl")
        rows[start : start + len(made)] = made
        rows.flush()
        write_json(notes, {**mark, "done": start + len(made)})
        report(start + len(made))
    del rows
    _publish(run, name, mark)
