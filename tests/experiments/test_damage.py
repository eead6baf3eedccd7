"""Files of a run that were damaged or edited by hand: every stage that reads one says so with an error of ours."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from breadth.encoders import encoder
from breadth.errors import BreadthError, InputError
from breadth_experiments import encoding, generation, generation_tables, pooling, retrieval, scores
from breadth_experiments.grid import Grid
from breadth_experiments.latency import measure_latency
from breadth_experiments.reader import Reader
from breadth_experiments.run import Run
from breadth_experiments.shapes import SHAPES
from tests.experiments.endpoint import serving

DATA = Path(__file__).parents[2] / "examples" / "data" / "wikipedia"
GRID, MORE = Grid(("topk", "mmr"), (0.4,), (3,)), Grid(("topk", "mmr"), (0.4,), (3, 4))
VALUES = [None, "x", 3.5, -7, 10**400, [], {}, [["a", 1]], float("nan"), True]


def pool(run):
    run.path("passages.jsonl").unlink(missing_ok=True)  # a pool that was stopped, so that it reads what is there
    pooling.pool_files(run.folder, "own", DATA / "questions.jsonl", DATA / "passages.jsonl", limit=3, per_question=20)


def generate(run):
    with Reader("tiny", "http://127.0.0.1:9/v1", cache=run.path("answers.jsonl"), tries=1) as reader:
        generation.generate(run, reader)  # all answers are there, so nobody is asked


STAGES = {
    "pool": pool,
    "encode": lambda run: encoding.encode(run, encoder("builtin")),
    "retrieve": lambda run: retrieval.retrieve(run, MORE, workers=1),
    "latency": lambda run: measure_latency(run, MORE, sample=1),
    "generate": generate,
    "scores": scores.read_run,
    "tables": generation_tables.load_rows,
}
READ_BY = {
    "answers.jsonl": ["generate"],
    "candidates.jsonl": ["pool"],
    "generated.jsonl": ["generate", "tables"],
    "latency.json": ["latency"],
    "latency.jsonl": ["latency", "scores"],
    "passages.jsonl": ["encode"],
    "passages.npy": ["retrieve"],
    "passages.vectors.json": ["encode", "retrieve", "scores"],
    "questions.jsonl": ["encode", "generate", "scores"],
    "questions.npy": ["retrieve", "latency"],
    "questions.vectors.json": ["retrieve"],
    "retrieved.json": ["retrieve", "scores"],
    "retrieved.jsonl": ["retrieve", "generate", "scores"],
    "run.json": ["pool", "scores"],
}
"""The stages that read a file."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A small run with all its files."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    run = pooling.pool_files(folder, "own", DATA / "questions.jsonl", DATA / "passages.jsonl", limit=3, per_question=20)
    encoding.encode(run, encoder("builtin"))
    retrieval.retrieve(run, GRID, workers=1)
    measure_latency(run, GRID, sample=1)
    with serving() as endpoint, Reader("tiny", endpoint.url, cache=run.path("answers.jsonl")) as reader:
        generation.generate(run, reader)
    return run


def damage(path):
    """Contents that a damaged file may have."""
    data = path.read_bytes()
    yield from (b"", data[: len(data) // 2], bytes(100), b"\xe9\xff" + data, b"null\n", b"3\n", b"[]\n", b"{}\n")
    yield b"[" * 100_000 + b"\n"
    if path.suffix == ".npy":
        for array in (np.zeros(3), np.zeros((2, 2)), np.array(["a"]), np.zeros((3, 256), complex)):
            file = io.BytesIO()
            np.save(file, array)
            yield file.getvalue()
        return
    lines = data.decode().splitlines() if path.suffix == ".jsonl" else [data.decode()]
    first = json.loads(lines[0])
    for place, name in enumerate(first):
        for value in (*VALUES, *VALUES)[place % len(VALUES) :][:3]:  # each field gets some of them
            yield "\n".join([json.dumps({**first, name: value}), *lines[1:], ""]).encode()
        yield "\n".join([json.dumps({n: v for n, v in first.items() if n != name}), *lines[1:], ""]).encode()


@pytest.mark.parametrize(("name", "stage"), [(name, stage) for name, stages in READ_BY.items() for stage in stages])
def test_a_damaged_file_is_an_error_of_ours_or_does_no_harm(whole, tmp_path, name, stage):
    refused = 0
    for content in damage(whole.path(name)):
        shutil.copytree(whole.folder, tmp_path / "run")
        (tmp_path / "run" / name).write_bytes(content)
        try:
            STAGES[stage](Run.open(tmp_path / "run"))
        except BreadthError:
            refused += 1
        shutil.rmtree(tmp_path / "run")
    assert refused >= 3


def test_every_file_of_a_run_has_a_shape(whole):
    written = {path.name for path in whole.folder.iterdir() if path.suffix in (".json", ".jsonl")}
    assert written <= set(SHAPES)
    assert written == {name for name in READ_BY if not name.endswith(".npy")}


def test_an_error_names_the_line_the_field_and_what_it_should_be(whole, tmp_path):
    shutil.copytree(whole.folder, tmp_path / "run")
    lines = (tmp_path / "run" / "retrieved.jsonl").read_text().splitlines()
    lines[1] = json.dumps({**json.loads(lines[1]), "rows": "none"})
    (tmp_path / "run" / "retrieved.jsonl").write_text("\n".join(lines) + "\n")
    with pytest.raises(InputError, match=r"retrieved\.jsonl:2: 'rows' must be a list of row numbers, got 'none'"):
        scores.read_run(Run(tmp_path / "run"))
