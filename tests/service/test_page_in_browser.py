"""A real browser drives the page, as a person would: type, press keys, drag, read the numbers."""

from __future__ import annotations

import gzip
import json
import math
import re
from pathlib import Path

import httpx
import pytest

from breadth.index import Document, Index
from breadth.service.settings import Settings
from tests.service.browsing import Visitor, browsing
from tests.service.running import serving

QUERY = "How is asthma treated?"
K = 6
RELATIONS = {"same": "verbatim", "contained": "contained in it", "says the same": "in other words"}
DESKTOP = {"viewport": {"width": 1280, "height": 900}}
PHONE = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "is_mobile": True, "has_touch": True}


@pytest.fixture(scope="module")
def browser():
    with browsing() as started:
        yield started


@pytest.fixture
def visit(browser, running):
    """Open the page in a profile of its own. At the end nothing may have gone wrong, and no other host was asked."""
    contexts = []

    def open_page(url=running.url, **look):
        contexts.append(browser.new_context(**(look or DESKTOP)))
        visitor = Visitor(contexts[-1].new_page(), url)
        visitors.append(visitor)
        return visitor

    visitors: list[Visitor] = []
    yield open_page
    for context in contexts:
        context.close()
    for visitor in visitors:
        assert [url for url in visitor.asked if not url.startswith((visitor.url, "data:"))] == []
        assert visitor.wrong == []


def ask(running, path="/v1/select", **told):
    answer = httpx.post(running.url + path, json={"query": QUERY, "k": K, **told})
    assert answer.status_code == 200, answer.text
    return answer.json()


def set_k(visitor, k=K):
    visitor.page.fill("#k", str(k))


def check_against(visitor, running, theta, distinct, k=K):
    """Compare all that is shown with what the service answers."""
    chosen = ask(running, theta=theta, distinct=distinct, k=k)
    top = ask(running, method="topk", sharpness=12, k=k)
    seen = ask(running, "/v1/inspect", theta=theta, distinct=distinct, k=k)["sets"]
    assert visitor.ids("chosen") == [hit["id"] for hit in chosen["hits"]]
    assert visitor.ids("top") == [hit["id"] for hit in top["hits"]]
    for name, found in (("chosen", chosen), ("top", top)):
        worth = f"relevance {found['relevance']:.3f}, redundancy {found['redundancy']:.3f}"
        assert visitor.text(f"{name}-worth") == worth
        assert visitor.text(f"{name}-coverage") == f"{100 * seen[name]['coverage']:.1f} %"
        place = f"redundancy {found['redundancy']:.3f}, relevance {found['relevance']:.3f}"
        assert place in visitor.text("curve-words")
    assert f"MMR: redundancy {seen['mmr']['redundancy']:.3f}" in visitor.text("curve-words")
    assert f"Score {chosen['objective']:.4f}" in visitor.text("worth")
    gap, size = chosen["certificate"]["gap"], len(chosen["hits"])
    least = (
        "higher" if chosen["certificate"]["optimal"] else f"more than {math.ceil(gap * 1e4 - 1e-9) / 1e4:.4f} higher"
    )
    assert visitor.text("proof") == f"Proved: no allowed set of {size} passages scores {least}."
    originals = {copy["id"]: (hit["id"], copy["relation"]) for hit in chosen["hits"] for copy in hit["copies"]}
    for identity, mark in visitor.marks("top").items():
        if identity in visitor.ids("chosen"):
            assert mark == "kept"
        elif identity in originals:
            member, relation = originals[identity]
            assert mark == f"dropped: a copy of {member}, {RELATIONS[relation]}"
        else:
            assert mark.startswith("given up: most like ")
            assert identity in chosen["given_up"]
    for identity, mark in visitor.marks("chosen").items():
        assert mark.startswith("came in") == (identity not in visitor.ids("top"))


def test_a_query_shows_what_the_service_answers(visit, running):
    visitor = visit()
    set_k(visitor)
    visitor.search(QUERY)
    check_against(visitor, running, 1.0, 0.85)
    assert any("a copy of" in mark for mark in visitor.marks("top").values())
    assert re.search(r"\d of 6 dropped: \d cop", visitor.text("change"))
    assert "came in instead" in visitor.text("change")
    visitor.picture("desktop")


