"""The commands and the code of docs/service.md work."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

PAGE = (Path(__file__).parent.parent.parent / "docs" / "service.md").read_text(encoding="utf-8")
COMMANDS = [line[2:] for block in re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_curl_commands_are_answered(running, command):
    assert command.startswith("curl -s http://127.0.0.1:8000/")
    address = command.replace("http://127.0.0.1:8000", running.url)
    done = subprocess.run([*shlex.split(address), "--fail-with-body"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout
    if "metrics" in command:
        assert "breadth_requests_total" in done.stdout
    else:
        data = json.loads(done.stdout)
        assert data.get("hits", data)


def test_the_page_has_a_command_for_every_route(running):
    for path in running.server.config.app.openapi()["paths"]:
        beginning = "http://127.0.0.1:8000" + path.partition("{")[0]
        assert any(beginning in command for command in COMMANDS), path


def test_the_code_runs(running, capsys):
    (block,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(block.replace("http://127.0.0.1:8000", running.url), "service.md", "exec"), {})
    assert "asthma" in capsys.readouterr().out
