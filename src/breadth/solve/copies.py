"""The passages that chosen rows stand for, and those that differ from them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from breadth.arrays import Array, Ids
from breadth.constraints.texts import COMPARED, Texts
from breadth.feasible import allows
from breadth.near import CLOSE_VECTORS, Copies, Copy, Near, Variant, Variants
from breadth.oracles.protocol import Facts
from breadth.problem import Problem
from breadth.requests import Asking, Rows, Top
from breadth.selection import Selection
from breadth.solve.pick import first_count
from breadth.text.compare import SAME

_VARIANTS = 5
"""Variants of a chosen row that are told, at the most."""


def find_copies(distinct: float, ids: Ids, chosen: Ids, cosines: Array) -> Copies:
    """For each chosen row the rows that are too close to it to be chosen too, from their `cosines` (ids, chosen).

    A row that is too close to several belongs to the closest.
    """
    found: list[list[Copy]] = [[] for _ in chosen]
    members = set(chosen.tolist())
    for row in np.flatnonzero((cosines > distinct).any(axis=1)):
        if int(ids[row]) not in members:
            place = int(np.argmax(cosines[row]))
            found[place].append(Copy(int(ids[row]), float(cosines[row, place]), CLOSE_VECTORS))
    return tuple(map(tuple, found))


def find_copies_by_text(texts: Texts, ids: Ids, chosen: Ids, cosines: Array) -> Copies:
    """The same by what the texts say: a row belongs to the closest chosen row that says all of it."""
    found: list[list[Copy]] = [[] for _ in chosen]
    members = set(chosen.tolist())
    near = cosines > min(COMPARED, texts.paraphrase)
    for row in np.flatnonzero(near.any(axis=1)):
        if int(ids[row]) in members:
            continue
        (own,) = texts.read_rows([int(ids[row])])
        for place in sorted(np.flatnonzero(near[row]).tolist(), key=lambda place: -cosines[row, place]):
            cosine = float(cosines[row, place])
            relation = texts.find_relation(texts.read_rows([int(chosen[place])])[0], own, cosine)
            if relation is not None:
                found[place].append(Copy(int(ids[row]), cosine, relation))
                break
    return tuple(map(tuple, found))


def find_variants(texts: Texts, ids: Ids, chosen: Ids, cosines: Array, copies: Copies) -> Variants:
    """For each chosen row those rows that are worded nearly alike and say something else, the closest first."""
    members = set(chosen.tolist())
    known = [{one.id for one in some} for some in copies] or [set() for _ in chosen]
    found: list[tuple[Variant, ...]] = []
    for place, own in enumerate(chosen.tolist()):
        variants: list[Variant] = []
        for row in np.argsort(-cosines[:, place], kind="stable"):
            cosine, other = float(cosines[row, place]), int(ids[row])
            if cosine <= COMPARED or len(variants) == _VARIANTS:
                break
            if other == own or other in known[place]:
                continue
            left, right = texts.read_rows([own, other])
            if left.varies(right):
                variants.append(Variant(other, cosine, other in members, texts.compare(left, right, cosine)))
        found.append(tuple(variants))
    return tuple(found)


def list_given_up(top: Ids, chosen: Ids, copies: Copies) -> tuple[int, ...]:
    """The rows of plain top-k that are neither chosen nor copies of chosen rows."""
    there = {*chosen.tolist(), *(copy.id for some in copies for copy in some)}
    return tuple(row for row in top.tolist() if row not in there)


def represent(problem: Problem, chosen: Ids, near: Near) -> tuple[Ids, Near]:
    """Let the copy that is preferred stand for each group of passages with the same words, if the constraints allow."""
    constraints = problem.constraints
    if constraints.texts is None or constraints.texts.prefer is None:
        return chosen, near
    ids, copies = chosen.copy(), list(near.copies)
    for place, own in enumerate(chosen.tolist()):
        same = [copy for copy in copies[place] if copy.relation == SAME]
        if not same or own in constraints.pinned:
            continue
        best = constraints.texts.find_preferred([own, *(copy.id for copy in same)])
        ids[place] = best
        if best != own and not allows(constraints.number(ids, problem.k), np.arange(len(ids))[None])[0]:
            ids[place] = own
        if ids[place] != own:
            copies[place] = tuple(replace(copy, id=own) if copy.id == best else copy for copy in copies[place])
    return ids, replace(near, copies=tuple(copies))


def add_copies(solver: Asking[Selection], problem: Problem, facts: Facts) -> Asking[Selection]:
    """Run a solver; where it does not say which copies its rows stand for, look among the most relevant rows."""
    selection = yield from solver
    distinct, texts = problem.constraints.distinct, problem.constraints.texts
    if (distinct is None and texts is None) or selection.copies:
        return selection
    ids = (yield from Top(problem.query[None], min(first_count(problem), facts.size))).ids[0]
    rows = yield from Rows(ids)
    cosines = problem.cosines(rows, (yield from Rows(selection.ids)))
    near = find_near(problem, ids, selection.ids, cosines, ids[: problem.k])
    chosen, near = represent(problem, selection.ids, near)
    return replace(selection, ids=chosen, near=near).with_stats(judged_by=name_judge(problem))


def find_near(problem: Problem, ids: Ids, chosen: Ids, cosines: Array, top: Ids) -> Near:
    """What a set has to do with the rows `ids`, from their `cosines` (ids, chosen); `top`: those of plain top-k."""
    distinct, texts = problem.constraints.distinct, problem.constraints.texts
    if texts is None:
        assert distinct is not None
        copies = find_copies(distinct, ids, chosen, cosines)
        return Near(copies, (), list_given_up(top, chosen, copies))
    copies = find_copies_by_text(texts, ids, chosen, cosines)
    return Near(copies, find_variants(texts, ids, chosen, cosines, copies), list_given_up(top, chosen, copies))


def name_judge(problem: Problem) -> str:
    """By what copies were told."""
    return "vectors" if problem.constraints.texts is None else "texts"
