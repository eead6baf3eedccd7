"""How the collection of a run is searched, and which files were made with which engine."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from breadth.errors import InputError
from breadth.methods.muss import cluster
from breadth.oracles import ArrayOracle, CompactOracle, TorchOracle
from breadth_experiments import encoding
from breadth_experiments.run import Run, read_json, write_json

Rows = npt.NDArray[np.floating[Any]]

KINDS = ("array", "compact", "torch")


@dataclass(frozen=True)
class Engine:
    """What searches the vectors: a NumPy array, int8 codes (compact, exact as well), or torch on a device."""

    kind: str = "array"
    device: str | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"engine must be one of {', '.join(KINDS)}; got {self.kind!r}")
        if self.device is not None and self.kind != "torch":
            raise InputError(f"device goes with engine torch, got device {self.device!r} with {self.kind!r}")

    def build_oracle(self, rows: Rows) -> Any:
        """The oracle that searches these rows."""
        if self.kind == "array":
            return ArrayOracle(rows)
        if self.kind == "compact":
            return CompactOracle.build(rows)
        try:
            return TorchOracle(rows, device=self.device)
        except RuntimeError as error:
            raise InputError(f"device {self.device!r} cannot be used: {error}") from error


@dataclass(frozen=True, eq=False)
class Collection:
    """The vectors of a run, ready to be searched."""

    rows: Rows
    queries: encoding.Vectors
    oracle: Any

    def options(self, method: str, theta: float | None) -> dict[str, Any]:
        """What `select` takes for a method at θ. MUSS gets clusters: they do not depend on the query."""
        options: dict[str, Any] = {} if theta is None else {"theta": theta}
        if method == "muss":
            options["clustering"] = _clusters(self.oracle)
        return options


def load_collection(folder: Path, engine: Engine) -> Collection:
    """The collection of a run folder, built once in a process as long as the vectors stay the same."""
    marks = (Run(folder).path(f"{part}.vectors.json").read_text("utf-8") for part in ("passages", "questions"))
    return _load(folder, engine, "".join(marks))


@lru_cache(maxsize=1)
def _load(folder: Path, engine: Engine, marks: str) -> Collection:
    """`marks` is part of the cache's key: it changes with the vectors."""
    rows, queries = encoding.load_vectors(Run(folder))
    return Collection(rows, queries, engine.build_oracle(rows))


@lru_cache(maxsize=1)
def _clusters(oracle: Any) -> Any:
    return cluster(oracle)


def record_origin(run: Run, name: str, engine: Engine) -> None:
    """Note with which vectors and engine `name`.jsonl is made, and refuse to add to a file of another origin."""
    origin = {"vectors": encoding.read_marks(run), "engine": engine.kind, "device": engine.device}
    notes, lines = run.path(f"{name}.json"), run.path(f"{name}.jsonl")
    known = read_json(notes)
    if known and known != origin and lines.exists() and lines.stat().st_size:
        what = next((key for key in origin if known.get(key) != origin[key]), "settings")
        raise InputError(
            f"{lines} was made with other {what} ({_describe(known.get(what))}, not {_describe(origin.get(what))}); "
            "use another folder, or delete the file to start again"
        )
    write_json(notes, origin)
    run.note(engine=engine.kind if engine.device is None else f"{engine.kind} on {engine.device}")


def _describe(value: Any) -> str:
    """An engine or a device by its name, vectors by their encoder and precision."""
    if isinstance(value, dict):
        return " ".join(str(value["passages"].get(key)) for key in ("encoder", "dtype"))
    return str(value)
