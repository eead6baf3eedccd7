"""The stages on small real runs: what they write, that they resume where they stopped, that wrong input is refused."""

from __future__ import annotations

import json
import sys
import types
from pathlib import Path

import numpy as np
import pytest

import breadth
from breadth.encoders import encoder
from breadth.errors import InputError, MissingExtraError
from breadth_experiments import copies, encoding, pooling, report, retrieval, scores
from breadth_experiments.engine import Engine
from breadth_experiments.evidence import Evidence
from breadth_experiments.grid import Grid
from breadth_experiments.latency import measure_latency
from breadth_experiments.records import read
from breadth_experiments.run import Passage, Question, Run

DATA = Path(__file__).parents[2] / "examples" / "data" / "wikipedia"
GRID = Grid(("topk", "mmr", "dpp", "vrsd", "muss", "frank_wolfe", "certified"), (0.4, 0.8), (5, 10))


def make_pool(folder: Path, limit: int | None = 6) -> Run:
    return pooling.pool_files(folder, "own", DATA / "questions.jsonl", DATA / "passages.jsonl", limit=limit)


@pytest.fixture(scope="module")
def encoded(tmp_path_factory) -> Run:
    run = make_pool(tmp_path_factory.mktemp("run"))
    encoding.encode(run, encoder("builtin"))
    return run


@pytest.fixture(scope="module")
def swept(encoded) -> Run:
    retrieval.retrieve(encoded, GRID, workers=1)
    measure_latency(encoded, GRID, sample=2)
    return encoded


def test_the_pool_is_what_bm25_finds_for_each_question(tmp_path):
    run = pooling.pool_files(
        tmp_path, "own", DATA / "questions.jsonl", DATA / "passages.jsonl", per_question=20, limit=4
    )
    found = list(read(run.path("candidates.jsonl")))
    assert [len(r["passages"]) for r in found] == [20] * 4
    merged = dict.fromkeys(i for r in found for i in r["passages"])
    assert [p.id for p in run.passages()] == list(merged)
    assert run.facts["passages"] == len(merged)
    assert [f["name"] for f in run.facts["files"]] == ["questions.jsonl", "passages.jsonl"]


def test_a_pool_goes_on_where_it_stopped(tmp_path):
    stop = pytest.raises(RuntimeError)

    def interrupt(done: int, total: int) -> None:
        if done == 3:
            raise RuntimeError("stopped")

    arguments = (tmp_path, "own", DATA / "questions.jsonl", DATA / "passages.jsonl")
    with stop:
        pooling.pool_files(*arguments, per_question=20, limit=6, progress=interrupt)
    assert len(list(read(tmp_path / "candidates.jsonl"))) == 3
    run = pooling.pool_files(*arguments, per_question=20, limit=6)
    assert len(list(read(tmp_path / "candidates.jsonl"))) == 6
    with pytest.raises(InputError, match="holds a run with other questions"):
        pooling.pool_files(*arguments, per_question=20, limit=5)
    with pytest.raises(InputError, match="holds a run with other top"):
        pooling.pool_files(*arguments, per_question=30, limit=6)
    assert len(run.questions()) == 6


def test_wrong_input_to_the_pool(tmp_path):
    with pytest.raises(InputError, match="exactly one of --passages"):
        pooling.pool_files(tmp_path, "own", DATA / "questions.jsonl", None)
    with pytest.raises(InputError, match="is not a run folder"):
        Run.open(tmp_path)
    with pytest.raises(InputError, match="run `breadth experiment pool` first"):
        Run(tmp_path).questions()


def test_a_pool_that_failed_does_not_block_its_folder(tmp_path):
    with pytest.raises(InputError, match="has no id"):
        pooling.pool_files(tmp_path, "own", DATA / "questions.jsonl", DATA / "questions.jsonl")
    assert len(make_pool(tmp_path).questions()) == 6
    assert make_pool(tmp_path).complete  # again, with nothing to do


