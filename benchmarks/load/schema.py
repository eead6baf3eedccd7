"""schemathesis asks a service what its OpenAPI description allows, and what it does not, and compares the answers."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import httpx

_SUMMARY = re.compile(r"(\d+) generated, (\d+) passed")
_UNTRUE = "positive_data_acceptance"
"""A description cannot say all, that a vector has unit length for example. So what it allows may still be refused."""


def ask_by_schema(url: str, examples: int, folder: Path, known: dict[str, str], seconds: float) -> dict[str, Any]:
    """Run schemathesis with so many examples for each route; `known` are parameters of paths that name something.

    The figures say how many cases there were, how many passed, and how often the service answered with each status.
    """
    config = folder / "schemathesis.toml"
    lines = [f'"path.{name}" = "{value}"' for name, value in known.items()]
    config.write_text("\n".join(["[parameters]", *lines]) + "\n", encoding="utf-8")
    before = count_statuses(url)
    command = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(config), "--no-color", "run"]
    command += [f"{url}/openapi.json", "--max-examples", str(examples), "--seed", "16", "--continue-on-failure"]
    command += ["--exclude-checks", _UNTRUE]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=seconds)
    found = _SUMMARY.search(done.stdout)
    return {
        "cases": int(found[1]) if found else 0,
        "passed": int(found[2]) if found else 0,
        "statuses": dict(sorted((count_statuses(url) - before).items())),
        "output": "" if found and done.returncode == 0 else done.stdout + done.stderr,
    }


def count_statuses(url: str) -> Counter[str]:
    """How often a service has answered with each status."""
    found: Counter[str] = Counter()
    for status, count in re.findall(r'requests_total\{.*status="(\d+)"\} (\d+)', httpx.get(f"{url}/metrics").text):
        found[status] += int(count)
    return found
