"""What the package promises about itself: its names, its dependencies, and which way imports flow."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import breadth
import breadth.metrics
import breadth.oracles

SOURCE = Path(breadth.__file__).parent
ROOT = Path(__file__).parent.parent

LAYERS = [
    "errors",
    "display",
    "frames",
    "altering",
    "arrays",
    "lazy",
    "bootstrap",
    "clock",
    "explanation",
    "ranking",
    "foreign",
    "checks",
    "text",
    "near",
    "settings",
    "filters",
    "feasible",
    "constraints",
    "problem",
    "relaxation",
    "native",
    "products",
    "coverage",
    "metrics",
    "oracles.protocol",
    "oracles.sweep",
    "oracles.reach",
    "oracles.compact",
    "oracles.joining",
    "engines",
    "oracles",
    "selection",
    "curve",
    "requests",
    "drivers",
    "solve.effort",
    "solve.partial",
    "solve.pool",
    "solve.repeats",
    "solve.block",
    "solve.starts",
    "solve.pick",
    "solve.copies",
    "solve.conclude",
    "explain",
    "methods",
    "solve",
    "methods.registry",
    "naming",
    "api",
    "testing",
    "encoders",
    "index",
    "opening",
    "searcher",
    "packing",
    "integrations",
    "sources",
    "service",
    "cli",
    "__init__",
    "__main__",
]
"""Each may import those before it, and itself."""

OPTIONAL = {
    "torch": {"oracles/torch.py"},
    "pandas": {"frames.py"},
    "polars": {"frames.py"},
    "chromadb": {"engines/chroma/oracle.py"},
    "faiss": {"engines/faiss.py"},
    "lancedb": {"engines/lancedb/oracle.py"},
    "usearch": {"engines/usearch.py"},
    "httpx": {"engines/chroma/oracle.py", "service/client/asynchronous.py", "service/client/synchronous.py"},
    "grpc": {"engines/milvus/oracle.py"},
    "psycopg": {"engines/pgvector/driver.py"},
    "pymilvus": {"engines/milvus/oracle.py"},
    "qdrant_client": {"engines/qdrant/client.py"},
    "qdrant_edge": {"engines/qdrant/edge.py"},
    "ray": {"engines/ray/oracle.py"},
    "langchain_core": {
        "integrations/langchain/compressor.py",
        "integrations/langchain/documents.py",
        "integrations/langchain/retriever.py",
        "integrations/langchain/stores/in_memory.py",
        "integrations/langchain/vectorstore.py",
    },
    "llama_index": {
        "integrations/llama_index/embedding.py",
        "integrations/llama_index/filters.py",
        "integrations/llama_index/nodes.py",
        "integrations/llama_index/postprocessor.py",
        "integrations/llama_index/retriever.py",
        "integrations/llama_index/stores.py",
    },
    "haystack": {
        "integrations/haystack/documents.py",
        "integrations/haystack/filters.py",
        "integrations/haystack/ranker.py",
        "integrations/haystack/retriever.py",
    },
    "sklearn": {"integrations/sklearn.py"},
    "mcp": {"integrations/mcp.py"},
    "mcp_types": {"integrations/mcp.py"},
    "ir_measures": {"metrics/ranked.py"},
    "pyndeval": {"metrics/ranked.py"},
    "tokenizers": {"encoders/tokenizer.py"},
    "sentence_transformers": {"encoders/sentence_transformers.py"},
    "model2vec": {"encoders/model2vec.py"},
    "openai": {"encoders/openai.py"},
    "onnxruntime": {"encoders/onnx.py"},
    "bm25s": {"index/bm25.py"},
    "Stemmer": {"index/bm25.py"},
    "pyarrow": {"sources/parquet.py"},
    "matplotlib": {"cli/plots.py"},
    "rich": {"cli/__init__.py", "cli/console.py", "cli/show.py", "cli/show_diagnosis.py"},
    "typer": {
        "cli/__init__.py",
        "cli/agents.py",
        "cli/app.py",
        "cli/comparing.py",
        "cli/demo.py",
        "cli/diagnosing.py",
        "cli/engines.py",
        "cli/indexing.py",
        "cli/managing.py",
        "cli/options.py",
        "cli/reference.py",
        "cli/searching.py",
        "cli/serving.py",
    },
    "fastapi": {
        "service/app.py",
        "service/description.py",
        "service/failures.py",
        "service/routes/compare.py",
        "service/routes/documents.py",
        "service/routes/frontier.py",
        "service/routes/inspect.py",
        "service/routes/page.py",
        "service/routes/registry.py",
        "service/routes/select.py",
        "service/routes/status.py",
        "service/routes/vector_stores.py",
        "service/state.py",
    },
    "pydantic": {
        "integrations/langchain/compressor.py",
        "integrations/langchain/documents.py",
        "integrations/langchain/retriever.py",
        "integrations/mcp.py",
        "service/routes/answering.py",
        "service/schemas/answers.py",
        "service/schemas/inspection.py",
        "service/schemas/openai.py",
        "service/schemas/requests.py",
    },
    "starlette": {
        "service/failures.py",
        "service/guard.py",
        "service/limits.py",
        "service/observing.py",
        "service/routes/answering.py",
        "service/routes/status.py",
    },
    "threadpoolctl": {"service/running.py"},
    "uvicorn": {"service/running.py"},
}
"""The files that import each optional package. The command line is one room: all of it needs typer. So are the
adapters for LangChain, and the service, whose clients need httpx alone."""

NAMES = {
    "ArrayOracle",
    "BreadthError",
    "CachingOracle",
    "Certificate",
    "CompactOracle",
    "ContractError",
    "CountingOracle",
    "Document",
    "EncoderError",
    "EngineError",
    "Explanation",
    "Frontier",
    "Index",
    "InputError",
    "MissingExtraError",
    "Oracle",
    "OracleError",
    "Problem",
    "Reason",
    "Selection",
    "StoreError",
    "TooLargeError",
    "__version__",
    "aselect",
    "frontier",
    "methods",
    "metrics",
    "open",
    "oracles",
    "pack",
    "select",
    "select_many",
}


def imports(path: Path) -> set[str]:
    """Absolute names of the modules a file imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found |= {name_of(str(node.module), alias.name) for alias in node.names}
    return found


