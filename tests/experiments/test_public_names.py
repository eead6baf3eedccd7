"""The experiments are a user of `breadth` like any other: they import its public names only."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

import breadth_experiments

SOURCE = Path(breadth_experiments.__file__).parent
PUBLIC = {
    "breadth",
    "breadth.bootstrap",
    "breadth.encoders",
    "breadth.errors",
    "breadth.index",
    "breadth.methods.muss",
    "breadth.metrics",
    "breadth.oracles",
}


def is_public(module: str, name: str) -> bool:
    """Whether a public module exports a name: lists it in `__all__` or, without such a list, defines it."""
    if module not in PUBLIC:
        return False
    if f"{module}.{name}" in PUBLIC:
        return True
    found = importlib.import_module(module)
    if hasattr(found, "__all__"):
        return name in found.__all__
    return not name.startswith("_") and getattr(getattr(found, name, None), "__module__", None) == module


def private_names(code: str) -> list[str]:
    """The names of `breadth` that a module imports, or reads from an imported module, and that are not public."""
    tree = ast.parse(code)
    modules = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    private = [module for module in modules if belongs_to_breadth(module) and module not in PUBLIC]
    used = [*imported_names(tree), *attributes(tree)]
    return private + [f"{module}.{name}" for module, name in used if not is_public(module, name)]


def belongs_to_breadth(module: str | None) -> bool:
    return module is not None and (module == "breadth" or module.startswith("breadth."))


def imported_names(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Module and name of every `from breadth… import name`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and belongs_to_breadth(node.module):
            for alias in node.names:
                yield str(node.module), alias.name


def bound_modules(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """The names that imports bind to modules of `breadth`, with these modules."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if belongs_to_breadth(alias.name):
                    yield (alias.asname, alias.name) if alias.asname else ("breadth", "breadth")
    for module, name in imported_names(tree):
        if f"{module}.{name}" in PUBLIC:
            yield name, f"{module}.{name}"


def attributes(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Module and name of every `module.name`, where the module is a public one of `breadth`."""
    bound = dict(bound_modules(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            first, *rest = ast.unparse(node.value).split(".")
            module = ".".join([bound.get(first, ""), *rest])
            if module in PUBLIC:
                yield module, node.attr


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: path.name)
def test_the_experiments_use_public_names_only(path):
    assert private_names(path.read_text(encoding="utf-8")) == []


def test_the_experiments_do_use_breadth():
    """So that the test above has something to look at."""
    names = {name for path in SOURCE.rglob("*.py") for name in imported_names(ast.parse(path.read_text("utf-8")))}
    assert {("breadth.index", "BM25"), ("breadth.errors", "InputError"), ("breadth.methods.muss", "cluster")} <= names


@pytest.mark.parametrize(
    ("code", "private"),
    [
        ("from breadth.checks import check_count", ["breadth.checks.check_count"]),
        ("from breadth.metrics.distance import ilad", ["breadth.metrics.distance.ilad"]),
        ("from breadth.metrics import mean_pairwise_distance", ["breadth.metrics.mean_pairwise_distance"]),
        ("from breadth import problem", ["breadth.problem"]),
        ("import breadth.cli.show", ["breadth.cli.show"]),
        ("import breadth\nbreadth.problem.Problem", ["breadth.problem"]),
        ("from breadth import metrics\nmetrics.distance", ["breadth.metrics.distance"]),
        ("import breadth.metrics as m\nm.distance", ["breadth.metrics.distance"]),
        ("import breadth.index\nbreadth.index.bm25", ["breadth.index.bm25"]),
        ("from breadth.errors import annotations", ["breadth.errors.annotations"]),
        ("def f():\n    from breadth.methods.muss import Problem", ["breadth.methods.muss.Problem"]),
        (
            "import breadth\nfrom breadth import metrics, encoders\nbreadth.select, breadth.metrics.ilad, metrics.ilad",
            [],
        ),
        ("from breadth.oracles import TorchOracle\nfrom breadth_experiments.run import Run\nself.breadth.secret", []),
    ],
)
def test_a_private_name_is_found(code, private):
    assert private_names(code) == private
