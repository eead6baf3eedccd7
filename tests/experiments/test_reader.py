"""A reader asks no more than it must, survives a bad endpoint, and loses no answer."""

from __future__ import annotations

import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from breadth.errors import EndpointError, InputError, MissingExtraError
from breadth_experiments.reader import Reader
from tests.experiments.children import running
from tests.experiments.endpoint import serving


@pytest.fixture
def endpoint():
    with serving() as one:
        yield one


def prompt(text):
    return [{"role": "user", "content": str(text)}]


def prompts(count):
    return [prompt(number) for number in range(count)]


def reader(endpoint, tmp_path, **options):
    options = {"wait": 0.005, "timeout": 20.0, **options}
    return Reader("tiny", endpoint.url, cache=tmp_path / "cache.jsonl", **options)


def cached(tmp_path):
    return [json.loads(line) for line in (tmp_path / "cache.jsonl").read_text(encoding="utf-8").splitlines()]


def test_answers_come_in_order_and_equal_prompts_are_asked_once(endpoint, tmp_path):
    reports = []
    with reader(endpoint, tmp_path, max_tokens=7) as one:
        found = one.ask([*prompts(5), prompt(1), prompt(1)], lambda done, total: reports.append((done, total)))
        assert one.ask([]) == []
    assert found == ["re: 0", "re: 1", "re: 2", "re: 3", "re: 4", "re: 1", "re: 1"]
    assert len(endpoint.asked) == 5
    assert {(a["model"], a["max_tokens"], a["temperature"], a["seed"]) for a in endpoint.asked} == {("tiny", 7, 0, 0)}
    assert reports[0] == (0, 7)
    assert reports[-1] == (7, 7)
    assert reports == sorted(reports)


def test_a_second_run_asks_nothing(endpoint, tmp_path):
    with reader(endpoint, tmp_path) as one:
        first = one.ask(prompts(4))
        assert one.ask(prompts(4)) == first
    with reader(endpoint, tmp_path) as one:
        reports = []
        assert one.ask(prompts(4), lambda *at: reports.append(at)) == first
        assert reports == [(4, 4)]
    assert len(endpoint.asked) == 4
    with reader(endpoint, tmp_path, max_tokens=3) as one:  # another question to the model
        one.ask(prompts(4))
    assert len(endpoint.asked) == 8


def test_no_more_requests_are_under_way_than_allowed(endpoint, tmp_path):
    endpoint.delay = 0.03
    with reader(endpoint, tmp_path, concurrency=3) as one:
        one.ask(prompts(12))
    assert endpoint.most_at_once == 3


def test_failures_that_pass_are_tried_again(endpoint, tmp_path):
    endpoint.failures = [(500, "oops"), (429, "slow down"), (0, ""), (1, "")]
    with reader(endpoint, tmp_path, concurrency=1) as one:
        assert one.ask(prompts(2)) == ["re: 0", "re: 1"]
    assert len(endpoint.asked) == 6


def test_waiting_doubles(endpoint, tmp_path):
    endpoint.failures = [(503, "loading")] * 3
    started = time.perf_counter()
    with reader(endpoint, tmp_path, wait=0.05) as one:
        one.ask(prompts(1))
    assert time.perf_counter() - started >= 0.05 + 0.1 + 0.2


def test_a_timeout_is_tried_again(endpoint, tmp_path):
    endpoint.delay = 0.4
    with reader(endpoint, tmp_path, timeout=0.1, tries=2) as one, pytest.raises(EndpointError, match="failed 2 times"):
        one.ask(prompts(1))
    assert len(endpoint.asked) == 2


def test_an_endpoint_that_dies_is_an_error_and_what_it_answered_is_kept(endpoint, tmp_path):
    endpoint.dies_after = 5
    failed = pytest.raises(EndpointError, match=r"127\.0\.0\.1:\d+/v1 failed 5 times: Connection error")
    with reader(endpoint, tmp_path, concurrency=2) as one, failed:
        one.ask(prompts(20))
    assert len(cached(tmp_path)) == 5
    assert len(endpoint.asked) < 20  # it gave up instead of trying all of them five times
    endpoint.dies_after = None
    endpoint.asked.clear()
    with reader(endpoint, tmp_path) as one:
        assert one.ask(prompts(20))[19] == "re: 19"
    assert len(endpoint.asked) == 15


def test_nobody_there(tmp_path):
    nobody = Reader("tiny", "http://127.0.0.1:9/v1", cache=tmp_path / "cache.jsonl", wait=0.001)
    with nobody, pytest.raises(EndpointError, match=r"is the server up\?"):
        nobody.ask(prompts(3))


