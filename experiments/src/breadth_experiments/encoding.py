"""The stage `encode`: a unit vector for every passage and question of a run, block by block, to be gone on with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from breadth.encoders.protocol import Encoder, Kind, Vectors
from breadth.errors import InputError
from breadth_experiments.run import Run, checksum, read_json, write_json

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

    _encode_one(run, "passages", passages, "document", encoder, dtype, tell(0))
    _encode_one(run, "questions", questions, "query", encoder, dtype, tell(len(passages)))
    run.note(encoder=encoder.name, dim=encoder.dim)


def put(run: Run, name: str, passages: Vectors, questions: Vectors) -> None:
    """Take vectors that were made elsewhere, by the encoder of this name."""
    wanted = (len(run.passages()), len(run.questions()))
    if (len(passages), len(questions)) != wanted:
        raise InputError(f"there are {wanted} passages and questions, but ({len(passages)}, {len(questions)}) vectors")
    for part, rows in (("passages", passages), ("questions", questions)):
        mark = _mark(run, part, name, str(rows.dtype))
        if _finished(run, part, mark):
            continue
        partial = run.path(f"{part}.partial.npy")
        np.save(partial, rows)
        _finish(run, part, mark)
    run.note(encoder=name, dim=passages.shape[1])


def vectors(run: Run) -> tuple[npt.NDArray[Any], Vectors]:
    """Passages (memory-mapped) and questions."""
    marks(run)
    found = []
    for part in ("passages", "questions"):
        path = run.path(f"{part}.npy")
        try:
            found.append(np.load(path, mmap_mode="r"))
        except (ValueError, EOFError, OSError) as error:
            raise InputError(f"{path} cannot be read ({error}); delete it and encode again") from error
    return found[0], found[1].astype(np.float32)


def marks(run: Run) -> dict[str, Any]:
    """Which vectors these are: encoder, precision, and checksums of the texts that they were made from."""
    known = {}
    for part in ("passages", "questions"):
        run.needed(f"{part}.npy", "encode")
        known[part] = read_json(run.path(f"{part}.vectors.json"))
        if known[part].get("texts") != checksum(run.needed(f"{part}.jsonl", "pool")):
            raise InputError(f"{part}.npy was made from other texts; run `breadth experiment encode` again")
    return known


def _mark(run: Run, part: str, encoder: str, dtype: str) -> dict[str, Any]:
    return {"encoder": encoder, "dtype": dtype, "texts": checksum(run.needed(f"{part}.jsonl", "pool"))}


def _finished(run: Run, part: str, mark: dict[str, Any]) -> bool:
    """Whether a complete file with this mark is there. One of another encoder is an error, one of other texts goes."""
    target, notes = run.path(f"{part}.npy"), run.path(f"{part}.vectors.json")
    known = read_json(notes)
    if target.exists() and known.get("encoder", mark["encoder"]) != mark["encoder"]:
        raise InputError(f"{target} was made by {known['encoder']}, not by {mark['encoder']}; take another folder")
    if target.exists() and known == mark:
        return True
    target.unlink(missing_ok=True)
    notes.unlink(missing_ok=True)
    return False


def _finish(run: Run, part: str, mark: dict[str, Any]) -> None:
    """The file under its name, then what it is: without that it does not count."""
    run.path(f"{part}.partial.npy").replace(run.path(f"{part}.npy"))
    write_json(run.path(f"{part}.vectors.json"), mark)
    run.path(f"{part}.partial.json").unlink(missing_ok=True)


def _encode_one(
    run: Run, name: str, texts: list[str], kind: Kind, encoder: Encoder, dtype: str, tell: Callable[[int], None]
) -> None:
    """One file of vectors. The partial file and how far it is are kept, for the same texts and the same encoder."""
    if not texts:
        raise InputError(f"{name}.jsonl holds nothing to encode")
    mark = _mark(run, name, encoder.name, dtype)
    if _finished(run, name, mark):
        tell(len(texts))
        return
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
            raise InputError(f"{encoder.name} knows no word of {name[:-1]} {start + int(empty[0])}; leave it out")
        rows[start : start + len(made)] = made
        rows.flush()
        write_json(notes, {**mark, "done": start + len(made)})
        tell(start + len(made))
    del rows
    _finish(run, name, mark)
