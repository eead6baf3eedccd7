"""python -m benchmarks NAME [--rounds R] [--rows N] | python -m benchmarks render"""

from __future__ import annotations

import argparse
from collections.abc import Callable

from benchmarks import core

BENCHMARKS: dict[str, Callable[..., None]] = {"core": core.main}
PAGES: dict[str, Callable[[], None]] = {"core": core.render}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure, and write docs/benchmarks.")
    parser.add_argument("name", choices=[*BENCHMARKS, "render"], help="which benchmark; render rewrites the pages")
    parser.add_argument("--rounds", type=int, default=5, help="rounds after warm-up")
    parser.add_argument("--rows", type=int, default=200_000, help="rows of the collection")
    arguments = parser.parse_args()
    if arguments.name == "render":
        for render in PAGES.values():
            render()
        return
    BENCHMARKS[arguments.name](rounds=arguments.rounds, n=arguments.rows)


if __name__ == "__main__":
    main()
