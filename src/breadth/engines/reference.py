"""The table of engines in docs/engines.md, written from the registry: python -m breadth.engines.reference"""

from __future__ import annotations

from breadth.engines.registry import ENGINES, Engine

_HEAD = ("engine", "address", "extra", "exact", "ids", "rows come", "limit", "`where`", "`audit`", "mean", "async")


def write_table() -> str:
    """The table, in Markdown."""
    lines = [_HEAD, ("---",) * len(_HEAD), *(_describe(engine) for engine in ENGINES.values())]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _describe(engine: Engine) -> tuple[str, ...]:
    def say(trait: bool) -> str:
        return "yes" if trait else "no"

    return (
        f"[{engine.name}](engines/{engine.name}.md): {engine.description}",
        f"`{engine.form}`",
        f"`{engine.extra}`",
        engine.exact,
        engine.ids,
        engine.rows,
        engine.limit,
        say(engine.filters),
        say(engine.audits),
        say(engine.mean),
        "no" if engine.aopen is None else f"`{engine.aopen.__name__}`",
    )


if __name__ == "__main__":
    import sys

    sys.stdout.write(write_table() + "\n")
