"""python -m benchmarks NAME [--rounds R] [--rows N] [--asqa FOLDER] | python -m benchmarks render"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from benchmarks import certified, core

PAGES: dict[str, Callable[[], None]] = {"core": core.render, "certified": certified.render}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure, and write docs/benchmarks.")
    parser.add_argument("name", choices=[*PAGES, "render"], help="which benchmark; render rewrites the pages")
    parser.add_argument("--rounds", type=int, default=5, help="rounds after warm-up")
    parser.add_argument("--rows", type=int, default=200_000, help="rows of the large collection")
    parser.add_argument("--asqa", type=Path, help="folder with MiniLM vectors of ASQA; default: the shipped passages")
    parser.add_argument("--part", choices=["cost", "sharing", "gaps", "duels"], help="of `certified`: only this")
    arguments = parser.parse_args()
    if arguments.name == "core":
        core.main(arguments.rounds, arguments.rows)
    elif arguments.name == "certified":
        certified.main(arguments.rounds, arguments.rows, arguments.asqa, arguments.part)
    else:
        for render in PAGES.values():
            render()


if __name__ == "__main__":
    main()
