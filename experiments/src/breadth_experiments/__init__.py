"""The paper's experiments in stages: pool, encode, retrieve, generate, report. Each reads and writes a run folder."""
