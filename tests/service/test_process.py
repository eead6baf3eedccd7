"""`breadth serve` as a process: it stops without losing a request, reloads, and refuses what it must."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import threading
import time

import httpx

from breadth.index import Document, Index
from tests.service.running import process

TOKEN = "the-token-of-this-test"


def wait_until(is_so):
    until = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_a_stop_under_load_loses_no_request(index_path, tmp_path):
    answered, refused, lost = [], [], []
    go_on = threading.Event()
    go_on.set()

    def ask(place):
        with httpx.Client(timeout=30, headers={"Authorization": f"Bearer {TOKEN}"}) as client:
            while go_on.is_set():
                try:
                    answer = client.post(f"{server.url}/v1/select", json={"query": f"asthma {place}", "k": 5})
                    answered.append(answer.status_code)
                except httpx.ConnectError as error:  # it no longer listens: the request was never accepted
                    refused.append(error)
                    return
                except httpx.TransportError as error:
                    lost.append(repr(error))
                    return

    with process(tmp_path / "log", str(index_path), "--threads", "1", token=TOKEN) as server:
        assert httpx.get(f"{server.url}/metrics").status_code == 401
        threads = [threading.Thread(target=ask, args=(place,)) for place in range(8)]
        for thread in threads:
            thread.start()
        wait_until(lambda: len(answered) > 40 or lost)
        before = len(answered)
        code = server.stop()
        for thread in threads:
            thread.join(30)
        go_on.clear()
    assert code == 0, server.log.read_text()
    assert lost == []
    assert set(answered) == {200}
    assert len(answered) > before > 0
    assert len(refused) == 8
    lines = [json.loads(line) for line in server.log.read_text().splitlines()]
    assert [line["event"] for line in (lines[0], lines[-1])] == ["listening", "stopped"]
    assert sum(line.get("status") == 200 for line in lines) == len(answered)
    assert TOKEN not in server.log.read_text()


def test_a_signal_opens_the_index_again_without_downtime(index_path, tmp_path):
    path, link = tmp_path / "first", tmp_path / "current"
    shutil.copytree(index_path, path)
    link.symlink_to(path)
    failed, go_on = [], threading.Event()
    go_on.set()

    def ask():
        with httpx.Client(base_url=server.url, timeout=30) as client:
            while go_on.is_set():
                answer = client.post("/v1/select", json={"query": "asthma", "k": 3})
                if answer.status_code != 200:
                    failed.append(answer.text)

    with process(tmp_path / "log", str(link)) as server:
        with Index.open(path) as index:  # what is added is found without a reload
            index.add([Document("new", "something new about asthma")])
        assert httpx.get(f"{server.url}/v1/documents/new").status_code == 200
        thread = threading.Thread(target=ask)
        thread.start()
        other = tmp_path / "other"
        with Index.create(other) as index:
            index.add([Document("other", "another index about asthma"), Document("third", "gout and measles")])
        (tmp_path / "next").symlink_to(other)
        (tmp_path / "next").replace(link)
        time.sleep(0.1)  # some requests while the link and the open index differ
        server.process.send_signal(signal.SIGHUP)
        wait_until(lambda: httpx.get(f"{server.url}/readyz").json()["documents"] == 2)
        go_on.clear()
        thread.join(30)
        assert httpx.get(f"{server.url}/v1/documents/other").status_code == 200
        assert "breadth_reloads_total 1" in httpx.get(f"{server.url}/metrics").text
        assert server.stop() == 0
    assert failed == []


def test_the_command_refuses_to_listen_beyond_this_machine_without_a_token(index_path, monkeypatch):
    monkeypatch.delenv("BREADTH_TOKEN", raising=False)
    command = [sys.executable, "-m", "breadth", "serve", str(index_path), "--host", "0.0.0.0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "BREADTH_TOKEN" in done.stderr
    assert "Traceback" not in done.stderr
