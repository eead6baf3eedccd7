"""The code of docs/frameworks.md and of docs/migration.md runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import breadth
from breadth.integrations import haystack, langchain, llama_index
from breadth.integrations.llama_index import EncoderEmbedding
from tests.integrations import corpus
from tests.integrations.adapters import haystack_store, langchain_store, llama_store
from tests.integrations.haystack_embedders import DocumentEmbedder, TextEmbedder
from tests.integrations.langchain_stores import documents, embeddings

DOCS = Path(__file__).parents[2] / "docs"
SECTIONS = re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", (DOCS / "frameworks.md").read_text("utf-8"), re.DOTALL | re.M)
CODE = {name: re.findall(r"```python\n(.*?)```", text, re.DOTALL) for name, text in SECTIONS}


def make_names(section: str) -> dict[str, object]:
    """What the code of a section refers to, as the reader has it."""
    if section == "LangChain":
        return {"store": langchain_store(), "embeddings": embeddings()}
    if section == "LlamaIndex":
        return {"index": llama_store(), "model": EncoderEmbedding(corpus.encoder())}
    if section == "Haystack":
        names = {"document_store": haystack_store(), "documents": haystack_store().filter_documents()}
        embedders = {"text_embedder": TextEmbedder(), "document_embedder": DocumentEmbedder()}
        return {**names, **embedders, "vector": corpus.query().tolist()}
    return {"X": corpus.vectors(), "documents": documents()[:9], "tokenizer": str.split}


@pytest.mark.parametrize("section", [name for name, blocks in CODE.items() if blocks])
def test_the_code_of_a_section_runs(section):
    namespace = make_names(section)
    for block in CODE[section]:
        exec(compile(block, f"{section} of docs/frameworks.md", "exec"), namespace)
    if "found" in namespace:
        assert 3 <= len(namespace["found"]) <= 6


def test_every_framework_of_the_page_has_code():
    assert {"LangChain", "LlamaIndex", "Haystack", "scikit-learn", "A context for a prompt"} <= {
        name for name, blocks in CODE.items() if blocks
    }


def test_the_one_line_changes_of_the_migration_page_run():
    """The right column of "One line each": what it names is what the left column has."""
    page = (DOCS / "migration.md").read_text("utf-8")
    table = page.partition("## One line each")[2].partition("\n## ")[0]
    lines = re.findall(r"^\| .* \| (.*?) \|$", table, re.M)[1:]
    code = [re.search(r"`(.*)`", line)[1] for line in lines if not line.startswith("-")]
    names = {
        "store": langchain_store(), "index": llama_store(), "q": corpus.QUERY, "breadth": breadth,
        "vectors": corpus.vectors(), "scores": corpus.vectors() @ corpus.query(),
        "BreadthRanker": haystack.BreadthRanker,
        "BreadthCompressor": langchain.BreadthCompressor, "embeddings": embeddings(),
    }  # fmt: skip
    assert len(code) == 6
    for one in code:
        module = llama_index if "similarity_top_k" in one else langchain
        assert eval(one, {**names, "BreadthRetriever": module.BreadthRetriever}) is not None