def name_of(module: str, name: str) -> str:
    """The module that `from module import name` imports: the name itself, if that is a module of ours."""
    inside = SOURCE.parent.joinpath(*module.split("."), name)
    is_module = inside.with_suffix(".py").is_file() or inside.is_dir()
    return f"{module}.{name}" if module == "breadth" or (module.startswith("breadth.") and is_module) else module


def layer(name: str) -> int:
    """The place of a module, by the longest part of its name that is listed."""
    parts = name.split(".")
    listed = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    known = next((part for part in listed if part in LAYERS), None)
    assert known is not None, f"breadth.{name} is not in LAYERS: say what it may import"
    return LAYERS.index(known)


def module(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_flow_one_way(path):
    own = module(path)
    for name in imports(path):
        if name.startswith("breadth."):
            assert layer(name.removeprefix("breadth.")) <= layer(own), f"{path.name} imports {name}"


def test_every_layer_is_there():
    there = {module(path) for path in SOURCE.rglob("*.py")}
    assert [name for name in LAYERS if name not in there] == []


def test_only_numpy_is_needed():
    allowed = {"breadth", "numpy"} | set(sys.stdlib_module_names)
    outside: dict[str, set[str]] = {}
    for path in SOURCE.rglob("*.py"):
        for name in imports(path):
            if name.split(".")[0] not in allowed:
                outside.setdefault(name.split(".")[0], set()).add(path.relative_to(SOURCE).as_posix())
    assert outside == OPTIONAL


def test_the_package_imports_with_nothing_but_numpy():
    """Optional packages are not imported before they are asked for."""
    optional = (*OPTIONAL, "scipy")
    code = f"import sys, breadth; print([m for m in {optional} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_exported_names_exist_and_are_documented():
    assert set(breadth.__all__) == NAMES
    for module in (breadth, breadth.metrics, breadth.oracles):
        for name in module.__all__:
            assert hasattr(module, name)
            if callable(getattr(module, name)):
                assert getattr(module, name).__doc__, f"{name} has no docstring"
    assert breadth.methods() == (
        "certified",
        "frank_wolfe",
        "greedy",
        "mmr",
        "dpp",
        "msd",
        "vrsd",
        "muss",
        "coverage",
        "topk",
        "exact",
    )


def test_the_changelog_tells_of_this_version():
    assert f"## {breadth.__version__}" in (ROOT / "CHANGELOG.md").read_text()