def test_keys_move_the_sliders_and_go_through_the_lists(visit, running):
    visitor = visit()
    page = visitor.page
    assert page.evaluate("document.activeElement.id") == "query"
    set_k(visitor)
    page.focus("#query")
    page.keyboard.type(QUERY)
    page.keyboard.press("Enter")
    visitor.wait()
    for name in ("button", "theta", "distinct", "k", "top", "chosen"):  # Tab reaches everything, each list once
        page.keyboard.press("Tab")
        reached = page.evaluate("(one => one.id || one.parentNode.id)(document.activeElement)")
        assert reached == name or (name == "button" and page.evaluate("document.activeElement.tagName") == "BUTTON")
    assert page.evaluate("document.activeElement.dataset.id") == visitor.ids("chosen")[0]
    page.keyboard.press("ArrowDown")
    second = visitor.ids("chosen")[1]
    assert page.evaluate("document.activeElement.dataset.id") == second
    assert second in visitor.text("pointed")
    page.keyboard.press("Enter")
    assert page.eval_on_selector("#chosen li:nth-child(2)", "one => one.classList.contains('open')")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "query"
    visitor.move("theta", ["ArrowLeft"] * 10)
    assert visitor.value("theta") == pytest.approx(0.5)
    assert visitor.text("theta-shown") == "0.50"
    check_against(visitor, running, 0.5, 0.85)
    visitor.move("distinct", ["Home"])
    check_against(visitor, running, 0.5, 0.5)
    visitor.move("k", ["ArrowUp"])
    check_against(visitor, running, 0.5, 0.5, k=K + 1)


def test_the_mouse_drags_the_sliders(visit, running):
    visitor = visit()
    set_k(visitor)
    visitor.search(QUERY)
    for slider, share in (("theta", 0.3), ("distinct", 0.6)):
        box = visitor.page.locator(f"#{slider}").bounding_box()
        low, high = {"theta": (0.0, 1.0), "distinct": (0.5, 1.0)}[slider]
        begin = (visitor.value(slider) - low) / (high - low)
        mouse, middle = visitor.page.mouse, box["y"] + box["height"] / 2
        mouse.move(box["x"] + 8 + begin * (box["width"] - 16), middle)
        mouse.down()
        mouse.move(box["x"] + 8 + share * (box["width"] - 16), middle, steps=12)
        mouse.up()
        visitor.page.wait_for_timeout(300)
        visitor.wait()
        assert visitor.value(slider) == pytest.approx(low + share * (high - low), abs=0.051)
    check_against(visitor, running, visitor.value("theta"), visitor.value("distinct"))


def test_the_map_shows_chosen_ones_and_clumps_of_copies(visit, running):
    visitor = visit()
    set_k(visitor)
    visitor.search(QUERY)
    page = visitor.page
    seen = ask(running, "/v1/inspect", theta=0.7, distinct=0.95)
    assert page.locator("#map circle").count() == len(seen["candidates"])
    assert page.locator("#map circle.chosen").count() == page.locator("#map text").count() == K
    copies = sum(map(len, seen["sets"]["chosen"]["copies"]))
    assert page.locator("#map circle.copy").count() == page.locator("#map line").count() == copies > 0
    lengths = page.eval_on_selector_all(
        "#map line", "all => all.map(one => ['x1', 'y1', 'x2', 'y2'].map(name => Number(one.getAttribute(name))))"
    )
    assert all(5 < math.hypot(x1 - x2, y1 - y2) < 40 for x1, y1, x2, y2 in lengths)  # close by, but to be seen
    page.locator("#map circle.copy").first.dispatch_event("pointerover")
    assert "A copy of" in visitor.text("pointed")


ADVISORIES = Path(__file__).parents[2] / "src" / "breadth" / "cli" / "data" / "advisories.jsonl.gz"