def test_a_lucene_index_is_asked_through_pyserini(tmp_path, monkeypatch):
    passages = {"1": '"Rome"\nRome is a city.', "2": '"Oslo"\nOslo is in Norway.'}

    class Searcher:
        def __init__(self, folder):
            self.folder = folder

        @classmethod
        def from_prebuilt_index(cls, name):
            return None if name == "no-such-index" else cls(name)

        def search(self, question, count):
            return [types.SimpleNamespace(docid=key) for key in passages][:count]

        def doc(self, identity):
            text = json.dumps({"id": identity, "contents": passages[identity]})
            return types.SimpleNamespace(raw=lambda: text)

    module = types.ModuleType("pyserini.search.lucene")
    module.LuceneSearcher = Searcher
    for name in ("pyserini", "pyserini.search"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, "pyserini.search.lucene", module)
    run = pooling.pool_files(tmp_path / "a", "own", DATA / "questions.jsonl", None, lucene="wikipedia-dpr-100w")
    assert run.passages() == [Passage("1", "Rome", "Rome is a city."), Passage("2", "Oslo", "Oslo is in Norway.")]
    with pytest.raises(InputError, match="no-such-index"):
        pooling.pool_files(tmp_path / "b", "own", DATA / "questions.jsonl", None, lucene="no-such-index")
    monkeypatch.setitem(sys.modules, "pyserini.search.lucene", None)
    with pytest.raises(MissingExtraError, match="pyserini"):
        pooling.pool_files(tmp_path / "c", "own", DATA / "questions.jsonl", None, lucene="wikipedia-dpr-100w")


class Letters:
    """Counts letters; fails when it is told to."""

    name, dim = "letters", 26

    def __init__(self, fail_after: int = 10**9) -> None:
        self.left = fail_after
        self.encoded = 0

    def encode(self, texts, kind="document"):
        self.left -= 1
        if self.left < 0:
            raise RuntimeError("stopped")
        self.encoded += len(texts)
        rows = np.array([[t.lower().count(chr(97 + j)) for j in range(26)] for t in texts], dtype=np.float32)
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


def test_encoding_goes_on_where_it_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(encoding, "_BLOCK", 50)
    run = make_pool(tmp_path)
    size = len(run.passages())
    with pytest.raises(RuntimeError, match="stopped"):
        encoding.encode(run, Letters(fail_after=3))
    assert not run.path("passages.npy").exists()
    rest = Letters()
    seen = []
    encoding.encode(run, rest, progress=lambda done, total: seen.append((done, total)))
    assert rest.encoded == size - 150 + 6
    assert seen[-1] == (size + 6, size + 6)
    rows, questions = encoding.load_vectors(run)
    whole = Letters().encode([p.text if p.text.startswith(p.title) else f"{p.title}\n{p.text}" for p in run.passages()])
    assert np.array_equal(rows, whole)
    assert questions.shape == (6, 26)
    again = Letters()
    encoding.encode(run, again)
    assert again.encoded == 0
    other = Letters()
    other.name = "others"
    with pytest.raises(InputError, match="was made by letters"):
        encoding.encode(run, other)


def test_an_interrupted_second_encoding_is_not_taken_for_a_finished_one(tmp_path, monkeypatch):
    monkeypatch.setattr(encoding, "_BLOCK", 50)
    run = make_pool(tmp_path)
    encoding.encode(run, Letters())
    passages = run.passages()
    run.write_passages([Passage(p.id, p.title, p.text[::-1]) for p in passages[::-1]])
    with pytest.raises(RuntimeError, match="stopped"):
        encoding.encode(run, Letters(fail_after=2))
    with pytest.raises(InputError, match="run `breadth experiment encode` first"):
        encoding.load_vectors(run)
    rest = Letters()
    encoding.encode(run, rest)
    assert rest.encoded == len(passages) - 100
    assert len(encoding.load_vectors(run)[0]) == len(passages)
    run.path("passages.npy").write_bytes(run.path("passages.npy").read_bytes()[:200])
    with pytest.raises(InputError, match="delete it and encode again"):
        encoding.load_vectors(run)


