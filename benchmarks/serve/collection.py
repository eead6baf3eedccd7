"""The collections of the benchmark, with vectors: a judged collection, one of two encoders, and a number of copies.

Each pair of a judged collection and an encoder has a run folder, as the experiments have, with texts and vectors. The
vectors of the built-in encoder are made when they are needed. Those of all-MiniLM-L6-v2 have to be at hand:
`python -m benchmarks serve --data FOLDER --part encode` makes them where sentence-transformers is installed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from benchmarks.serve.judged import READERS, Judged
from breadth import ArrayOracle
from breadth.encoders import encoder
from breadth.index.bm25 import BM25
from breadth_experiments import encoding
from breadth_experiments.evidence import Evidence
from breadth_experiments.progress import progress_bar
from breadth_experiments.run import Run
from tests.synthetic import unit

ENCODERS = {"potion": "builtin", "MiniLM": "sentence-transformers:all-MiniLM-L6-v2"}
"""The encoders of the benchmark, and the descriptions they are made from."""


_STEP_WITH_COPIES = 2
"""A collection with copies asks every second question: the others would say the same again, and copies are slow."""


@dataclass(frozen=True)
class Source:
    """A judged collection by its name, an encoder of `ENCODERS`, how many extra exact copies each passage gets, and the
    weight of words (BM25) in relevance."""

    judged: str
    encoder: str
    copies: int = 0
    words: float = 0.0

    @property
    def name(self) -> str:
        copies = f" + {self.copies} copies" if self.copies else ""
        return f"{self.judged}{copies}, {self.encoder}{' and words' if self.words else ''}"


SOURCES = (
    Source("trec", "potion"),
    Source("trec", "MiniLM"),
    Source("perspectrum", "potion"),
    Source("perspectrum", "MiniLM"),
    Source("medquad", "potion"),
    Source("asqa", "potion"),
    Source("asqa", "potion", 2),
    Source("asqa", "potion", 8),
    Source("asqa", "MiniLM"),
    Source("asqa", "MiniLM", 2),
    Source("asqa", "MiniLM", 8),
    Source("nq", "potion"),
    Source("ramdocs", "potion"),
    Source("trec", "potion", words=0.5),
    Source("perspectrum", "potion", words=0.5),
    Source("medquad", "potion", words=0.5),
    Source("asqa", "potion", words=0.5),
    Source("ramdocs", "potion", words=0.5),
)
"""All collections of the benchmark."""


@dataclass(frozen=True, eq=False)
class Collection:
    """A judged collection with the unit rows of its passages and the unit vectors of its questions."""

    name: str
    judged: Judged
    rows: np.ndarray
    queries: np.ndarray
    word_weight: float = 0.0

    @cached_property
    def texts(self) -> list[str]:
        return self.judged.texts()

    @cached_property
    def bm25(self) -> BM25:
        return BM25(self.texts)

    def rate(self, number: int) -> np.ndarray:
        """The relevance of every passage for a question: its cosine, or that and words, on the scale of cosines.

        Words count lo + (hi - lo) · bm25 / max bm25, where hi and lo are the largest cosine and the 400th.
        """
        scores: np.ndarray = self.rows @ self.queries[number]
        if self.word_weight == 0.0:
            return scores
        found = self.bm25.scores(self.judged.questions[number].question)
        low, high = float(np.partition(scores, -min(400, len(scores)))[-min(400, len(scores))]), float(scores.max())
        words = low + (high - low) * found / max(float(found.max()), 1e-9)
        return np.asarray((1.0 - self.word_weight) * scores + self.word_weight * words, dtype=np.float32)

    @cached_property
    def oracle(self) -> ArrayOracle:
        return ArrayOracle(self.rows)

    @cached_property
    def evidence(self) -> Evidence:
        return Evidence(self.judged.questions, self.judged.passages)

    @cached_property
    def words(self) -> np.ndarray:
        return self.judged.words()


def load_collection(data: Path, folder: Path, source: Source) -> Collection | None:
    """A collection, or None if its vectors are not at hand and cannot be made here."""
    run = open_run(data, folder, source)
    if source.encoder == "potion":
        encode_run(run, ENCODERS["potion"])
    if not _has_vectors(run):
        return None
    rows, queries = encoding.load_vectors(run)
    judged = Judged(tuple(run.passages()), tuple(run.questions()), tuple(run.facts["halves"]))
    step = _STEP_WITH_COPIES if source.copies else 1
    repeated = np.repeat(unit(np.asarray(rows, dtype=np.float32)), source.copies + 1, axis=0)
    judged = judged.every(step).with_copies(source.copies)
    return Collection(source.name, judged, repeated, unit(queries[::step]), source.words)


def open_run(data: Path, folder: Path, source: Source) -> Run:
    """The run folder of a collection and an encoder. Its texts are read from the data if they are not there yet."""
    run = Run(folder / "runs" / f"{source.judged}-{source.encoder}")
    if not run.complete:
        judged = READERS[source.judged](data)
        run.write_questions(judged.questions)
        run.note(dataset=source.judged, halves=judged.halves, passages=run.write_passages(judged.passages))
        if (source.judged, source.encoder) == ("asqa", "MiniLM"):
            _store_published_vectors(data / "asqa", run)
    return run


def encode_run(run: Run, description: str) -> None:
    """Make the vectors of a run's texts that are not there yet. A stopped run continues where it was."""
    if not _has_vectors(run):
        with progress_bar(f"encode {run.folder.name}") as progress:
            encoding.encode(run, encoder(description), dtype="float16", progress=progress)


def encode_missing(data: Path, folder: Path, model: str | None) -> None:
    """Make all vectors of `SOURCES`. `model`: the name or folder of all-MiniLM-L6-v2 for sentence-transformers."""
    for source in SOURCES:
        described = (
            f"sentence-transformers:{model}" if model and source.encoder == "MiniLM" else ENCODERS[source.encoder]
        )
        encode_run(open_run(data, folder, source), described)


def _has_vectors(run: Run) -> bool:
    return all(run.path(f"{part}.npy").is_file() for part in ("passages", "questions"))


def _store_published_vectors(folder: Path, run: Run) -> None:
    """Take over the MiniLM vectors that come with the ASQA data, if they do."""
    passages, questions = folder / "minilm_passages.f16.npy", folder / "minilm_queries948.f16.npy"
    if passages.is_file() and questions.is_file():
        lines = json.loads((folder / "asqa_dev_948.json").read_text(encoding="utf-8"))
        place = {line["id"]: number for number, line in enumerate(lines)}
        picked = np.load(questions)[[place[question.id] for question in run.questions()]]
        encoding.store_vectors(run, ENCODERS["MiniLM"], np.load(passages), picked)
