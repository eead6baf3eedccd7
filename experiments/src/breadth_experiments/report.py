"""The stage `report`: figures and tables of a run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from breadth_experiments import comparison, figures, generation_tables, scores
from breadth_experiments.comparison import Point
from breadth_experiments.run import Run
from breadth_experiments.scores import Scores
from breadth_experiments.statistics import Difference

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
    for name in ("generation.md", "generation.tex"):
        (folder / name).unlink(missing_ok=True)
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
        f"{len(found.questions):,} questions, {facts['passages']:,} passages, encoder {facts.get('encoder')} "
        f"({facts.get('dim')} dimensions), engine {facts.get('engine')}; {facts['note']}."
    ]
    if "ceiling" in facts:
        lines.append(f"All passages together hold {facts['ceiling']:.3f} of the answers: no recall can be above that.")
    if len(found.questions) < facts.get("asked", 0):
        lines.append(f"The run has {facts['asked']:,} questions; these are the ones with all their sets.")
    for method, k, theta in facts.get("incomplete", ()):
        lines.append(f"Left out, since most of its sets are missing: {method}, k = {k}, θ = {theta}.")
    if facts.get("copies"):
        lines.append(f"Every passage has {facts['copies']} near-copies.")
    return lines


def retrieval(found: Scores) -> list[str]:
    """All tables about retrieval."""
    times = " and median ms per query" if found.seconds else ""
    lines = [f"Recall, ILAD (means over questions){times}; in brackets 95 % bootstrap intervals.", ""]
    lines += sweep_table(comparison.points(found), found.ks)
    if comparison.frontiers(found):
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
    """Mean recall along each frontier, on the whole range and the practical one; how far the references are ahead."""
    known = [r for r in references if r in found.methods]
    ks = comparison.frontiers(found)
    ranges: dict[str, tuple[str, float] | None] = {"the largest that any method reaches": None}
    at = [comparison.ilad_at(found, (PAPERS, PRACTICAL), k) for k in ks if found.has(PAPERS, k, PRACTICAL)]
    if len(at) == len(ks) and all(x > comparison.start_of(found, k) for x, k in zip(at, ks, strict=True)):
        ranges[f"that of `{PAPERS}` at θ = {PRACTICAL:g}, the practical range"] = (PAPERS, PRACTICAL)
    lines = [
        "Mean recall along the frontier (concave hull of a method's points and top-k's). `ahead`: the reference's area",
        "minus the method's, * where its 95 % interval over questions excludes 0. Where a method does not reach, its",
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
    """Paired tests at every θ and k: in how many recall and diversity differ, and in how many one method dominates."""
    lines = [
        "Paired permutation tests at every k and θ, corrected (Holm) for each pair of methods: in how many of them",
        "recall and ILAD are significantly higher / lower, and in how many one is higher and the other not lower.",
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
        return ["No two methods have sets for the same θ."]
    return [*lines, *table(["method", "against", "tests", "recall", "ILAD", "dominates"], rows)]


def objective_table(found: Scores) -> list[str]:
    """How often another method's set has a higher objective than ours: over all questions, k and θ."""
    others = [m for m in found.methods if m != OURS]
    rows = []
    for record in comparison.on_objective(found, OURS, others):
        n = record.cells
        if n == 0:
            continue
        shares = [f"{count:,} ({count / n:.2%})" for count in (record.better, record.tied, record.worse)]
        rows.append([record.other, f"{n:,}", *shares])
    return table(["against", "cells", f"{OURS} higher", "equal", f"{OURS} lower"], rows)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]
