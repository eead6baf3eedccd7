"""docs/benchmarks/serve.md, written from results/serve.json."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from benchmarks.report import load, page, table
from benchmarks.serve.peers import POOL
from benchmarks.serve.summary import shares_of_best
from breadth.settings import DEFAULT

_COUNTED = (5, 10, 20)
"""The k of the summary."""
_COPIES_MATTER = ("trec", "copies")
"""Parts of the names of the collections that are full of copies."""

_INTRODUCTION = """# Do the sets serve a reader?

`python -m benchmarks serve --data FOLDER` writes this page from `benchmarks/results/serve.json`; do not edit it.
{machine}

The questions of these collections have judged aspects. *Recall* is the share of a question's aspects that the chosen
passages hold together. The questions are split into two halves: defaults are chosen on one half only, and the other one
shows what they are worth.

| collection | passages | query | aspects | choosing | reporting |
|---|---|---|---|---|---|
| trec | 57,413 news sentences (TREC Temporal Summarization) | title of an event | nuggets | 2014 | 2015 |
| perspectrum | 11,112 sentences from debates | claim | clusters of equivalent perspectives | even | odd |
| medquad | 16,407 answers of medical sites | disease | types of question that are answered | even | odd |
| asqa | 8,841 Wikipedia passages, also with 2 and 8 copies | ambiguous question | interpretations | even | odd |
| nq | 29,149 Wikipedia passages | question | one: an accepted answer occurs | even | odd |
| ramdocs | 2,765 web documents, many alike with different answers | ambiguous question | right answers | even | odd |

Even and odd are the numbers of the questions in their files. At most 120 of a half are asked, evenly spread, and 60
where there are copies. An aspect that no passage holds does not count. The passages of asqa are unions of top-5 lists
of 14 retrieval runs. The encoders are potion-base-8M (built in) and all-MiniLM-L6-v2. The vectors of MiniLM are made
once, with the extra `sentence-transformers`: `python -m benchmarks serve --data FOLDER --part encode`. "And words"
means that relevance is half the cosine and half BM25, scaled to the cosines of the 400 most relevant
passages.{left_out}

- **Share of the best**: a method's mean recall divided by that of the best method in the table on the same collection.
  The tables show the mean over collections, with the smallest share in brackets.
- **Budgets**: the largest set that fits into so many words.
- **Off-topic**: share of the sets with a row that has less than half the relevance of top-k's last row.
- **Best hit dropped**: share of the sets without the most relevant row.
- **Copies**: pairs of rows with a cosine above 0.95, per set. They need not say the same.
- **Lost**: passages of top-k of which no single passage of the set has all facts (numbers, identifiers, names,
  negations), per set. **Hidden**: those of them whose cosine with a passage of the set is above 0.95: by their vectors
  they are its copies.

Off-topic rows, dropped hits, copies, lost and hidden passages are means over k = 5, 10 and 20.
"""

_DIFFERENCES = """Differences in recall: the mean over the collections, with 95 % bootstrap intervals. The last two
columns count the pairs of a collection and k = 5, 10 or 20 on which a method is better, or worse, than top-k with an
interval that excludes 0.
"""

_METHODS = """## The methods

`breadth.select` searches the whole collection. MMR and all methods below it choose from the {pool} most relevant rows.
*cosine < t* walks down the ranking and skips rows that are too close to a chosen one, *different texts* skips passages
whose text is exactly that of a chosen one. DPP and COVER are pyversity's, with its default diversity 0.5; "DPP 0.9" has
diversity 0.1. *Dartboard* maximises the relevant
information gain (Pickett et al., arXiv 2407.12101), with σ = 0.1. *AdaGReS* (Peng et al., arXiv 2512.25052) is the
greedy method with the publication's adaptive weight, β = mean relevance / ((k - 1)/2 · mean similarity) over the pool.
"paper" is the paper's objective, solved by `method="certified"`. The settings:

{settings}
"""


_LENGTHS = """## Long sentences

On trec some methods hold more nuggets at the same k, because they choose longer sentences. In the same number of words
the sets hold about the same. The reporting half, mean over all rows of trec:

