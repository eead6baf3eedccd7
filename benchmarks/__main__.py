"""`python -m benchmarks NAME [options]` measures, and writes the pages in docs/benchmarks and docs/results.md."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from benchmarks import (
    agreement,
    certified,
    core,
    default,
    effort,
    expected,
    experiments,
    frameworks,
    gpu,
    pace,
    page,
    pairs,
    results_page,
    speed,
    text,
)
from benchmarks.attack import page as attack_page
from benchmarks.attack import run as attack
from benchmarks.engines import page as engines_page
from benchmarks.engines import run as engines
from benchmarks.load import page as load_page
from benchmarks.load import run as load
from benchmarks.serve import expected as serve_expected
from benchmarks.serve import page as serve_page
from benchmarks.serve import run as serve
from benchmarks.shards import page as shards_page
from benchmarks.shards import run as shards

PAGES: dict[str, Callable[[], None]] = {
    "core": core.render,
    "certified": certified.render,
    "speed": speed.render,
    "text": text.render,
    "agreement": agreement.render,
    "effort": effort.render,
    "pace": pace.render,
    "page": page.render,
    "pairs": pairs.render,
    "serve": serve_page.render,
    "frameworks": frameworks.render,
    "default": default.render,
    "engines": engines_page.render,
    "shards": shards_page.render,
    "attack": attack_page.render,
    "load": load_page.render,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure, and write docs/benchmarks.")
    parser.add_argument("name", choices=list(_COMMANDS), help="the benchmark; `render` rewrites all pages")
    parser.add_argument("--rounds", type=int, default=5, help="how many rounds to time after the warm-up")
    parser.add_argument("--rows", type=int, default=200_000, help="number of rows of the large collection")
    parser.add_argument("--asqa", type=Path, help="folder with MiniLM vectors of ASQA; default: those in examples/")
    parts = [
        "cost",
        "sharing",
        "gaps",
        "duels",
        *speed.PARTS,
        *text.PARTS,
        *agreement.PARTS,
        *experiments.RECIPES,
        *serve.PARTS,
        *frameworks.PARTS,
        *default.PARTS,
        *attack.PARTS,
        *load.PARTS,
    ]
    parser.add_argument("--part", choices=parts, help="measure only this part of the benchmark")
    parser.add_argument("--against", type=Path, help="for `pace`: the folder of another checkout")
    parser.add_argument("--folder", type=Path, default=Path("build/benchmarks"), help="where to keep rows and runs")
    parser.add_argument(
        "--data",
        type=Path,
        help="for `experiments`: the folder with the subsets; for `serve` and `engines`: with the judged data",
    )
    parser.add_argument("--workers", type=int, help="for `experiments`: number of processes; default: one per core")
    parser.add_argument(
        "--model",
        help="for `generate`: the model's name at the endpoint; for `serve`: name or folder of all-MiniLM-L6-v2",
    )
    parser.add_argument(
        "--again", nargs="+", default=[], help="for `serve`: settings whose sets to choose again; for `engines`: stores"
    )
    parser.add_argument("--url", default="http://127.0.0.1:8000/v1", help="for `generate`: the endpoint")
    parser.add_argument("--limit", type=int, default=40, help="for `generate`: number of questions")
    parser.add_argument("--label", help="for `generate`: what the page calls the model")
    parser.add_argument("--dim", type=int, default=1024, help="for `gpu`: number of dimensions")
    parser.add_argument("--device", help="for `gpu`: cuda, cuda:1, cpu …; default: a GPU if there is one")
    parser.add_argument(
        "--dtype", default="float32", choices=["float32", "float16", "bfloat16"], help="for `gpu`: type of the rows"
    )
    parser.add_argument(
        "--thetas", type=float, nargs="+", default=[0.1, 0.3, 0.5, 0.7, 0.9], help="for `gpu`: values of θ"
    )
    arguments = parser.parse_args()
    _COMMANDS[arguments.name](arguments, parser)


def _run_pace(arguments: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    if arguments.against is None:
        parser.error("pace needs --against: pass the folder of another checkout")
    pace.main(arguments.against, arguments.rounds, arguments.folder)


def _run_gpu(arguments: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    device, dtype = arguments.device, arguments.dtype
    gpu.main(arguments.rounds, arguments.rows, arguments.dim, device, dtype, tuple(arguments.thetas))


def _run_experiments(arguments: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    if arguments.data is None:
        parser.error("experiments needs --data: pass the folder with the subsets")
    experiments.main(arguments.data, arguments.folder, arguments.part, arguments.workers)


def _run_generate(arguments: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    if arguments.model is None:
        parser.error("generate needs --model: pass the model's name at the endpoint")
    experiments.generate(arguments.folder, arguments.model, arguments.url, arguments.limit, 1, arguments.label)


def _run_serve(arguments: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    if arguments.data is None:
        parser.error("serve needs --data: pass the folder with the judged collections")
    serve.main(arguments.data, arguments.folder, arguments.part, arguments.model, arguments.again)


def _run_pairs(arguments: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    if arguments.data is None:
        parser.error("pairs needs --data: pass the folder with ramdocs/")
    pairs.main(arguments.data)


def _run_frameworks(arguments: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    if arguments.data is None:
        parser.error("frameworks needs --data: pass the folder with the judged collections")
    frameworks.main(arguments.data, arguments.folder, arguments.part)


def _run_check(arguments: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    checks = [*expected.check(), *serve_expected.check()]
    print("\n".join(map(str, checks)))
    raise SystemExit(not all(one.good for one in checks))


def _render_all(arguments: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    for render in (*PAGES.values(), results_page.render):
        render()


_COMMANDS: dict[str, Callable[[argparse.Namespace, argparse.ArgumentParser], None]] = {
    "core": lambda given, _: core.main(given.rounds, given.rows),
    "certified": lambda given, _: certified.main(given.rounds, given.rows, given.asqa, given.part),
    "speed": lambda given, _: speed.main(given.rounds, given.folder, given.asqa, given.part),
    "text": lambda given, _: text.main(given.part),
    "agreement": lambda given, _: agreement.main(given.part),
    "effort": lambda given, _: effort.main(given.rounds, given.again or None),
    "pace": _run_pace,
    "gpu": _run_gpu,
    "page": lambda given, _: page.main(given.rounds, given.folder),
    "experiments": _run_experiments,
    "generate": _run_generate,
    "serve": _run_serve,
    "pairs": _run_pairs,
    "frameworks": _run_frameworks,
    "default": lambda given, _: default.main(given.rounds, given.folder, given.data, given.part),
    "engines": lambda given, _: engines.main(given.rounds, given.folder, given.asqa, given.data, given.again),
    "attack": lambda given, _: attack.main(given.part),
    "load": lambda given, _: load.main(given.folder, given.part),
    "shards": lambda given, _: shards.main(given.rounds),
    "check": _run_check,
    "results": lambda given, _: results_page.render(),
    "render": _render_all,
}


if __name__ == "__main__":
    main()
