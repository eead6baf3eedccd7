"""Write docs/results.md with its figures and tables from the committed result files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks import claims
from benchmarks.experiments import COPIES, FOLDER, PAPERS_METHODS, load_answers
from benchmarks.report import ROOT
from breadth_experiments import comparison, figures, generation_tables, report, scores
from breadth_experiments.scores import Scores
from breadth_experiments.statistics import difference, flips_for, holm, resamples

DOCS = ROOT / "docs"
_TITLES = {
    "asqa": "ASQA",
    "qampari": "QAMPARI",
    "medquad-facets": "MedQuAD, kinds of information about a disease",
    "medquad-liveqa": "MedQuAD, questions of LiveQA-Med 2017",
}


def render(figures_too: bool = True) -> None:
    """Write the page and, unless `figures_too` is false, its figures."""
    known = {name: scores.load(FOLDER / f"{name}.json.gz") for name in _TITLES}
    redundant = [(r, scores.load(FOLDER / f"asqa-copies-{r}.json.gz")) for r in COPIES]
    notes = (FOLDER / "notes.md").read_text(encoding="utf-8").splitlines()
    notes += [_objective_note([*known.values(), *(found for _, found in redundant)])]
    lines = [*_head(known), "## What we learned", "", *notes, "", *_claims_table(known, redundant)]
    lines += _asqa_section(known["asqa"])
    lines += _section("qampari", known["qampari"])
    lines += ["## Redundant collections", "", "### ASQA with near-copies", "", *_copies_section(redundant)]
    for name in ("medquad-facets", "medquad-liveqa"):
        lines += _section(name, known[name], level="###")
    lines += _generation_section()
    (DOCS / "results.md").write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
    if figures_too:
        for name, found in known.items():
            figures.draw_retrieval(comparison.points(found), _TITLES[name], DOCS / "results" / name)
        for k in redundant[0][1].ks:
            _draw_redundancy(redundant, k)


def _objective_note(runs: Sequence[Scores]) -> str:
    """Return a line that compares our method with all others on the objective, over all runs."""
    tallies = [
        tally
        for found in runs
        for tally in comparison.tally_objectives(found, report.OURS, [m for m in found.methods if m != report.OURS])
    ]
    papers = [tally for tally in tallies if tally.other == report.PAPERS]
    lower, all_cells = sum(t.worse for t in tallies), sum(t.cells for t in tallies)
    cells = sum(tally.cells for tally in papers)
    higher, equal = (sum(counts) / cells for counts in ([t.better for t in papers], [t.tied for t in papers]))
    return (
        f"- **On the objective:** over all runs `{report.OURS}` has a lower objective than another method in {lower:,} "
        f"of {all_cells:,} comparisons. Compared with the paper's method, its objective is higher in {higher:.1%} and "
        f"equal in {equal:.1%} of {cells:,} cells."
    )


def _head(known: dict[str, Scores]) -> list[str]:
    facts = known["asqa"].facts
    at = facts["machine"]
    commits = ", ".join(f"{name} {found.facts['commit']}" for name, found in known.items())
    return [
        "# The paper's experiments",
        "",
        "`python -m benchmarks results` writes this page from the files in `benchmarks/results/experiments`. Those",
        "come from `python -m benchmarks experiments --data FOLDER` and `python -m benchmarks generate`. You can run",
        "the experiments on your own files and hardware: [how to do that](experiments.md).",
        "",
        f"{at['cpu']}, {at['cores']} cores; Python {at['python']}, "
        + ", ".join(f"{name} {number}" for name, number in facts["versions"].items())
        + f". The sets were found at these commits: {commits}.",
        "",
        "Recall is the share of the wanted answers that at least one retrieved passage holds. ILAD is the mean of",
        "1 - cosine over the pairs of a set. Intervals are 95 % bootstrap intervals over questions. `frank_wolfe` is",
        "the paper's Algorithm 1, and `certified` is our method.",
        "",
        "Everything on this page is about the paper's objective: `sharpness=1`, without constraints. That is not the",
        "default of `breadth.select`. [Which sets the default chooses](methods.md), and [how well they serve a",
        "reader](benchmarks/serve.md), is told elsewhere.",
        "",
    ]


def _claims_table(known: dict[str, Scores], redundant: Sequence[tuple[int, Scores]]) -> list[str]:
    found = [*claims.retrieval(known["asqa"], "ASQA"), *claims.retrieval(known["qampari"], "QAMPARI")]
    found.append(claims.redundancy(redundant, max(redundant[0][1].ks)))
    answers = load_answers()
    if answers is not None:
        found += claims.generation(answers["answers"])
    found += claims.UNTESTED
    rows = [[c.where, c.says, f"**{c.verdict}**", c.found] for c in found]
    return [
        "## The paper's claims",
        "",
        *claims.RULES.splitlines(),
        "",
        *report.table(["where", "the paper", "here", "what was measured"], rows),
        "",
    ]


def _asqa_section(found: Scores) -> list[str]:
    lines = _section("asqa", found)
    if "seconds" in found.facts:
        count, seconds = found.facts["sets"], found.facts["seconds"]
        lines[-1:-1] = [
            "",
            f"From raw files to scores, {count:,} sets and the latencies took {seconds / 60:.1f} minutes (target: 10).",
        ]
    return lines


def _section(name: str, found: Scores, level: str = "##") -> list[str]:
    """Describe a run, with its figure, areas and objective. The table of all points is folded away."""
    lines = [f"{level} {_TITLES[name]}", "", *report.description(found), "", f"![{name}](results/{name}.png)", ""]
    first, *rest = report.area_tables(found)
    lines += [f"**Area under the frontier.** {first}", *rest, ""]
    lines += ["**At the same θ.** " + report.same_theta_table(found)[0], *report.same_theta_table(found)[1:], ""]
    lines += [
        "**On the objective.** How often our set is better, equal or worse, over all questions, k and θ:",
        "",
        *report.objective_table(found),
        "",
    ]
    table = report.sweep_table(comparison.points(found), found.ks)
    return [*lines, "<details><summary>All points</summary>", "", *table, "", "</details>", ""]


def _copies_section(runs: Sequence[tuple[int, Scores]]) -> list[str]:
    """Show recall against the number of near-copies, and how many it takes for diversity to pay off."""
    first = runs[0][1]
    lines = [
        "We added r near-copies of each ASQA passage (words cut off, sentences in another order, boilerplate added). "
        f"There are {len(first.questions)} questions, and the encoder is {first.facts['encoder']}. A cell is the "
        "recall at that θ. * marks a recall above top-k's on the same questions, † one below it (paired test, "
        "p < 0.05 after Holm's correction over all cells of the table).",
        "",
    ]
    for k in first.ks:
        lines += [
            f"k = {k}:",
            "",
            *_copies_table(runs, k),
            "",
            f"![redundancy, k = {k}](results/redundancy-{k}.png)",
            "",
        ]
    return lines


def _copies_table(runs: Sequence[tuple[int, Scores]], k: int) -> list[str]:
    methods = [m for m in PAPERS_METHODS if m != "topk"]
    thetas = runs[0][1].thetas
    keys = [(m, t) for m in methods for t in thetas]
    gaps = {}
    for copies, found in runs:
        plain = found.cell("topk", k, 1.0)["recall"]
        weights = resamples(len(plain))
        for method, theta in keys:
            ours = found.cell(method, k, theta)["recall"]
            gaps[copies, method, theta] = difference(ours, plain, weights, flips=flips_for(len(keys) * len(runs)))
    corrected = dict(zip(gaps, holm([gap.p for gap in gaps.values()]), strict=True))
    rows = [["topk", "", *(f"{found.cell('topk', k, 1.0)['recall'].mean():.3f}" for _, found in runs)]]
    pays: dict[str, set[int]] = {m: set() for m in methods}
    for method, theta in keys:
        cells = []
        for copies, found in runs:
            gap, key = gaps[copies, method, theta], (copies, method, theta)
            sure = corrected[key] < 0.05
            mark = "" if not sure else ("*" if gap.mean > 0 else "†")
            if mark == "*":
                pays[method].add(copies)
            cells.append(f"{found.cell(method, k, theta)['recall'].mean():.3f}{mark}")
        rows.append([method, f"{theta:g}", *cells])
    where = "; ".join(f"{m}: {', '.join(f'r = {r}' for r in sorted(pays[m])) or 'nowhere'}" for m in methods)
    head = ["method", "θ", *(f"r = {copies}" for copies, _ in runs)]
    return [*report.table(head, rows), "", f"Where diversity pays off at some θ: {where}."]


def _draw_redundancy(runs: Sequence[tuple[int, Scores]], k: int) -> None:
    """Draw every method at two θ."""
    panels = {
        f"θ = {theta}": {
            method: [(copies, float(found.cell(method, k, theta)["recall"].mean())) for copies, found in runs]
            for method in PAPERS_METHODS
        }
        for theta in (0.7, 0.9)
    }
    figures.draw_redundancy(panels, f"near-copies, k = {k}", f"recall@{k}", DOCS / "results" / f"redundancy-{k}")


def _generation_section() -> list[str]:
    answers = load_answers()
    if answers is None:
        return []
    rows = generation_tables.table_rows(answers["answers"])
    lines = [
        "## Generation",
        "",
        f"The first {max(r.questions for r in rows)} questions of ASQA, k = 5. {answers['facts']['encoder']} retrieved "
        f"the passages, and {answers['label']} read them at temperature 0. The paper has 948 questions, k = 25 and 50, "
        "and Llama-3.1-8B. So this shows that the stages work. It shows the order of the methods only as far as the "
        "intervals allow.",
        "",
        generation_tables.markdown(rows, intervals=True),
    ]
    latex: Path = DOCS / "results" / "generation.tex"
    latex.parent.mkdir(parents=True, exist_ok=True)
    latex.write_text(generation_tables.latex(rows) + "\n", encoding="utf-8")
    return [*lines, "The same table for LaTeX: [generation.tex](results/generation.tex)."]