def test_sets_are_not_mixed_with_those_of_other_vectors_or_engines(tmp_path):
    run = make_pool(tmp_path, limit=2)
    grid = Grid(("topk",), ks=(3,))
    encoding.encode(run, Letters())
    assert retrieval.retrieve(run, grid, workers=1) == 2
    measure_latency(run, Grid(("topk",), (0.5,), (3,)), sample=1)
    with pytest.raises(InputError, match="was made with other engine"):
        retrieval.retrieve(run, grid, engine=Engine("compact"), workers=1)
    with pytest.raises(InputError, match="was made with other engine"):
        measure_latency(run, grid, engine=Engine("compact"))
    encoding.encode(run, Letters(), dtype="float16")
    with pytest.raises(InputError, match="was made with other vectors"):
        retrieval.retrieve(run, grid, workers=1)
    run.path("retrieved.jsonl").unlink()
    assert retrieval.retrieve(run, grid, workers=1) == 2  # and with the new vectors, in the same process
    with pytest.raises(InputError, match="was made by letters, not by others"):
        encoding.store_vectors(run, "others", np.ones((len(run.passages()), 2)), np.ones((2, 2)))


def test_copies_of_a_listed_passage_hold_its_answer(tmp_path):
    question = Question("1", "?", relevant=(("a",), ("b", "c")))
    (found,) = pooling._list_copies([question], 2)
    assert found.relevant == (("a", "a~1", "a~2"), ("b", "b~1", "b~2", "c", "c~1", "c~2"))
    made = list(copies.add_copies([Passage("a", "", "One sentence.")], 2))
    assert [p.id for p in made] == ["a", "a~1", "a~2"]


def test_a_passage_id_twice_is_an_error(tmp_path):
    path = tmp_path / "p.jsonl"
    path.write_text('{"id": "1", "title": "", "text": "rome"}\n{"id": "1", "title": "", "text": "oslo"}\n')
    with pytest.raises(InputError, match="two passages have the id '1'"):
        pooling.pool_files(tmp_path / "run", "own", DATA / "questions.jsonl", path)
    path.write_text("")
    with pytest.raises(InputError, match="no passages"):
        pooling.pool_files(tmp_path / "run2", "own", DATA / "questions.jsonl", path)


def test_vectors_belong_to_their_texts(tmp_path):
    run = make_pool(tmp_path)
    encoding.encode(run, Letters(), dtype="float16")
    assert encoding.load_vectors(run)[0].dtype == np.float16
    run.write_passages([Passage("1", "t", "another text")])
    with pytest.raises(InputError, match="made from other texts"):
        encoding.load_vectors(run)
    with pytest.raises(InputError, match="dtype must be"):
        encoding.encode(run, Letters(), dtype="int8")
    run.write_passages([Passage("1", "", "123")])
    with pytest.raises(InputError, match="knows no word of passage 0"):
        encoding.encode(without_vectors(run), Letters())


def without_vectors(run: Run) -> Run:
    for name in ("passages.npy", "passages.vectors.json"):
        run.path(name).unlink()
    return run


def test_evidence_looks_for_whole_words_or_for_listed_passages():
    passages = [
        Passage("a", "Art", "The party began."),
        Passage("b", "", "In 1,999 the U.S. won."),
        Passage("c", "", ""),
    ]
    by_text = Question("1", "?", (("art",), ("parties", "the US"), ("99",)))
    listed = Question("2", "?", relevant=(("a", "c"), ("b",), ("zzz",)))
    evidence = Evidence([by_text, listed], passages)
    assert evidence.recall("1", [0]) == pytest.approx(1 / 3)
    assert evidence.answers_held("1", 0) == {0}
    assert evidence.recall("1", [0, 1]) == pytest.approx(2 / 3)
    assert evidence.recall("2", [2]) == pytest.approx(1 / 3)
    assert evidence.recall("2", [0, 2]) == pytest.approx(1 / 3)
    assert evidence.recall("2", [0, 1]) == pytest.approx(2 / 3)
    with pytest.raises(InputError, match="wants no answer"):
        Evidence([Question("3", "?")], passages)
    with pytest.raises(InputError, match="answers of question '4' must be a non-empty list of lists"):
        Evidence([Question("4", "?", ((),))], passages)


def test_the_recall_of_the_experiments_is_the_public_one(encoded):
    passages, rng = encoded.passages(), np.random.default_rng(5)
    evidence = Evidence(encoded.questions(), passages)
    seen = set()
    for question in encoded.questions():
        for size in (5, 40, 200):
            rows = rng.choice(len(passages), size, replace=False).tolist()
            texts = [f"{passages[row].title}\n{passages[row].text}" for row in rows]
            recall = evidence.recall(question.id, rows)
            assert recall == breadth.metrics.answer_recall(texts, question.answers)
            seen.add(recall)
    assert len(seen) > 3


