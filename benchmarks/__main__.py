"""python -m benchmarks NAME [--rounds R] [--rows N] [--asqa FOLDER] | python -m benchmarks render"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from benchmarks import certified, core, gpu, speed, text

PAGES: dict[str, Callable[[], None]] = {
    "core": core.render,
    "certified": certified.render,
    "speed": speed.render,
    "text": text.render,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure, and write docs/benchmarks.")
    parser.add_argument("name", choices=[*PAGES, "gpu", "render"], help="which benchmark; render rewrites the pages")
    parser.add_argument("--rounds", type=int, default=5, help="rounds after warm-up")
    parser.add_argument("--rows", type=int, default=200_000, help="rows of the large collection")
    parser.add_argument("--asqa", type=Path, help="folder with MiniLM vectors of ASQA; default: the shipped passages")
    parts = ["cost", "sharing", "gaps", "duels", *speed.PARTS, *text.PARTS]
    parser.add_argument("--part", choices=parts, help="of `certified`, `speed` or `text`: only this")
    parser.add_argument("--folder", type=Path, default=Path("build/benchmarks"), help="of `speed`: where rows are kept")
    parser.add_argument("--dim", type=int, default=1024, help="of `gpu`: dimensions")
    parser.add_argument("--device", help="of `gpu`: cuda, cuda:1, cpu …; default: a GPU if there is one")
    parser.add_argument("--dtype", default="float32", choices=["float32", "float16", "bfloat16"], help="of `gpu`")
    parser.add_argument("--thetas", type=float, nargs="+", default=[0.1, 0.3, 0.5, 0.7, 0.9], help="of `gpu`")
    arguments = parser.parse_args()
    if arguments.name == "core":
        core.main(arguments.rounds, arguments.rows)
    elif arguments.name == "certified":
        certified.main(arguments.rounds, arguments.rows, arguments.asqa, arguments.part)
    elif arguments.name == "speed":
        speed.main(arguments.rounds, arguments.folder, arguments.asqa, arguments.part)
    elif arguments.name == "text":
        text.main(arguments.part)
    elif arguments.name == "gpu":
        device, dtype = arguments.device, arguments.dtype
        gpu.main(arguments.rounds, arguments.rows, arguments.dim, device, dtype, tuple(arguments.thetas))
    else:
        for render in PAGES.values():
            render()


if __name__ == "__main__":
    main()
