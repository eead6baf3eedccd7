"""Benchmarks. Run `python -m benchmarks <name>` from the root of the project. They are not part of the package."""
