"""The stage `report`: figures and tables of a run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from breadth.experiments import comparison, figures, generation_tables, scores
from breadth.experiments.comparison import Point
from breadth.experiments.run import Run
from breadth.experiments.scores import Scores
from breadth.experiments.statistics import Difference

OURS, PAPERS = "certified", "frank_wolfe"
PRACTICAL = 0.5
"""The paper calls θ below this not practical."""


def report(run: Run) -> list[Path]:
    """Write what there is to the folder `report` of the run: scores.json.gz, retrieval.md, .png and .svg; and
    generation.md and .tex once a reader has answered."""
    folder = run.path("report")
    found = scores.of_run(run)
    scores.save(found, folder / "scores.json.gz")
    title = str(found.facts.get("dataset", run.folder.name))
    page = [f"# {title}: retrieval", "", *described(found), "", *retrieval(found), ""]
    (folder / "retrieval.md").write_text("\n".join(page), encoding="utf-8")
    written = [folder / "scores.json.gz", folder / "retrieval.md"]
    written += figures.retrieval(comparison.points(found), title, folder / "retrieval")
    if run.path("generated.jsonl").is_file():
        rows = generation_tables.tables(run)
        for name, text in (
            ("generation.md", generation_tables.markdown(rows, intervals=True)),
            ("generation.tex", generation_tables.latex(rows)),
        ):
            (folder / name).write_text(text + "\n", encoding="utf-8")
            written.append(folder / name)
    return written


def described(found: Scores) -> list[str]:
    """What the scores are about, in words."""
    facts = found.facts
    lines = [
        f"{len(found.questions):,} questions, {facts['passages']:,} passages, encoder {facts['encoder']} "
        f"({facts['dim']} dimensions); {facts['note']}."
    ]
    if facts.get("copies"):
        lines.append(f"Every passage has {facts['copies']} near-copies.")
    return lines


def retrieval(found: Scores) -> list[str]:
    """All tables about retrieval."""
    lines = ["Recall, ILAD (means over questions) and median ms per query; in brackets 95 % bootstrap intervals.", ""]
    lines += sweep_table(comparison.points(found), found.ks)
    if "topk" in found.methods:
        lines += ["", "## Area under the frontier", "", *area_tables(found)]
    if OURS in found.methods:
        lines += ["", "## On the objective", "", *objective_table(found)]
    return lines


def sweep_table(points: Sequence[Point], ks: Sequence[int]) -> list[str]:
    """Methods and θ down, k across."""
    head = ["method", "θ", *(name for k in ks for name in (f"recall@{k}", f"ILAD, k = {k}", "ms"))]
    rows = []
    known = {(p.method, p.k, p.theta): p for p in points}
    for method, theta in dict.fromkeys((p.method, p.theta) for p in points):
        cells = [method, "" if theta is None else f"{theta:g}"]
        for k in ks:
            point = known.get((method, k, theta))
            if point is None:
                cells += ["", "", ""]
            else:
                time = "" if point.milliseconds is None else f"{point.milliseconds:.1f}"
                cells += [str(point.recall), f"{point.ilad.mean:.3f}", time]
        rows.append(cells)
    return table(head, rows)


def area_tables(found: Scores, references: Sequence[str] = (OURS, PAPERS)) -> list[str]:
    """Mean recall along each frontier, for all θ and for the practical ones, and how far the reference is ahead."""
    known = [r for r in references if r in found.methods]
    ranges: dict[str, tuple[str, float] | None] = {"whole": None}
    if found.has(PAPERS, found.ks[0], PRACTICAL):
        ranges["practical"] = (PAPERS, PRACTICAL)
    head = ["k", "range", "method", "area", *(f"{r} ahead" for r in known)]
    rows = []
    for k in found.ks:
        for name, practical in ranges.items():
            sides = {r: {a.method: a for a in comparison.areas(found, k, r, practical)} for r in known}
            for method, area in next(iter(sides.values())).items():
                ahead = [_gap(sides[r][method].ahead) for r in known]
                rows.append([str(k), name, method, str(area.area), *ahead])
    lines = [
        "Mean recall along the frontier (concave hull of a method's points and top-k's), from top-k's ILAD to the",
        f"largest that any method reaches (whole) or to that of `{PAPERS}` at θ = {PRACTICAL:g} (practical). `ahead`:",
        "the reference's area minus the method's, * where its 95 % interval over questions excludes 0.",
        "",
    ]
    return [*lines, *table(head, rows)]


def _gap(difference: Difference | None) -> str:
    if difference is None:
        return ""
    star = "*" if difference.low > 0 or difference.high < 0 else ""
    return f"{difference.mean:+.4f}{star}"


def objective_table(found: Scores) -> list[str]:
    """How often another method's set has a higher objective than ours: over all questions, k and θ."""
    others = [m for m in found.methods if m != OURS]
    rows = []
    for record in comparison.on_objective(found, OURS, others):
        n = record.cells
        shares = [f"{count:,} ({count / n:.1%})" for count in (record.better, record.tied, record.worse)]
        rows.append([record.other, f"{n:,}", *shares])
    return table(["against", "cells", f"{OURS} higher", "equal", f"{OURS} lower"], rows)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]
