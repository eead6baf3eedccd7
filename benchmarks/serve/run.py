"""`python -m benchmarks serve`: choose all sets, measure them, and write the results and their page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.report import save
from benchmarks.serve import page
from benchmarks.serve.collection import SOURCES, Collection, Source, encode_missing, load_collection
from benchmarks.serve.judged import HALVES
from benchmarks.serve.sets import BUDGETS, KS, measure_setting
from benchmarks.serve.settings import REFERENCES, SETTINGS
from benchmarks.serve.summary import Measured, compare, summarise
from benchmarks.timing import machine, progress
from breadth.errors import InputError

PARTS = ("encode",)


def main(data: Path, folder: Path, part: str | None, model: str | None, again: list[str]) -> None:
    """Measure every setting on every collection whose vectors are at hand.

    data    the folder with trec_ts/, perspectrum/, medquad/, asqa/ and wiki/.
    folder  where texts, vectors and chosen sets are kept. A set that was chosen before is not chosen again.
    part    "encode" makes missing vectors with the sentence-transformers model `model` and measures nothing.
    again   names of settings whose sets are to be chosen again, because the code of their method has changed.
    """
    unknown = [name for name in again if name not in SETTINGS]
    if unknown:
        raise InputError(f"--again must name settings, got {unknown[0]!r}; the settings are {', '.join(SETTINGS)}")
    if part == "encode":
        encode_missing(data, folder / "serve", model)
        return
    found = {}
    for source in SOURCES:
        collection = load_collection(data, folder / "serve", source)
        if collection is None:
            print(f"{source.name} is left out: its vectors are missing; `--part encode` makes them")
            continue
        found[source.name] = measure_collection(collection, source, folder / "serve" / "sets", again)
    write_results(found)
    page.render()


def measure_collection(collection: Collection, source: Source, folder: Path, again: list[str]) -> Measured:
    """The measures of every setting on a collection."""
    values = {}
    for name in progress(list(SETTINGS), source.name):
        path = folder / source.name / f"{name}.jsonl"
        if name in again:
            path.unlink(missing_ok=True)
        values[name] = measure_setting(collection, SETTINGS[name], path)
    return Measured(source.judged, np.array(collection.judged.halves), values)


def write_results(found: dict[str, Measured]) -> None:
    """Write results/serve.json."""
    save(
        "serve",
        {
            "machine": machine(),
            "ks": KS,
            "budgets": BUDGETS,
            "settings": SETTINGS,
            "left_out": [source.name for source in SOURCES if source.name not in found],
            "collections": {name: summarise(measured) for name, measured in found.items()},
            "differences": {half: {one: _compare(found, one, half) for one in REFERENCES} for half in HALVES},
        },
    )


def _compare(found: dict[str, Measured], reference: str, half: str) -> dict[str, Any]:
    """Differences from a reference: on every collection from the first one, and on the mean only from the others."""
    compared = compare(found, reference, half)
    if reference == REFERENCES[0]:
        return compared
    return {name: {"mean": one["mean"]} for name, one in compared.items()}
