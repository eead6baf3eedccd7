"""docs/deployment.md: several services on one engine, behind the nginx that the page shows."""

from __future__ import annotations

import re
import shutil
import ssl
import subprocess
import threading
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import numpy as np
import psycopg
import pytest

from breadth.encoders import BuiltinEncoder
from breadth.testing.case import MAKE_KEY
from tests.engines.servers.child import free_port
from tests.engines.servers.postgres import postgres
from tests.engines.stores.pgvector import make_table, write
from tests.service.passages import documents
from tests.service.running import process

pytestmark = pytest.mark.engine

PAGE = (Path(__file__).parent.parent.parent / "docs" / "deployment.md").read_text(encoding="utf-8")
TOKEN = "a-token-for-all-services"
HEADERS = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture(scope="module")
def database():
    """The passages in PostgreSQL, under UUIDs."""
    with postgres() as server:
        texts = [document.text for document in documents()]
        rows = BuiltinEncoder().encode(texts, "document")
        keys = [MAKE_KEY["uuid"](place) for place in range(len(rows))]
        make_table(server.url, "passages", rows, keys, [dict(document.metadata) for document in documents()], texts)
        yield server.url


@pytest.fixture
def services(database, tmp_path):
    """Two services on this database, each in a process of its own."""
    with ExitStack() as stack:
        address = f"{database}?table=passages&text=body"
        arguments = (address, "--encoder", "builtin", "--name", "passages")
        yield [stack.enter_context(process(tmp_path / f"log{place}", *arguments, token=TOKEN)) for place in range(2)]


def select(url, **asked):
    answer = httpx.post(f"{url}/v1/select", json={"query": "How is asthma treated?", "k": 4, **asked}, headers=HEADERS)
    assert answer.status_code == 200, answer.text
    return answer.json()["hits"]


def test_two_services_on_one_engine_answer_alike(services, database):
    first, second = (server.url for server in services)
    chosen = select(first)
    assert chosen == select(second)
    assert len(chosen) == 4
    pinned = str(MAKE_KEY["uuid"](40))
    assert pinned in [hit["id"] for hit in select(second, pinned=[pinned.upper()], excluded=[chosen[0]["id"]])]
    assert httpx.get(f"{first}/v1/documents/{pinned}", headers=HEADERS).json()["text"] == documents()[40].text
    unknown = httpx.get(f"{first}/v1/documents/{MAKE_KEY['uuid'](5000)}", headers=HEADERS)
    assert unknown.status_code == 404
    new = MAKE_KEY["uuid"](1000)
    row = BuiltinEncoder().encode(["How is asthma treated?"], "document")[0]
    with psycopg.connect(database, autocommit=True) as connection:
        values = (new, "How is asthma treated?", write(np.asarray(row)), "{}")
        connection.execute("INSERT INTO passages VALUES (%s, %s, %s, %s)", values)
    for url in (first, second):
        assert select(url)[0]["id"] == str(new)


@contextmanager
def nginx(folder, ports):
    """The nginx of the page, on a free port and with a certificate of its own."""
    (shown,) = re.findall(r"```nginx\n(.*?)```", PAGE, re.DOTALL)
    subject = ["-subj", "/CN=search.example.org", "-addext", "subjectAltName=DNS:search.example.org"]
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *subject]
    subprocess.run([*made, "-keyout", folder / "key", "-out", folder / "pem"], check=True, capture_output=True)
    port = free_port()
    changes = {
        "127.0.0.1:8000": f"127.0.0.1:{ports[0]}",
        "127.0.0.1:8001": f"127.0.0.1:{ports[1]}",
        "listen 443": f"listen 127.0.0.1:{port}",
        "/etc/ssl/search.example.org.pem": str(folder / "pem"),
        "/etc/ssl/search.example.org.key": str(folder / "key"),
    }
    for old, new in changes.items():
        assert shown.count(old) == 1, old
        shown = shown.replace(old, new)
    places = "\n".join(
        f"{name}_temp_path {folder / name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    begin = f"daemon off;\nmaster_process off;\npid {folder / 'pid'};\nerror_log {folder / 'error.log'};\nevents {{}}\n"
    (folder / "nginx.conf").write_text(f"{begin}http {{\naccess_log off;\n{places}\n{shown}}}\n")
    started = subprocess.Popen(["nginx", "-e", folder / "error.log", "-p", folder, "-c", folder / "nginx.conf"])
    try:
        yield f"https://search.example.org:{port}", folder / "error.log"
    finally:
        started.terminate()
        started.wait(30)


class Visitor:
    """A client of the proxy: it knows the certificate, and finds the name of the server on this machine."""

    def __init__(self, url, certificate):
        context = ssl.create_default_context(cafile=certificate)
        local = url.replace("search.example.org", "127.0.0.1")
        head = {**HEADERS, "Host": "search.example.org"}
        self.http = httpx.Client(base_url=local, verify=context, headers=head, timeout=30)

    def ask(self, method, path, **options):
        return self.http.request(method, path, extensions={"sni_hostname": "search.example.org"}, **options)

    def await_ready(self):
        until = time.monotonic() + 30
        while True:
            try:
                return self.ask("GET", "/readyz").json()
            except httpx.TransportError:
                assert time.monotonic() < until, "nginx does not start"
                time.sleep(0.05)


def ask_until(go_on, visitor, answered, failed):
    with visitor.http:
        while go_on.is_set():
            try:
                answer = visitor.ask("POST", "/v1/select", json={"query": "How is asthma treated?", "k": 3})
            except httpx.TransportError as error:
                failed.append(repr(error))
                return
            (answered if answer.status_code == 200 else failed).append(answer.text)


def await_more(answered, count, failed):
    wanted = len(answered) + count
    while len(answered) < wanted and not failed:
        time.sleep(0.01)


@pytest.mark.skipif(
    shutil.which("nginx") is None or shutil.which("openssl") is None, reason="nginx and openssl are not installed"
)
def test_nginx_of_the_page_and_a_restart_without_a_failure(services, tmp_path):
    answered, failed, go_on = [], [], threading.Event()
    go_on.set()
    ports = [server.url.rpartition(":")[2] for server in services]
    with nginx(tmp_path, ports) as (url, log):
        visitor = Visitor(url, tmp_path / "pem")
        with visitor.http:
            assert visitor.await_ready()["name"] == "passages"
            assert visitor.ask("GET", "/metrics").status_code == 403
            assert visitor.ask("GET", "/v1/documents/x", headers={"Authorization": "Bearer wrong"}).status_code == 401
            assert visitor.ask("POST", "/v1/select", content=b"x" * 5_000_000).status_code == 413
        visitors = [Visitor(url, tmp_path / "pem") for _ in range(4)]
        threads = [threading.Thread(target=ask_until, args=(go_on, one, answered, failed)) for one in visitors]
        for thread in threads:
            thread.start()
        await_more(answered, 20, failed)
        assert services[0].stop() == 0
        await_more(answered, 20, failed)
        go_on.clear()
        for thread in threads:
            thread.join(30)
    assert failed == [], log.read_text()
