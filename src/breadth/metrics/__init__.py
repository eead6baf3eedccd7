"""Measures of a set of passages, one file for each idea. All take plain arrays and texts."""

from breadth.metrics.coverage import coverage
from breadth.metrics.distance import ilad, min_distance
from breadth.metrics.lost import Lost, lost
from breadth.metrics.matching import SearchableText, answer_forms, normalise
from breadth.metrics.ranked import alpha_ndcg, subtopic_recall
from breadth.metrics.recall import answer_recall, asqa_recall, qampari_recall
from breadth.metrics.redundancy import near_copies, redundancy
from breadth.metrics.relevance import mean_relevance
from breadth.metrics.repeats import repeats

__all__ = [
    "Lost",
    "SearchableText",
    "alpha_ndcg",
    "answer_forms",
    "answer_recall",
    "asqa_recall",
    "coverage",
    "ilad",
    "lost",
    "mean_relevance",
    "min_distance",
    "near_copies",
    "normalise",
    "qampari_recall",
    "redundancy",
    "repeats",
    "subtopic_recall",
]
