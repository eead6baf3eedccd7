"""Run the experiments behind docs/results.md, from the subsets to one small file of scores for each run."""

from __future__ import annotations

import gzip
import json
import subprocess
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.report import RESULTS, ROOT
from benchmarks.timing import machine
from breadth.encoders import encoder
from breadth_experiments import encoding, generation, pooling, records, retrieval, scores, subsets
from breadth_experiments.evidence import Evidence
from breadth_experiments.grid import Grid
from breadth_experiments.latency import measure_latency
from breadth_experiments.progress import progress_bar
from breadth_experiments.reader import Reader
from breadth_experiments.run import Run

FOLDER = RESULTS / "experiments"
PAPERS_METHODS = ("topk", "mmr", "dpp", "frank_wolfe", "certified")
COPIES = (0, 1, 2, 4, 8)
_REDUNDANT = Grid(PAPERS_METHODS, (0.3, 0.5, 0.6, 0.7, 0.8, 0.9), (10, 25))
_READ = Grid(PAPERS_METHODS, (0.6, 0.8), (5,))


@dataclass(frozen=True)
class Recipe:
    """How to make a run: which subset, which vectors, which grid."""

    subset: str
    grid: Grid
    encoder: str = "builtin"
    limit: int | None = None
    copies: int = 0
    sample: int = 10


RECIPES = {
    "asqa": Recipe("asqa", Grid(), encoder="minilm"),
    "asqa-read": Recipe("asqa", _READ, encoder="minilm", sample=0),
    "qampari": Recipe("qampari-bm25", Grid(PAPERS_METHODS), limit=100),
    "medquad-facets": Recipe("medquad-facets", Grid(ks=(10, 25)), limit=200, sample=0),
    "medquad-liveqa": Recipe("medquad-liveqa", Grid(ks=(10, 25)), sample=0),
    **{f"asqa-copies-{r}": Recipe("asqa", _REDUNDANT, limit=100, copies=r, sample=0) for r in COPIES},
}
GENERATED = "asqa-read"


def main(data: Path, folder: Path, part: str | None, workers: int | None) -> None:
    """Run all recipes, or one, and write their scores. Results that `folder` already holds are not computed again."""
    for name in RECIPES if part is None else [part]:
        write_scores(name, run_recipe(name, RECIPES[name], data, folder, workers))


def run_recipe(name: str, recipe: Recipe, data: Path, folder: Path, workers: int | None = None) -> Run:
    """Go through all stages up to the sets and the latencies. A sweep that runs in one go notes how long it took."""
    started = time.perf_counter()
    with progress_bar(f"{name}: pool") as progress:
        made = pooling.pool_subset(
            folder / name, recipe.subset, data, copies=recipe.copies, limit=recipe.limit, progress=progress
        )
    if recipe.encoder == "minilm":
        encoding.store_vectors(made, "all-MiniLM-L6-v2", *subsets.load_minilm(data, made.questions()))
    else:
        with progress_bar(f"{name}: encode") as progress:
            encoding.encode(made, encoder(recipe.encoder), progress=progress)
    if not made.path("retrieved.jsonl").exists():  # the commit that computes the sets, not the one that renders them
        made.note(machine=machine(), versions=versions(), commit=commit(), ceiling=ceiling(made))
    with progress_bar(f"{name}: sets") as progress:
        found = retrieval.retrieve(made, recipe.grid, workers=workers, progress=progress)
    if recipe.sample:
        with progress_bar(f"{name}: latency") as progress:
            measure_latency(made, recipe.grid, sample=recipe.sample, progress=progress)
    if found == len(recipe.grid.cells()) * len(made.questions()):  # all of them in one go
        made.note(seconds=round(time.perf_counter() - started, 1), sets=found)
    return made


def write_scores(name: str, made: Run) -> None:
    """Write the scores of a run to its file in the repository."""
    scores.save(scores.read_run(made), FOLDER / f"{name}.json.gz")


def generate(folder: Path, model: str, url: str, limit: int, concurrency: int, label: str | None) -> None:
    """Let a reader answer from the sets of the run `asqa-read`, and write its answers and their scores."""
    made = Run.open(folder / GENERATED)
    with (
        Reader(model, url, max_tokens=128, concurrency=concurrency, cache=made.path("answers.jsonl")) as reader,
        progress_bar("answers") as progress,
    ):
        generation.generate(made, reader, questions=limit, progress=progress)
    write_answers(made, label or model)


def write_answers(made: Run, label: str) -> None:
    """Write the answers of all models so far to one compressed file."""
    known = list(records.read(made.path("generated.jsonl")))
    data = {"facts": made.facts, "machine": machine(), "versions": versions(), "commit": commit(), "label": label}
    scores.write_compressed(FOLDER / "generated.json.gz", {**data, "answers": known})


def load_answers() -> dict[str, Any] | None:
    """The answers that `write_answers` wrote, or None if there is no such file."""
    path = FOLDER / "generated.json.gz"
    if not path.is_file():
        return None
    data: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    return data


def ceiling(made: Run) -> float:
    """The mean recall of all passages together."""
    questions, passages = made.questions(), made.passages()
    evidence, everything = Evidence(questions, passages), range(len(passages))
    return round(sum(evidence.recall(question.id, everything) for question in questions) / len(questions), 4)


def versions() -> dict[str, str]:
    """The versions of the packages that compute the sets."""
    return {name: version(name) for name in ("breadth", "numpy", "bm25s", "tokenizers")}


def commit() -> str:
    """The commit, marked as dirty if the source differs from it."""
    done = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    clean = subprocess.run(
        ["git", "diff", "--quiet", "HEAD", "--", "src", "experiments"], cwd=ROOT, capture_output=True
    )
    return (done.stdout.strip() or "unknown") + ("" if clean.returncode == 0 else "-dirty")
