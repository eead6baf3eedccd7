"""The paper's experiments in stages: pool, encode, retrieve, generate, report. The stages share a run folder."""

__version__ = "0.2.0"