@pytest.fixture(scope="module")
def advisories(tmp_path_factory):
    """Passages that differ in a version or a function."""
    path = tmp_path_factory.mktemp("advisories") / "advisories.index"
    lines = [json.loads(line) for line in gzip.decompress(ADVISORIES.read_bytes()).splitlines()]
    with Index.create(path) as index:
        index.add([Document(x["id"], x["text"], {"package": x["package"], "year": x["year"]}) for x in lines])
        index.add(
            [Document("note", "# Pillow\n- **Upgrade** `pillow`, see [the notes](https://x.org) <b>now</b> 🎉 at 1")]
        )
    with serving(Settings(str(path), port=0, name="advisories")) as served:
        yield served


def test_what_differs_is_shown_word_by_word_with_the_keyboard_alone(visit, advisories):
    visitor = visit(advisories.url)
    page = visitor.page
    visitor.search("pillow denial of service via large image")
    variants = page.locator("#chosen .near button")
    assert variants.count()
    words = variants.first.inner_text()
    assert re.match(r"(differs from|says all of) PYSEC-[\d-]+#0", words)
    item = page.locator("#chosen li:has(.near)").first
    page.evaluate("one => one.focus()", item.element_handle())
    page.keyboard.press("Enter")  # the passage is open: Tab goes on to what is near
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.innerText") == words
    page.keyboard.press("Enter")
    page.wait_for_selector("#diff[open]")
    sides = [page.inner_text(f"#diff-{side}-name") for side in ("left", "right")]
    assert sides == [item.get_attribute("data-id"), words.split()[2].rstrip(",:") if "from" in words else sides[1]]
    told = httpx.post(advisories.url + "/v1/compare", json=dict(zip(("left", "right"), sides, strict=True))).json()
    for side, name in (("left", "here"), ("right", "there")):
        marked = page.eval_on_selector_all(f"#diff-{side} mark", "all => all.map(one => one.textContent)")
        assert marked == [change[name] for change in told["changes"] if change[name]]
        assert page.eval_on_selector(f"#diff-{side}", "one => one.textContent") == told[side]["text"]
    visitor.picture("differences")
    page.keyboard.press("Escape")
    assert not page.is_visible("#diff")
    assert page.evaluate("document.activeElement.innerText") == words


def test_the_first_screen_names_the_collection_and_offers_queries(visit, advisories):
    visitor = visit(advisories.url)
    visitor.wait_for("collection", "advisories, 354 passages")
    example = visitor.page.locator("#examples button").first
    query = example.inner_text()
    example.click()
    visitor.wait()
    assert visitor.value("k") == 10
    assert visitor.page.input_value("#query") == query
    assert len(visitor.ids("chosen")) > 0
    assert visitor.page.locator("#chosen li .chips span").first.inner_text().startswith("package: ")


def test_the_address_keeps_what_was_asked(visit, advisories):
    visitor = visit(advisories.url)
    set_k(visitor, 4)
    visitor.search("Django redirect")
    visitor.move("theta", ["ArrowLeft"] * 2)
    visitor.page.wait_for_function("() => location.search.includes('theta=0.9')")
    address = visitor.page.url
    assert address.endswith("/?q=Django+redirect&k=4&theta=0.9")
    found = visitor.ids("chosen")
    other = visit(advisories.url)
    other.page.goto(address)
    other.wait()
    assert other.ids("chosen") == found
    other.search("heap overflow in TensorFlow")
    other.page.go_back()
    other.page.wait_for_selector("#results[data-query='Django redirect'][aria-busy='false']")
    assert other.ids("chosen") == found


def test_markdown_is_shown_as_text(visit, advisories):
    visitor = visit(advisories.url)
    set_k(visitor, 3)
    visitor.search("Upgrade pillow, see the notes")
    text = visitor.page.locator("#chosen li[data-id=note] .text")
    assert text.inner_text() == "Pillow\n• Upgrade pillow, see the notes <b>now</b> 🎉 at 1"
    assert text.locator("strong").all_inner_texts() == ["Pillow", "Upgrade"]
    assert text.locator("b, a").count() == 0


