"""`breadth serve` as a process: it stops without losing a request, reloads, and refuses what it must."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest

from breadth.index import Document, Index
from breadth.service.running import ignore_newcomers
from tests.service.running import process

TOKEN = "the-token-of-this-test"


def wait_until(is_so):
    until = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.01)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_stop_under_load_loses_no_request(index_path, tmp_path, workers):
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

    settings = ("--threads", "1", "--workers", str(workers))
    with process(tmp_path / "log", str(index_path), *settings, token=TOKEN) as server:
        assert httpx.get(f"{server.url}/metrics").status_code == 401
        threads = [threading.Thread(target=ask, args=(place,)) for place in range(8)]
        for thread in threads:
            thread.start()
        wait_until(lambda: len(answered) > 40 or lost)
        before = len(answered)
        for pid in list_workers(server.process) if workers > 1 else ():
            os.kill(pid, signal.SIGTERM)  # a terminal or systemd signals all processes: that is still one signal
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


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux lets a socket ignore attempts to connect")
def test_who_comes_too_late_is_refused_and_not_reset():
    refused = []

    def come_late():
        try:
            socket.create_connection(address, timeout=20).close()
        except ConnectionRefusedError as error:
            refused.append(error)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = listening.getsockname()
        with socket.create_connection(address) as early:
            early.sendall(b"asked")
            ignore_newcomers(listening)
            late = threading.Thread(target=come_late)
            late.start()
            late.join(0.3)
            assert late.is_alive()  # neither connected nor refused yet
            accepted, _ = listening.accept()  # who came before is still there
            listening.close()
            with accepted:
                assert accepted.recv(5) == b"asked"
            late.join(20)
    assert len(refused) == 1


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


def count_answers(url):
    """How many answers of `/v1/select` the service has counted, over all processes."""
    text = httpx.get(f"{url}/metrics").text
    return sum(
        float(line.split()[-1]) for line in text.splitlines() if line.startswith('breadth_requests_total{route="/v1/s')
    )


def list_workers(process):
    """The processes that answer: multiprocessing has one more for itself."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return [int(pid) for pid in children if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def ask_often(url, times):
    for _ in range(times):  # each over a connection of its own
        answer = httpx.post(f"{url}/v1/select", json={"query": "asthma", "k": 3})
        assert answer.status_code == 200, answer.text


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="the processes are found by /proc, which Linux has")
def test_several_processes_answer_count_reload_and_are_replaced(index_path, tmp_path):
    path, link = tmp_path / "first", tmp_path / "current"
    shutil.copytree(index_path, path)
    link.symlink_to(path)
    with process(tmp_path / "log", str(link), "--workers", "2") as server:
        first = list_workers(server.process)
        assert len(first) == 2
        ask_often(server.url, 40)
        wait_until(lambda: count_answers(server.url) == 40)  # whichever process is asked, at most a second later
        # All of them open the collection again.
        other = tmp_path / "other"
        with Index.create(other) as index:
            index.add([Document("other", "another index about asthma"), Document("third", "gout and measles")])
        (tmp_path / "next").symlink_to(other)
        (tmp_path / "next").replace(link)
        server.process.send_signal(signal.SIGHUP)
        wait_until(lambda: "breadth_reloads_total 2" in httpx.get(f"{server.url}/metrics").text)
        seen = {httpx.get(f"{server.url}/readyz").json()["documents"] for _ in range(20)}
        assert seen == {2}
        # One that is killed is replaced; what it has counted still counts.
        os.kill(first[0], signal.SIGKILL)
        wait_until(lambda: len(list_workers(server.process)) == 2 and first[0] not in list_workers(server.process))
        wait_until(lambda: server.log.read_text().count("worker ended") == 1)
        wait_until(lambda: count_answers(server.url) == 40)
        ask_often(server.url, 10)
        wait_until(lambda: count_answers(server.url) == 50)
        # None of them outlives the first one.
        workers = list_workers(server.process)
        server.process.kill()
        server.process.wait(30)
        wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers))


def test_processes_that_cannot_start_say_why(index_path, tmp_path, running):
    port = running.url.rpartition(":")[2]
    for arguments, message in (
        ([str(tmp_path / "nothing"), "--port", "0"], "is no index and no address"),
        ([str(index_path), "--port", port], f"port {port}"),
        ([str(index_path), "--workers", "0"], "workers must be at least 1"),
    ):
        command = [sys.executable, "-m", "breadth", "serve", "--workers", "2", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert done.returncode == 1
        assert message in " ".join(done.stderr.split())
        assert "Traceback" not in done.stderr


def test_the_command_refuses_to_listen_beyond_this_machine_without_a_token(index_path, monkeypatch):
    monkeypatch.delenv("BREADTH_TOKEN", raising=False)
    command = [sys.executable, "-m", "breadth", "serve", str(index_path), "--host", "0.0.0.0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "BREADTH_TOKEN" in done.stderr
    assert "Traceback" not in done.stderr
