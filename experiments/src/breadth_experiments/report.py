"""The stage `report`: the figures and tables of a run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from breadth.errors import InputError
from breadth_experiments import comparison, figures, generation_tables, scores
from breadth_experiments.comparison import Point
from breadth_experiments.run import Run
from breadth_experiments.scores import Scores
from breadth_experiments.statistics import Difference

OURS, PAPERS = "certified", "frank_wolfe"
PRACTICAL = 0.5
"""The paper calls smaller θ not practical."""


def write_report(run: Run) -> list[Path]:
    """Write the folder `report` of the run: scores.json.gz, and retrieval.md, .png and .svg.

    Once a reader has answered, also generation.md and .tex.
    """
    if not run.complete:
        raise InputError(f"{run.folder} has no complete pool; run `breadth experiment pool` first")
    folder = run.path("report")
    found = scores.read_run(run)
    scores.save(found, folder / "scores.json.gz")
    title = str(found.facts.get("dataset", run.folder.name))
    page = [f"# {title}: retrieval", "", *description(found), "", *retrieval_tables(found), ""]
    (folder / "retrieval.md").write_text("\n".join(page), encoding="utf-8")
    written = [folder / "scores.json.gz", folder / "retrieval.md"]
    written += figures.draw_retrieval(comparison.points(found), title, folder / "retrieval")
    for name in ("generation.md", "generation.tex"):
        (folder / name).unlink(missing_ok=True)
    if run.path("generated.jsonl").is_file():
        rows = generation_tables.load_rows(run)
        for name, text in (
            ("generation.md", generation_tables.markdown(rows, intervals=True)),
            ("generation.tex", generation_tables.latex(rows)),
        ):
            (folder / name).write_text(text + "\n", encoding="utf-8")
            written.append(folder / name)
    return written


def description(found: Scores) -> list[str]:
    """What was run: questions, passages, encoder, engine, and what is special about them."""
    facts = found.facts
    lines = [
        f"{len(found.questions):,} questions, {facts['passages']:,} passages, encoder {facts.get('encoder')} "
        f"({facts.get('dim')} dimensions), engine {facts.get('engine')}; {facts.get('note', 'no note')}."
    ]
    if "ceiling" in facts:
        lines.append(f"All passages together hold {facts['ceiling']:.3f} of the answers: no recall can be above that.")
    if len(found.questions) < facts.get("asked", 0):
        lines.append(f"The run has {facts['asked']:,} questions; only those with all their sets are counted.")
    for method, k, theta in facts.get("incomplete", ()):
        lines.append(f"Left out because most of its sets are missing: {method}, k = {k}, θ = {theta}.")
    if facts.get("copies"):
        lines.append(f"Every passage has {facts['copies']} near-copies.")
    return lines


def retrieval_tables(found: Scores) -> list[str]:
    """All tables about retrieval."""
    times = " and median ms per query" if found.seconds else ""
    lines = [f"Mean recall and ILAD over the questions{times}, with 95 % bootstrap intervals in brackets.", ""]
    lines += sweep_table(comparison.points(found), found.ks)
    if comparison.ks_with_frontier(found):
        lines += ["", "## Area under the frontier", "", *area_tables(found)]
    lines += ["", "## At the same θ", "", *same_theta_table(found)]
    if OURS in found.methods and len(found.methods) > 1:
        lines += ["", "## On the objective", "", *objective_table(found)]
    return lines


def sweep_table(points: Sequence[Point], ks: Sequence[int]) -> list[str]:
    """Methods and θ down, k across."""
    timed = any(p.milliseconds is not None for p in points)
    more = ("ms",) if timed else ()
    head = ["method", "θ", *(name for k in ks for name in (f"recall@{k}", f"ILAD, k = {k}", *more))]
    rows = []
    known = {(p.method, p.k, p.theta): p for p in points}
    for method, theta in dict.fromkeys((p.method, p.theta) for p in points):
        cells = [method, "" if theta is None else f"{theta:g}"]
        for k in ks:
            point = known.get((method, k, theta))
            if point is None:
                cells += [""] * (2 + len(more))
            else:
                time = "" if point.milliseconds is None else f"{point.milliseconds:.1f}"
                cells += [str(point.recall), f"{point.ilad.mean:.3f}", *([time] if timed else ())]
        rows.append(cells)
    return table(head, rows)


def area_tables(found: Scores, references: Sequence[str] = (OURS, PAPERS)) -> list[str]:
    """Mean recall along each frontier, on the whole range and on the practical one, and the references' lead."""
    known = [r for r in references if r in found.methods]
    ks = comparison.ks_with_frontier(found)
    ranges: dict[str, tuple[str, float] | None] = {"the largest that any method reaches": None}
    at = [comparison.mean_ilad(found, (PAPERS, PRACTICAL), k) for k in ks if found.has(PAPERS, k, PRACTICAL)]
    if len(at) == len(ks) and all(x > comparison.frontier_start(found, k) for x, k in zip(at, ks, strict=True)):
        ranges[f"that of `{PAPERS}` at θ = {PRACTICAL:g}, the practical range"] = (PAPERS, PRACTICAL)
    lines = [
        "Mean recall along the frontier, the concave hull of a method's points and top-k's. `ahead` is the reference's",
        "area minus the method's; * marks a 95 % interval over questions that excludes 0. Beyond its last point a",
        "frontier counts as 0.",
    ]
    head = ["method", *(name for k in ks for name in (f"area, k = {k}", *(f"{r} ahead" for r in known)))]
    for name, practical in ranges.items():
        areas = {k: comparison.areas(found, k, known, practical) for k in ks}
        rows = []
        for method in areas[ks[0]]:
            cells = [method]
            for k in ks:
                cells += [str(areas[k][method].area), *(_gap(areas[k][method].ahead.get(r)) for r in known)]
            rows.append(cells)
        lines += ["", f"From top-k's ILAD to {name}:", "", *table(head, rows)]
    return lines