def test_matrices_and_curve_are_drawn(visit):
    visitor = visit()
    set_k(visitor)
    visitor.search(QUERY)
    largest = {}
    for name in ("top", "chosen"):
        found = re.search(r"mean cosine ([\d.]+), largest ([\d.]+)", visitor.text(f"{name}-pairs"))
        largest[name] = float(found[2])
        size = visitor.page.eval_on_selector(f"#{name}-matrix", "one => one.width")
        assert size == K
    assert largest["chosen"] <= 0.95 < largest["top"]
    colours = """one => {
      const data = one.getContext("2d").getImageData(0, 0, one.width, one.height).data;
      const seen = new Set();
      for (let i = 0; i < data.length; i += 4) if (data[i + 3]) seen.add(data.slice(i, i + 3).join());
      return seen.size;
    }"""
    assert visitor.page.eval_on_selector("#top-matrix", colours) > 3
    assert visitor.page.eval_on_selector("#curve canvas", colours) > 3
    assert "The curve bends at" in visitor.text("curve-words")
    visitor.page.hover("#top-matrix")
    assert "cosine" in visitor.text("pair")


def test_a_hasty_answer_is_followed_by_the_full_one(visit, running):
    visitor = visit()
    set_k(visitor)
    visitor.search(QUERY)
    bodies = []
    visitor.page.on("request", lambda request: bodies.append(json.loads(request.post_data or "{}")))

    def answer_as(seconds, hasty):
        """A service that takes so long, and says this about hasty answers."""

        def handle(route):
            answer = route.fetch()
            data = answer.json()
            if data["sets"]:
                about = hasty if "time_limit" in json.loads(route.request.post_data) else {}
                data["sets"]["chosen"] |= {"seconds": seconds, "stopped": "swap_optimal", **about}
            route.fulfill(response=answer, json=data)

        visitor.page.unroute("**/v1/inspect")
        visitor.page.route("**/v1/inspect", handle)

    answer_as(1.0, {"stopped": "time_limit", "certificate": None})
    visitor.page.press("#theta", "ArrowLeft")
    visitor.wait_for("proof", "A first answer")
    visitor.wait_for("proof", "Proved")
    visitor.move("theta", ["ArrowLeft"])
    answer_as(0.001, {})
    for _ in range(2):
        visitor.move("theta", ["ArrowLeft"])
        visitor.page.wait_for_timeout(300)
        visitor.wait()
    visitor.page.unroute("**/v1/inspect")
    asked = [("pool" in body, body.get("time_limit")) for body in bodies if body["parts"] == ["sets"]]
    hasty, first, full = (False, 0.012), (True, 0.012), (False, None)
    assert asked == [hasty, full, first, full, first, hasty]  # the pool holds the whole collection, which is small
    check_against(visitor, running, 0.8, 0.85)


def test_who_is_quicker_than_the_service_sees_what_was_asked_last(visit, running):
    visitor = visit()
    page = visitor.page
    set_k(visitor)
    page.route("**/v1/inspect", lambda route: (page.wait_for_timeout(150), route.continue_()))
    page.fill("#query", QUERY)
    page.press("#query", "Enter")
    for _ in range(3):  # the search is still under way
        page.press("#theta", "ArrowLeft")
    visitor.wait()
    assert visitor.value("theta") == pytest.approx(0.85)
    check_against(visitor, running, 0.85, 0.85)
    page.press("#theta", "ArrowLeft")
    page.fill("#query", "What causes gout?")
    page.press("#query", "Enter")
    page.wait_for_selector("#results[data-query='What causes gout?'][aria-busy='false']")
    wanted = ask(running, query="What causes gout?", theta=0.8, distinct=0.85)
    assert visitor.ids("chosen") == [hit["id"] for hit in wanted["hits"]]