def test_the_sets_are_those_that_select_gives(swept):
    rows, queries = encoding.load_vectors(swept)
    found = {(r["method"], r["k"], r["theta"], r["question"]): r for r in read(swept.path("retrieved.jsonl"))}
    assert len(found) == len(GRID.cells()) * 6
    evidence = Evidence(swept.questions(), swept.passages())
    for (method, k, theta, question), record in found.items():
        number = [q.id for q in swept.questions()].index(question)
        options = {} if theta is None else {"theta": theta}
        one = breadth.select(np.asarray(rows), queries[number], k=k, method=method, **options, sharpness=1)
        if method != "certified":  # where searches are shared, the best of two equally good sets may be the other
            assert record["rows"] == one.ids.tolist(), (method, k, theta)
        assert record["relevance"] == pytest.approx(one.relevance, abs=2e-4)
        assert record["ilad"] == pytest.approx(one.diversity, abs=2e-4)
        assert record["recall"] == evidence.recall(question, record["rows"])
    assert all(("bound" in r) == (r["method"] in ("certified", "frank_wolfe")) for r in found.values())


def test_a_sweep_goes_on_where_it_stopped_whatever_the_number_of_processes(swept, tmp_path):
    whole = swept.path("retrieved.jsonl").read_bytes()
    lines = whole.splitlines(keepends=True)
    other = Run(tmp_path)
    for name in ("run.json", "questions.jsonl", "passages.jsonl", "passages.npy", "questions.npy"):
        other.path(name).write_bytes(swept.path(name).read_bytes())
    for name in ("passages.vectors.json", "questions.vectors.json", "retrieved.json"):
        other.path(name).write_bytes(swept.path(name).read_bytes())
    other.path("retrieved.jsonl").write_bytes(b"".join(lines[:-7]) + lines[-7][:20])
    reports = []
    retrieval.retrieve(other, GRID, workers=2, progress=lambda done, total: reports.append((done, total)))
    assert reports[-1] == (len(lines), len(lines))
    key = [(r["method"], r["k"], r["theta"], r["question"]) for r in read(other.path("retrieved.jsonl"))]
    assert len(key) == len(set(key)) == len(lines)
    again = {json.dumps(r, sort_keys=True) for r in read(other.path("retrieved.jsonl"))}
    assert again == {json.dumps(r, sort_keys=True) for r in read(swept.path("retrieved.jsonl"))}
    assert retrieval.retrieve(other, GRID, workers=1) == 0


def test_wrong_input_to_the_sweep(encoded):
    with pytest.raises(InputError, match="method must be one of"):
        Grid(("best",))
    with pytest.raises(InputError, match="theta must be"):
        Grid(("mmr",), (7.0,))
    with pytest.raises(InputError, match="k must be"):
        Grid(("mmr",), ks=(0,))
    with pytest.raises(InputError, match="k must be at most the number of passages"):
        retrieval.retrieve(encoded, Grid(("topk",), ks=(10_000,)))
    with pytest.raises(InputError, match="engine must be"):
        retrieval.retrieve(encoded, Grid(("topk",), ks=(3,)), engine=Engine("faiss"), workers=1)


@pytest.mark.parametrize("engine", [Engine("compact"), Engine("torch", "cpu")])
def test_other_engines_find_the_same(swept, engine):
    rows, queries = encoding.load_vectors(swept)
    oracle = engine.build_oracle(np.asarray(rows))
    array = breadth.select_many(np.asarray(rows), queries, k=10, theta=0.7, sharpness=1)
    for a, b in zip(array, breadth.select_many(oracle, queries, k=10, theta=0.7, sharpness=1), strict=True):
        assert a.objective == pytest.approx(b.objective, abs=1e-5)


