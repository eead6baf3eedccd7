"""Benchmarks: `python -m benchmarks <name>`, from the root of the project. Not part of the installed package."""
