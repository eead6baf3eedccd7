"""A chat endpoint for tests: real HTTP on loopback, with failures on order."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Endpoint:
    """What it answers, how it fails, and what it saw."""

    url: str = ""
    answer: Callable[[str], str] = lambda content: f"re: {content}"
    failures: list[tuple[int, str]] = field(default_factory=list)
    """Status and message of the next requests; status 0 breaks the connection, 1 is an answer that breaks off."""
    delay: float = 0.0
    dies_after: int | None = None
    asked: list[dict] = field(default_factory=list)
    answered: int = 0
    most_at_once: int = 0
    _at_once: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, request: dict) -> tuple[int, str] | None:
        with self._lock:
            self.asked.append(request)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
            if self.dies_after is not None and self.answered >= self.dies_after:
                return 0, ""
            if self.failures:
                return self.failures.pop(0)
            self.answered += 1
            return None

    def end(self) -> None:
        with self._lock:
            self._at_once -= 1


def handler(endpoint: Endpoint) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            failure = endpoint.begin(request)
            try:
                time.sleep(endpoint.delay)
                if failure is None:
                    text = endpoint.answer(request["messages"][-1]["content"])
                    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
                    self.reply(200, {"id": "1", "object": "chat.completion", "created": 0, "choices": [choice]})
                elif failure[0] == 0:
                    self.close_connection = True
                elif failure[0] == 1:
                    self.reply(200, None)
                else:
                    self.reply(failure[0], {"error": {"message": failure[1], "type": "test"}})
            finally:
                endpoint.end()

        def reply(self, status, data):
            body = b'{"id": "1", "choi' if data is None else json.dumps(data).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            with suppress(ConnectionError):  # the client has given up: the tests of timeouts make it do so
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, *_):
            pass

    return Handler


@contextmanager
def serving() -> Iterator[Endpoint]:
    """An endpoint that runs until the end of the block."""
    endpoint = Endpoint()
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(endpoint))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    endpoint.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield endpoint
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
