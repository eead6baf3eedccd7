"""The small real collections behind the published results: subsets of ASQA, QAMPARI, Wikipedia and MedQuAD.

The checksums of their files are known. Other files are refused, because their results would not compare.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from breadth.errors import InputError
from breadth_experiments import datasets, records
from breadth_experiments.encoding import Vectors
from breadth_experiments.run import LIST, PARAGRAPH, Passage, Question, fingerprint

CHECKSUMS = {
    "asqa/asqa_dev_948.json": "f591478bef30a377438b717abaf9ddb92ca8306031560df4ea7a2540d9957501",
    "asqa/passages.jsonl": "4bc8db1a2c7b5e527838499bfe0d39d80e9f732e19f3b78a969455774c3f087d",
    "asqa/queries_with_pools.jsonl": "db395852399efc36e94e513b5b89bb725980af347aa019047947ce6b558139eb",
    "asqa/minilm_passages.f16.npy": "bc8c4bad5698668f40e650bd5c621d0525ad60e1e4de0dad6120dad5bd3cd939",
    "asqa/minilm_queries948.f16.npy": "fa764104b57f7ff6c2d46233148f547e3f6f5a4d344756d2588d6a7ebf74b296",
    "medquad/qa_pairs.jsonl": "89f30b8633ace6fbe1ed3f0dc7e5423a2c8d4441ecd9e8fd8c558513c78e9ed3",
    "medquad/liveqa/qrels.txt": "565fcbca824f25497d0951417e3e8f8fa6d2c37acae02cd2422e1d7f7981bf9d",
    "medquad/liveqa/questions.xml": "f6384fcf03e9b1bd0d9a15f6ea1a1aafc9491082e63fef0922ae2d6bc451805b",
    "qampari/qampari_dev_1000.json": "7ab7c32024a32d7cc0560b0b74476ab77e8dd5d682126a2318b20756dd017786",
    "wiki/passages.jsonl": "35e12fd84148e5e9a3717edd7f77f1824b3e4614f0d3b0d09bb61c2e267a45b4",
}
_LEAST_FACETS, _LEAST_SITES = 4, 2
_SITES = {
    "CancerGov": "1", "GARD": "2", "GHR": "3", "MPlusHealthTopics": "4", "NIDDK": "5",
    "NINDS": "6", "NIHSeniorHealth": "7", "NHLBI": "8", "CDC": "9",
}  # fmt: skip
"""LiveQA's names of MedQuAD's sites, and MedQuAD's numbers for them."""


@dataclass(frozen=True)
class Subset:
    """Questions and passages, the kind of answer to ask a reader for, and a note for the report."""

    questions: list[Question]
    passages: list[Passage]
    answers: str
    files: list[dict[str, Any]]
    note: str


def load(name: str, folder: Path) -> Subset:
    """A subset by its name, from the folder that holds all of them."""
    if name not in SUBSETS:
        raise InputError(f"subset must be one of {', '.join(SUBSETS)}, got {name!r}")
    return SUBSETS[name](folder)


def check_files(folder: Path, *names: str) -> tuple[list[Path], list[dict[str, Any]]]:
    """Compare checksums; return the paths of the files, and their names, sizes and checksums."""
    paths = [folder / name for name in names]
    for path in paths:
        if not path.is_file():
            raise InputError(f"there is no file {str(path)!r}; the folder must hold {', '.join(names)}")
    marks = fingerprint(paths)
    for name, mark in zip(names, marks, strict=True):
        if mark["sha256"] != CHECKSUMS[name]:
            raise InputError(f"{name} is not the expected file (its SHA-256 differs); is it complete?")
    return paths, [{**mark, "name": name} for name, mark in zip(names, marks, strict=True)]


def _load_asqa(folder: Path) -> Subset:
    (pools, passages), files = check_files(folder, "asqa/queries_with_pools.jsonl", "asqa/passages.jsonl")
    questions = [
        Question(r["id"], r["question"], tuple(tuple(pair["short_answers"]) for pair in r["qa_pairs"]))
        for r in records.read(pools)
    ]
    note = "the passages are the union of top-5 lists of 14 retrieval runs for these questions, not BM25's top-3000"
    return Subset(questions, list(datasets.read_passages(passages)), PARAGRAPH, files, note)


def _load_wikipedia(folder: Path) -> tuple[list[Passage], list[dict[str, Any]]]:
    """The passages of ASQA's pools and further ones of Wikipedia, each text once."""
    paths, files = check_files(folder, "asqa/passages.jsonl", "wiki/passages.jsonl")
    seen: dict[str, Passage] = {}
    for path in paths:
        for passage in datasets.read_passages(path):
            seen.setdefault(passage.text, passage)
    return list({p.id: p for p in seen.values()}.values()), files


def _load_asqa_bm25(folder: Path) -> Subset:
    (whole,), marks = check_files(folder, "asqa/asqa_dev_948.json")
    passages, files = _load_wikipedia(folder)
    note = f"BM25 over {len(passages):,} Wikipedia passages; the paper's collection has 21 million"
    return Subset(datasets.read_questions(whole, "asqa"), passages, PARAGRAPH, marks + files, note)


def _load_qampari_bm25(folder: Path) -> Subset:
    (whole,), marks = check_files(folder, "qampari/qampari_dev_1000.json")
    passages, files = _load_wikipedia(folder)
    note = (
        f"BM25 over {len(passages):,} Wikipedia passages that were gathered for other questions; "
        "the paper's collection has 21 million"
    )
    return Subset(datasets.read_questions(whole, "qampari"), passages, LIST, marks + files, note)


