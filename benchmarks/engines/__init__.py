"""Selections inside vector engines: what they cost over a plain search, and what they are worth.

measure.py   one engine on one collection
news.py      aspect recall on judged news
run.py       all engines; one command, `python -m benchmarks engines`
page.py      docs/benchmarks/engines.md
"""
