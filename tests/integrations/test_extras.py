"""Without its framework, an adapter says which extra installs it."""

from __future__ import annotations

import subprocess
import sys

ADAPTERS = {
    "langchain": "langchain_core",
    "llama_index": "llama_index",
    "haystack": "haystack",
    "sklearn": "sklearn",
    "mcp": "mcp",
}

_CODE = """
import importlib, sys
from breadth.errors import MissingExtraError
for adapter, package in {adapters!r}.items():
    sys.modules[package] = None
    try:
        importlib.import_module(f"breadth.integrations.{{adapter}}")
    except MissingExtraError as error:
        print(error)
"""


def test_a_missing_framework_is_named_with_its_extra():
    code = _CODE.format(adapters=ADAPTERS)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert len(lines) == len(ADAPTERS)
    for adapter, line in zip(ADAPTERS, lines, strict=True):
        assert f"[{adapter.replace('_', '-')}]" in line