def _gap(difference: Difference | None) -> str:
    if difference is None:
        return ""
    star = "*" if difference.low > 0 or difference.high < 0 else ""
    return f"{difference.mean:+.4f}{star}"


def same_theta_table(found: Scores) -> list[str]:
    """Paired tests at every θ and k: how many find a difference in recall or diversity, and how many find dominance."""
    lines = [
        "Paired permutation tests at every k and θ, corrected (Holm) for each pair of methods. The columns count the",
        "tests in which recall and ILAD are significantly higher / lower, and those in which one of them is higher and",
        "the other is not lower.",
        "",
    ]
    rows = []
    for method in (OURS, PAPERS):
        for other in (m for m in found.methods if m != method):
            duels = comparison.duels(found, method, other) if method in found.methods else []
            if duels:
                counts = [
                    f"{sum(d.sign(name) > 0 for d in duels)} / {sum(d.sign(name) < 0 for d in duels)}"
                    for name in ("recall", "ilad")
                ]
                rows.append([method, other, str(len(duels)), *counts, str(sum(d.dominates for d in duels))])
    if not rows:
        return ["No two methods have sets at the same θ."]
    return [*lines, *table(["method", "against", "tests", "recall", "ILAD", "dominates"], rows)]


def objective_table(found: Scores) -> list[str]:
    """How often our set has the higher objective, over all questions, k and θ."""
    others = [m for m in found.methods if m != OURS]
    rows = []
    for tally in comparison.tally_objectives(found, OURS, others):
        n = tally.cells
        if n == 0:
            continue
        shares = [f"{count:,} ({count / n:.2%})" for count in (tally.better, tally.tied, tally.worse)]
        rows.append([tally.other, f"{n:,}", *shares])
    return table(["against", "cells", f"{OURS} higher", "equal", f"{OURS} lower"], rows)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]