@pytest.mark.parametrize(
    ("status", "said", "advice"),
    [
        (400, "the request exceeds the available context size", "smaller k"),
        (401, "bad key", "OPENAI_API_KEY"),
        (404, "no model 'tiny'", "check the model's name"),
        (422, "cannot", "context"),
    ],
)
def test_a_refusal_quotes_the_server_and_is_not_tried_again(endpoint, tmp_path, status, said, advice):
    with reader(endpoint, tmp_path, concurrency=1) as one:
        one.ask(prompts(2))
        endpoint.failures = [(status, said)]
        with pytest.raises(EndpointError, match=rf"refused model 'tiny' \({status}\): {said}; .*{advice}"):
            one.ask(prompts(9))
    assert len(cached(tmp_path)) < 9
    assert endpoint.failures == []


def test_something_else_that_answers(endpoint, tmp_path):
    endpoint.failures = [(200, "welcome to the web")]
    with reader(endpoint, tmp_path) as one, pytest.raises(EndpointError, match="does not speak the chat protocol"):
        one.ask(prompts(1))


def test_half_characters_and_empty_answers_are_kept(endpoint, tmp_path):
    endpoint.answer = lambda content: {"0": "half \ud83d", "1": None}.get(content, "é\u2028\r\n")
    with reader(endpoint, tmp_path) as one:
        assert one.ask(prompts(3)) == ["half ?", "", "é\u2028\r\n"]
    with reader(endpoint, tmp_path) as one:
        assert one.ask(prompts(3)) == ["half ?", "", "é\u2028\r\n"]


def test_a_killed_process_loses_nothing_that_was_answered(endpoint, tmp_path):
    """The endpoint is slow from the fourth prompt on; the process is killed while it waits."""
    endpoint.answer = lambda content: time.sleep(0.0 if int(content) < 3 else 1.5) or f"re: {content}"
    code = (
        "import sys; from pathlib import Path; from breadth_experiments.reader import Reader\n"
        "reader = Reader('tiny', sys.argv[1], cache=Path(sys.argv[2]), concurrency=1)\n"
        "reader.ask([[{'role': 'user', 'content': str(n)}] for n in range(6)])\n"
    )
    with running([sys.executable, "-c", code, endpoint.url, str(tmp_path / "cache.jsonl")]):
        deadline = time.monotonic() + 20
        while len(endpoint.asked) < 4 and time.monotonic() < deadline:
            time.sleep(0.01)
    assert [one["answer"] for one in cached(tmp_path)] == ["re: 0", "re: 1", "re: 2"]
    with (tmp_path / "cache.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"key": "half a li')  # as if it had died while writing
    endpoint.answer = lambda content: f"re: {content}"
    endpoint.asked.clear()
    with reader(endpoint, tmp_path) as one:
        assert one.ask(prompts(6)) == [f"re: {n}" for n in range(6)]
    assert sorted(a["messages"][0]["content"] for a in endpoint.asked) == ["3", "4", "5"]


def test_an_interruption_keeps_what_was_answered(endpoint, tmp_path):
    def interrupt(done, total):
        if done == 3:
            raise KeyboardInterrupt

    with reader(endpoint, tmp_path, concurrency=1) as one, pytest.raises(KeyboardInterrupt):
        one.ask(prompts(50), interrupt)
    assert 3 <= len(cached(tmp_path)) < 50


@pytest.mark.parametrize("wrong", [{"max_tokens": 0}, {"concurrency": 0}, {"tries": 0}])
def test_wrong_arguments(tmp_path, wrong):
    with pytest.raises(InputError, match=f"{next(iter(wrong))} must be at least 1, got 0"):
        Reader("tiny", "http://127.0.0.1:9/v1", cache=tmp_path / "cache.jsonl", **wrong)
    with pytest.raises(InputError, match="model must be"):
        Reader("", cache=tmp_path / "cache.jsonl")


def test_without_the_client(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(MissingExtraError, match=r"\.\[openai\]"):
        Reader("tiny", cache=tmp_path / "cache.jsonl")


@pytest.mark.parametrize(
    "content",
    [b"<html>", b"null", b"[]", b"{}", b'{"choices": "x"}', b'{"choices": [{}]}', b'{"choices": [{"message": null}]}'],
)
def test_an_endpoint_that_answers_something_else_is_a_clear_error(tmp_path, content):
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        url = f"http://me:hunter2@127.0.0.1:{server.server_port}/v1"
        with Reader("tiny", url, cache=tmp_path / "answers.jsonl", tries=1) as reader:
            with pytest.raises(EndpointError, match=r"http://127\.0\.0\.1") as caught:
                reader.ask([[{"role": "user", "content": "x"}]])
            assert "hunter2" not in str(caught.value)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