{table}
"""
_LONG = ("top-k", "cosine < 0.85", "DPP", "COVER", "Dartboard", "coverage", "default")


def render() -> None:
    """Write the page."""
    data = load("serve")
    at = data["machine"]
    left = f" Left out, because vectors are missing: {'; '.join(data['left_out'])}." if data["left_out"] else ""
    machine = f"{at['cpu']}, Python {at['python']}, NumPy {at['numpy']}."
    parts = [
        _INTRODUCTION.format(machine=machine, left_out=left),
        f"## Reporting half\n\n{_summary(data, 'reporting')}\n",
        _DIFFERENCES,
        _differences(data, "reporting") + "\n",
        *(f"Recall at k = {k}:\n\n{_recalls(data, 'reporting', k)}\n" for k in _COUNTED),
        _LENGTHS.format(table=_lengths(data, "reporting")),
        f"## Choosing half\n\n{_summary(data, 'choosing')}\n",
        *(f"Recall at k = {k}:\n\n{_recalls(data, 'choosing', k)}\n" for k in _COUNTED),
        _METHODS.format(pool=POOL, settings=_settings(data)),
    ]
    page("serve", "\n".join(parts))


def _summary(data: dict[str, Any], half: str) -> str:
    """A row for each method: shares of the best at each size, and what is wrong with its sets."""
    shares = shares_of_best(data["collections"], half)
    sizes = [f"k = {k}" for k in data["ks"]] + [f"{budget:,} words" for budget in data["budgets"]]
    rows = []
    for name, share in shares.items():
        cells = [f"{share[:, place].mean():.2f} ({share[:, place].min():.2f})" for place in range(len(sizes))]
        off, dropped = (f"{100 * _mean(data, half, name, m):.1f} %" for m in ("off_topic", "best_dropped"))
        copies = [f"{_mean(data, half, name, 'copies', part):.1f}" for part in _COPIES_MATTER]
        lost = [f"{_mean(data, half, name, measure):.2f}" for measure in ("lost", "hidden")]
        rows.append([name, *cells, off, dropped, *copies, *lost])
    head = ["", *sizes, "off-topic", "best hit dropped", "copies: trec", "copies: asqa + copies", "lost", "hidden"]
    return table(head, rows)


def _lengths(data: dict[str, Any], half: str) -> str:
    """How long the sets of some methods on trec are, and what they hold at equal k and in equally many words."""
    found = [one[half] for key, one in data["collections"].items() if key.startswith("trec")]
    rows = []
    for name in _LONG:
        words, recall = (np.mean([one[name][measure] for one in found], axis=0) for measure in ("words", "recall"))
        at = len(data["ks"])
        rows.append(
            [name, *(f"{words[data['ks'].index(k)]:.0f}" for k in _COUNTED), *(f"{r:.3f}" for r in recall[1:at])]
        )
        rows[-1] += [f"{r:.3f}" for r in recall[at:]]
    head = ["", *(f"words, k = {k}" for k in _COUNTED), *(f"recall, k = {k}" for k in data["ks"][1:])]
    return table([*head, *(f"recall, {budget:,} words" for budget in data["budgets"])], rows)


def _mean(data: dict[str, Any], half: str, name: str, measure: str, part: str = "") -> float:
    """The mean of a measure over k = 5, 10, 20 and the collections with this part in their name."""
    places = [data["ks"].index(k) for k in _COUNTED]
    found = [one[half][name][measure] for key, one in data["collections"].items() if part in key]
    return float(np.mean([[values[place] for place in places] for values in found])) if found else float("nan")


def _differences(data: dict[str, Any], half: str) -> str:
    """A row for each method: the mean differences from the references, and how often it differs from top-k."""
    places = [data["ks"].index(k) for k in _COUNTED]
    references = data["differences"][half]
    rows = []
    for name in data["settings"]:
        cells = [name]
        for found in references.values():
            cells += [_interval(found[name]["mean"][place]) if name in found else "" for place in places]
        apart = references["top-k"].get(name, {})
        every = [values[place] for key, values in apart.items() if key != "mean" for place in places]
        better, worse = sum(low > 0 for _, low, _ in every), sum(high < 0 for _, _, high in every)
        rows.append([*cells, *((f"{better} of {len(every)}", f"{worse}") if every else ("", ""))])
    head = ["", *(f"− {name}, k = {k}" for name in references for k in _COUNTED), "better than top-k", "worse"]
    return table(head, rows)


def _interval(values: list[float]) -> str:
    mean, low, high = values
    return f"{mean:+.3f} ({low:+.3f} to {high:+.3f})"


def _recalls(data: dict[str, Any], half: str, k: int) -> str:
    """A row for each method, a column for each collection; the best of a column is bold."""
    place = data["ks"].index(k)
    collections = data["collections"]
    found = {name: [one[half][name]["recall"][place] for one in collections.values()] for name in data["settings"]}
    best = np.max(list(found.values()), axis=0)
    rows = [
        [name, *(f"**{v:.3f}**" if v == top else f"{v:.3f}" for v, top in zip(values, best, strict=True))]
        for name, values in found.items()
    ]
    return table(["", *collections], rows)


def _settings(data: dict[str, Any]) -> str:
    default = {"what `select` does with vectors alone": "", **asdict(DEFAULT)}
    rows = [
        [name, ", ".join(f"{key} = {value}" if value != "" else key for key, value in (one or default).items())]
        for name, one in data["settings"].items()
    ]
    return table(["", "setting"], rows)