def test_documents_and_queries_are_shown_as_text(visit, tmp_path):
    nasty = "<img src=x onerror=\"alert('image')\"><script>alert('script')</script><b>bold</b> asthma"
    path = tmp_path / "nasty.index"
    with Index.create(path) as index:
        index.add(
            [Document(f"<b>{n}</b><script>alert({n})</script>", f"{nasty} {n}", {"<i>": nasty}) for n in range(8)]
        )
    with serving(Settings(str(path), port=0)) as served:
        visitor = visit(served.url)
        set_k(visitor, 3)
        visitor.search(f"asthma {nasty}")
        assert visitor.page.locator("main b, main script, main img, main i").count() == 0
        assert visitor.page.inner_text("#top li:first-child .text").startswith(nasty)
        assert re.fullmatch(r"<b>\d</b><script>alert\(\d\)</script>", visitor.ids("chosen")[0])
        visitor.page.hover("#top li:first-child")
        assert nasty[:40] in visitor.text("pointed")
        visitor.picture("script")
        with pytest.raises(Exception, match="TrustedHTML"):  # the browser itself would refuse it
            visitor.page.eval_on_selector("#proof", "one => { one.innerHTML = '<b>bold</b>'; }")
        visitor.wrong.clear()


def test_it_says_when_the_query_is_empty_or_wrong(visit):
    visitor = visit()
    visitor.picture("empty")
    assert visitor.text("message") == "Type a query, then press Enter."
    for query in ("", "   "):
        visitor.page.fill("#query", query)
        visitor.page.press("#query", "Enter")
        assert visitor.text("message") == "Type a query, then press Enter."
        assert not visitor.page.is_visible("#results")
    visitor.page.fill("#query", QUERY)
    visitor.page.fill("#k", "0")
    visitor.page.eval_on_selector("#ask", "form => form.noValidate = true")
    visitor.page.click("button")
    assert "whole number from 1 to 100" in visitor.text("message")
    visitor.page.fill("#k", "3")
    visitor.page.fill("#query", "☃☃")
    visitor.page.click("button")
    visitor.wait_for("message", "encoder")
    visitor.wrong.clear()  # the browser notes that a request was refused
    visitor.search(QUERY)
    assert visitor.text("message") == ""


def test_it_says_when_the_service_is_gone_and_goes_on_when_it_is_back(visit, index_path):
    with serving(Settings(str(index_path), port=0)) as first:
        visitor = visit(first.url)
        visitor.search(QUERY)
        port = int(first.url.rpartition(":")[2])
    visitor.page.press("#theta", "ArrowLeft")
    visitor.wait_for("message", "does not answer")
    assert visitor.page.eval_on_selector("#results", "one => one.classList.contains('stale')")
    visitor.picture("gone")
    visitor.wrong.clear()  # the browser notes that it was not connected
    with serving(Settings(str(index_path), port=port)):
        visitor.page.click("button")
        visitor.page.wait_for_selector("#results:not(.stale)")
        visitor.wait()
        assert visitor.text("message") == ""


def test_it_asks_for_the_token(visit, index_path):
    token = "the-token-of-this-test"
    with serving(Settings(str(index_path), port=0, token=token)) as served:
        visitor = visit(served.url)
        assert not visitor.page.is_visible("#token")
        visitor.page.fill("#query", QUERY)
        visitor.page.press("#query", "Enter")
        visitor.page.wait_for_selector("#token", state="visible")
        assert "asks for its token" in visitor.text("message")
        visitor.page.fill("#token", token)
        visitor.page.press("#token", "Enter")
        visitor.wait()
        assert len(visitor.ids("chosen")) == 10
        visitor.wrong.clear()  # the browser notes that a request was refused


@pytest.mark.parametrize(
    ("name", "look"),
    [
        ("phone", PHONE),
        ("dark", {**DESKTOP, "color_scheme": "dark"}),
        ("narrow", {"viewport": {"width": 320, "height": 600}}),
    ],
)
def test_it_fits_phones_and_the_dark(visit, name, look):
    visitor = visit(**look)
    visitor.search(QUERY)
    page = visitor.page
    assert page.evaluate("document.documentElement.scrollWidth") <= look["viewport"]["width"]
    boxes = page.eval_on_selector_all(
        "input:not([type=password]), button", "all => all.map(one => one.getBoundingClientRect().right)"
    )
    assert max(boxes) <= look["viewport"]["width"]
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", ground)[:3])) < 200) == (name == "dark")
    visitor.picture(name)