def test_the_report(swept):
    written = report.write_report(swept)
    assert {p.suffix for p in written} == {".gz", ".md", ".png", ".svg"}
    assert all(p.stat().st_size > 100 for p in written)
    page = (swept.path("report") / "retrieval.md").read_text(encoding="utf-8")
    for text in ("| certified | 0.4 |", "## Area under the frontier", "## On the objective", "6 questions"):
        assert text in page
    found = scores.read_run(swept)
    assert found.ks == [5, 10]
    assert found.thetas == [0.4, 0.8]
    assert len(found.seconds["mmr", 5, 0.4]) == 2
    for record in report.comparison.tally_objectives(
        found, "certified", [m for m in found.methods if m != "certified"]
    ):
        assert record.worse == 0


@pytest.mark.parametrize(
    "grids",
    [
        [(("topk",), (0.5,), (3,))],
        [(("certified",), (0.8,), (3,)), (("mmr",), (0.5,), (3,))],
        [(("topk", "mmr"), (0.5,), (3,)), (("mmr",), (0.5,), (5,))],
        [(("topk", "mmr"), (0.5,), (3,)), (("topk",), (0.5,), (5,))],
    ],
)
def test_a_report_of_a_part_of_the_grid(tmp_path, grids):
    run = make_pool(tmp_path, limit=3)
    encoding.encode(run, Letters())
    for methods, thetas, ks in grids:
        retrieval.retrieve(run, Grid(methods, thetas, ks), workers=1)
    lines = run.path("retrieved.jsonl").read_bytes()
    run.path("retrieved.jsonl").write_bytes(lines + b'{"method": "mm')  # as a kill leaves it
    assert all(path.stat().st_size > 100 for path in report.write_report(run))


def test_a_report_does_not_name_vectors_that_did_not_make_it(tmp_path):
    run = make_pool(tmp_path, limit=2)
    encoding.encode(run, Letters())
    retrieval.retrieve(run, Grid(("topk",), ks=(3,)), workers=1)
    for name in ("passages.npy", "questions.npy"):
        run.path(name).unlink()
    other = Letters()
    other.name = "others"
    encoding.encode(run, other)
    with pytest.raises(InputError, match="made with other passages or vectors"):
        report.write_report(run)


def test_figures_are_the_same_bytes_each_time(swept, tmp_path):
    points = report.comparison.points(scores.read_run(swept))
    first, second = (report.figures.draw_retrieval(points, "t", tmp_path / name) for name in ("a", "b"))
    assert [p.read_bytes() for p in first] == [p.read_bytes() for p in second]


def test_questions_that_some_cells_lack_are_left_out(tmp_path):
    run = make_pool(tmp_path, limit=6)
    encoding.encode(run, Letters())
    retrieval.retrieve(run, Grid(("topk",), ks=(3,)), workers=1)
    retrieval.retrieve(run, Grid(("mmr",), (0.5,), (3,)), workers=1, limit=4)
    retrieval.retrieve(run, Grid(("dpp",), (0.5,), (3,)), workers=1, limit=1)
    found = scores.read_run(run)
    assert len(found.questions) == 4
    assert found.facts["incomplete"] == [["dpp", 3, 0.5]]
    assert "Left out" in "\n".join(report.description(found))
    assert "6 questions" in "\n".join(report.description(found))


def test_a_report_without_sets_says_what_to_do(encoded, tmp_path):
    run = make_pool(tmp_path)
    with pytest.raises(InputError, match="run `breadth experiment retrieve` first"):
        report.write_report(run)


def test_near_copies_are_near_and_the_first_ones_stay(encoded):
    passages = encoded.passages()[:40]
    two, three = list(copies.add_copies(passages, 2)), list(copies.add_copies(passages, 3))
    assert [p for p in two if "~" not in p.id] == passages
    assert set(two) <= set(three)
    assert len({p.id for p in three}) == len(three) == 160
    assert all(copy.text != passages[0].text for copy in three[1:4])
    made = encoder("builtin")
    near = made.encode([p.text for p in three]).reshape(40, 4, -1)
    similar = np.einsum("pcd,pd->pc", near[:, 1:], near[:, 0])
    other = near[:, 0] @ near[:, 0].T - np.eye(40)
    assert np.quantile(similar, 0.05) > 0.8
    assert np.quantile(similar, 0.05) > np.quantile(other, 0.95)
    assert list(copies.add_copies(passages, 0)) == passages