def _load_medquad(folder: Path) -> tuple[list[dict[str, Any]], list[Passage], list[dict[str, Any]]]:
    """Records and passages of MedQuAD. A few ids occur in several records; a number is added to tell them apart."""
    (path,), files = check_files(folder, "medquad/qa_pairs.jsonl")
    kept, seen = [], set()
    times: dict[str, int] = defaultdict(int)
    for record in records.read(path):
        mark = (record["question"], record["answer"], record["source"])
        if not record["answer"].strip() or mark in seen:
            continue
        seen.add(mark)
        times[record["pid"]] += 1
        suffix = "" if times[record["pid"]] == 1 else f"/{times[record['pid']]}"
        kept.append({**record, "id": record["pid"] + suffix})
    return kept, [Passage(r["id"], r["question"], r["answer"]) for r in kept], files


def _load_medquad_facets(folder: Path) -> Subset:
    """A question is a disease. Its answers are the kinds of information (symptoms, treatment …) that the sites have."""
    kept, passages, files = _load_medquad(folder)
    diseases: dict[str, dict[str, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for record in kept:
        diseases[record["focus"].strip().lower()][record["qtype"]].append(record)
    questions = []
    for disease, facets in sorted(diseases.items()):
        sites = {record["source"] for group in facets.values() for record in group}
        if len(facets) >= _LEAST_FACETS and len(sites) >= _LEAST_SITES:
            groups = tuple(tuple(r["id"] for r in facets[facet]) for facet in sorted(facets))
            questions.append(Question(disease, f"information about {disease}", relevant=groups))
    note = (
        f"questions are the diseases that {_LEAST_SITES} sites or more write about, with {_LEAST_FACETS} kinds of "
        "information or more; recall is the share of these kinds that the set holds"
    )
    return Subset(questions, passages, PARAGRAPH, files, note)


def _load_medquad_liveqa(folder: Path) -> Subset:
    """Real users' questions with graded answers. A passage judged incomplete or excellent (3, 4) is relevant.

    Passages of several sites about one kind of information on one disease are one answer.
    """
    kept, passages, files = _load_medquad(folder)
    by_id = {record["id"]: record for record in kept}
    (qrels, xml), more = check_files(folder, "medquad/liveqa/qrels.txt", "medquad/liveqa/questions.xml")
    texts = {str(node.get("qid")): _question_text(node) for node in ElementTree.parse(xml).getroot()}
    wanted: dict[str, dict[tuple[str, str], list[str]]] = defaultdict(lambda: defaultdict(list))
    for line in qrels.read_text(encoding="utf-8").splitlines():
        number, grade, file = line.split()
        record = by_id.get(_record_id(file) or "")
        if record is not None and grade[0] in "34":
            group = wanted[f"TQ{number}"][record["focus"].strip().lower(), record["qtype"]]
            if record["id"] not in group:
                group.append(record["id"])
    questions = [
        Question(key, texts[key], relevant=tuple(tuple(group) for group in groups.values()))
        for key, groups in wanted.items()
    ]
    note = (
        "LiveQA-Med 2017 questions with a MedQuAD answer judged 3 or 4; answers of the site A.D.A.M. and of the drug "
        "pages, most of the judgements, are not in MedQuAD's public text"
    )
    return Subset(questions, passages, PARAGRAPH, files + more, note)


def _question_text(node: Any) -> str:
    """The question in the editors' one sentence, or as the user wrote it."""
    for name in ("NLM-Summary", "NIST-PARAPHRASE", "Original-Question/MESSAGE"):
        text = " ".join((node.findtext(name) or "").split())
        if text:
            return text
    raise InputError(f"question {node.get('qid')} of LiveQA has no text")


def _record_id(file: str) -> str | None:
    """The id of a judged file: GHR_0000804_Sec2.txt is answer 2 of document 0000804 of site 3, 3_0000804-2."""
    match = re.fullmatch(r"([A-Za-z]+)_(\w+?)_Sec(\d+)\.txt", file)
    if match is None or match[1] not in _SITES:
        return None
    return f"{_SITES[match[1]]}_{match[2]}-{match[3]}"


def load_minilm(folder: Path, questions: list[Question]) -> tuple[Vectors, Vectors]:
    """all-MiniLM-L6-v2 vectors of the passages of `asqa`, and of these questions of ASQA."""
    names = ("asqa/minilm_passages.f16.npy", "asqa/minilm_queries948.f16.npy", "asqa/asqa_dev_948.json")
    (rows, queries, order), _ = check_files(folder, *names)
    place = {question.id: number for number, question in enumerate(datasets.read_asqa(order))}
    chosen = np.load(queries)[[place[question.id] for question in questions]]
    return _unit_rows(np.load(rows)), _unit_rows(chosen)


def _unit_rows(stored: npt.NDArray[np.float16]) -> Vectors:
    """float16 rounds the lengths of the stored rows: make them 1 again, in float32."""
    rows = stored.astype(np.float32)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


SUBSETS: dict[str, Callable[[Path], Subset]] = {
    "asqa": _load_asqa,
    "asqa-bm25": _load_asqa_bm25,
    "qampari-bm25": _load_qampari_bm25,
    "medquad-facets": _load_medquad_facets,
    "medquad-liveqa": _load_medquad_liveqa,
}
