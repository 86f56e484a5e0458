"""The review page in a real browser: one person's hours with it, and what a hostile page or text cannot do."""

import json
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from builder.core.rows import item_to_row
from builder.io.store import write_jsonl
from tests.stages.worked import hostile_item, worked_items

pytestmark = pytest.mark.slow


@dataclass
class Review:
    process: subprocess.Popen[str]
    url: str

    @property
    def origin(self) -> str:
        return self.url.split("/?")[0]

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(10)


@dataclass
class Desk:
    items: Path
    decisions: Path
    start: Callable[..., Review]

    def rows(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.decisions.read_text().splitlines()]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    running: list[Review] = []
    items, decisions = tmp_path / "items.jsonl", tmp_path / "decisions.jsonl"
    write_jsonl(items, [item_to_row(item) for item in worked_items()])

    def start(*options: str, reviewer: str = "ana") -> Review:
        command = [
            sys.executable,
            "-c",
            "from builder.cli import main; main()",
            "review",
            str(items),
            "--decisions",
            str(decisions),
        ]
        process = subprocess.Popen(
            [*command, "--reviewer", reviewer, *options],
            stdout=subprocess.PIPE,
            stderr=(tmp_path / "stderr").open("a"),
            text=True,
        )
        assert process.stdout is not None
        running.append(Review(process, process.stdout.readline().strip()))
        assert running[-1].url, (tmp_path / "stderr").read_text()
        return running[-1]

    yield Desk(items, decisions, start)
    for review in running:
        if review.process.poll() is None:
            review.kill()


def shown(page: Any) -> str:
    """The id of the item on the page."""
    found = re.search(r"fu_\w+", page.locator("#facts").inner_text())
    assert found
    return found.group()


def visit(page: Any, url: str, item: str) -> None:
    page.goto("about:blank")
    page.goto(f"{url}#{item}")
    page.wait_for_function("id => document.getElementById('facts').textContent.startsWith(id)", arg=item)


def decided(page: Any, count: int) -> None:
    page.wait_for_function(
        "n => document.getElementById('count').textContent.startsWith(`${n} of`)", arg=count
    )


def test_a_person_accepts_edits_rejects_and_undoes_with_keys_alone(desk: Desk, browser_page: Any) -> None:
    page, review = browser_page, desk.start()
    visit(page, review.url, "fu_0003")
    page.keyboard.press("a")
    decided(page, 1)

    visit(page, review.url, "fu_0005")
    page.keyboard.press("e")
    assert page.evaluate("document.activeElement.value") == "none"
    for _ in range(4):
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "required"
    page.keyboard.press("Control+End")
    page.keyboard.type("\nand")
    page.keyboard.press("Control+a")
    page.keyboard.type("Dublin | eu-west-1\nRPO")
    page.keyboard.press("Control+Enter")
    decided(page, 2)

    visit(page, review.url, "fu_0007")
    page.keyboard.press("r")
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    decided(page, 3)
    page.keyboard.press("u")
    decided(page, 2)
    assert shown(page) == "fu_0007"

    rows = desk.rows()
    assert [(row["id"], row["decision"]) for row in rows] == [
        ("fu_0003", "accept"),
        ("fu_0005", "edit"),
        ("fu_0007", "reject"),
        ("fu_0007", "undo"),
    ]
    assert rows[1]["labels"]["aliases"] == {"Dublin": ["eu-west-1"]}
    assert rows[2]["reason"] == "implausible"
    assert {row["reviewer"] for row in rows} == {"ana"}


def test_an_edit_that_breaks_a_rule_is_refused_with_the_rule(desk: Desk, browser_page: Any) -> None:
    page, review = browser_page, desk.start()
    visit(page, review.url, "fu_0007")
    page.locator("#forbidden").fill("Frankfurt\nOslo")
    page.locator("#problems li").filter(has_text="Oslo").wait_for()
    page.keyboard.press("Control+Enter")
    page.locator("#status").filter(has_text="Not kept").wait_for()
    assert not desk.decisions.read_text()
    page.locator("#forbidden").fill("Frankfurt")
    page.keyboard.press("Control+Enter")
    decided(page, 1)


def test_the_conversation_shows_antecedents_and_terms_as_they_are_edited(
    desk: Desk, browser_page: Any
) -> None:
    page, review = browser_page, desk.start()
    visit(page, review.url, "fu_0011")
    assert page.locator(".turn.live .number").all_inner_texts() == ["6"]
    assert page.locator("#derived dd").first.inner_text() == "long_range"
    page.get_by_role("button", name="Turn 6 supplies what is needed").click()
    page.get_by_role("button", name="Turn 10 supplies what is needed").click()
    page.locator("#derived dd").first.filter(has_text="pronoun").wait_for()
    assert page.locator(".turn.live .number").all_inner_texts() == ["10"]
    page.locator("#forbidden").fill("cursor")
    page.locator("mark.stale").filter(has_text="cursor").wait_for()
    page.locator("#main").focus()
    page.keyboard.press("x")
    page.locator("#derived dd").first.filter(has_text="long_range").wait_for()


def test_killing_the_server_loses_no_decision_and_the_next_one_goes_on(desk: Desk, browser_page: Any) -> None:
    page, review = browser_page, desk.start()
    page.goto(review.url)
    page.locator("#turns li").first.wait_for()
    for count in (1, 2):
        page.keyboard.press("a")
        decided(page, count)
    review.kill()
    page.keyboard.press("a")
    page.get_by_role("alert").filter(has_text="does not answer").wait_for()
    with desk.decisions.open("a") as file:
        file.write('{"id": "fu_00')

    again = desk.start()
    page.goto(again.url)
    decided(page, 2)
    page.locator("#turns li").first.wait_for()
    page.keyboard.press("u")
    decided(page, 1)
    assert [row["decision"] for row in desk.rows()] == ["accept", "accept", "undo"]


def test_the_second_pass_is_blind_and_the_third_settles_what_differs(desk: Desk, browser_page: Any) -> None:
    page, first = browser_page, desk.start()
    visit(page, first.url, "fu_0003")
    page.keyboard.press("a")
    decided(page, 1)
    visit(page, first.url, "fu_0011")
    page.keyboard.press("r")
    page.locator("#note").fill("ONLY-FOR-PASS-ONE")
    page.locator("#reject-dialog button.primary").click()
    decided(page, 2)
    first.kill()

    second, heard = desk.start("--pass", "2", reviewer="bo"), []
    page.on("response", lambda response: heard.append(response.text() if "/api/" in response.url else ""))
    page.goto(second.url)
    decided(page, 0)
    assert "of 2 decided" in page.locator("#count").inner_text()
    for count in (1, 2):
        page.keyboard.press("a")
        decided(page, count)
    page.locator("#done").wait_for()
    told = "\n".join(heard)
    assert "fu_0011" in told
    assert "ONLY-FOR-PASS-ONE" not in told
    assert "ana" not in told
    second.kill()

    third = desk.start("--adjudicate", reviewer="cy")
    page.goto(third.url)
    page.locator(".reading").first.wait_for()
    assert shown(page) == "fu_0011"
    assert page.locator(".reading").count() == 2
    assert page.locator(".reading .differs").first.is_visible()
    page.locator(".reading").filter(has_text="long_range").get_by_role("button").click()
    page.locator("#accept").click()
    page.locator("#done").filter(has_text="kappa").wait_for()
    assert desk.rows()[-1]["pass"] == 3


def test_hostile_text_is_shown_and_does_nothing(desk: Desk, browser_page: Any) -> None:
    page = browser_page
    write_jsonl(desk.items, [item_to_row(hostile_item())])
    review = desk.start()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    visit(page, review.url, "fu_0003")
    assert "<script>window.hacked = 1</script><img src=x" in page.locator(".said").nth(0).inner_text()
    assert "{{ 7*7 }}" in page.locator(".said").nth(1).inner_text()
    assert page.locator("#turns script, #turns img, #turns h1, #labels script").count() == 0
    assert page.evaluate("window.hacked") is None
    assert page.locator(".control").all_inner_texts() == [
        "U+202E right-to-left override",
        "U+202C pop directional formatting",
        "U+200B zero width space",
        "U+2066 left-to-right isolate",
        "U+2069 pop directional isolate",
    ]
    assert not re.search("[\u202a-\u202e\u2066-\u2069\u200b]", page.locator("#turns").inner_text())
    assert page.locator("#forbidden").input_value().endswith("</textarea><script>window.hacked = 1</script>")
    page.keyboard.press("a")
    page.locator("#done").wait_for()
    assert page.evaluate("window.hacked") is None
    assert all(url.startswith(review.origin) for url in asked)


def test_the_page_works_at_360_pixels_and_in_reading_order(desk: Desk, browser_page: Any) -> None:
    page, review = browser_page, desk.start()
    page.set_viewport_size({"width": 360, "height": 740})
    visit(page, review.url, "fu_0011")
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    heads = page.evaluate(
        "[...document.querySelectorAll('h1, h2')].filter(h => h.checkVisibility()).map(h => h.textContent)"
    )
    assert re.fullmatch(r"Item \d: long range", heads[0])
    assert heads[1:] == ["Conversation", "Derived", "Labels"]
    unnamed = page.evaluate(
        "[...document.querySelectorAll('button, input, textarea')].filter(n => !(n.labels?.length || n.textContent.trim()"
        " || n.ariaLabel)).length"
    )
    assert unnamed == 0
    page.locator("#accept").click()
    decided(page, 1)


class Attacker(BaseHTTPRequestHandler):
    """A page of another origin on this machine that tries to read and to decide."""

    target = ""
    told: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        script = f"""<!doctype html><title>attack</title><script>
        (async () => {{
          const found = [];
          const target = {json.dumps(self.target)};
          const tries = [
            ["read", () => fetch(target + "/api/queue").then(r => r.text())],
            ["page", () => fetch(target + "/").then(r => r.text())],
            ["script", () => fetch(target + "/review.js").then(r => r.text())],
            ["opaque", () => fetch(target + "/api/queue", {{mode: "no-cors"}}).then(r => r.text()).then(t => {{ if (!t) throw 0; return t; }})],
            ["post", () => fetch(target + "/api/decide", {{method: "POST", headers: {{"content-type": "application/json",
              "x-review-token": "guess"}}, body: JSON.stringify({{id: "fu_0003", decision: "reject", reason: "other"}})}}).then(r => r.text())],
            ["simple", () => fetch(target + "/api/decide", {{method: "POST", mode: "no-cors", credentials: "include",
              headers: {{"content-type": "text/plain"}}, body: JSON.stringify({{id: "fu_0003", decision: "reject", reason: "other"}})}})
              .then(r => {{ if (r.type === "opaque") throw 0; }})],
          ];
          for (const [name, attempt] of tries) {{
            try {{ await attempt(); found.push(name); }} catch {{ }}
          }}
          const frame = document.createElement("iframe");
          frame.src = target + "/";
          document.body.append(frame);
          await new Promise(done => {{ frame.onload = done; setTimeout(done, 1500); }});
          try {{ if (frame.contentDocument.body.textContent) found.push("frame"); }} catch {{ }}
          document.title = "done:" + found.join(",");
        }})();
        </script><form method="post" enctype="text/plain" action="{self.target}/api/undo"><input name="x" value="1"></form>"""
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(script.encode())
        self.told.append(str(self.headers))

    def log_message(self, *_: object) -> None:
        return


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_hostile_page_of_another_origin_neither_reads_nor_decides(
    desk: Desk, browser_page: Any, host: str
) -> None:
    page, review = browser_page, desk.start()
    visit(page, review.url, "fu_0003")
    page.keyboard.press("a")
    decided(page, 1)
    before = desk.decisions.read_bytes()
    told: list[str] = []
    attacker = type("Aimed", (Attacker,), {"target": review.origin, "told": told})
    server = ThreadingHTTPServer(("127.0.0.1", 0), attacker)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        # The same browser context: whatever the review page left in it is there to be stolen.
        hostile = page.context.new_page()
        hostile.goto(f"http://{host}:{server.server_address[1]}/")
        hostile.wait_for_function("document.title.startsWith('done:')")
        assert hostile.title() == "done:"
        with hostile.expect_navigation():
            hostile.evaluate("document.forms[0].submit()")
        assert hostile.locator("body").inner_text() == "wrong origin"
    finally:
        server.shutdown()
    token = review.url.partition("token=")[2]
    assert all(token not in headers for headers in told)
    assert page.context.cookies() == []
    assert desk.decisions.read_bytes() == before


def test_unknown_item_ids_are_ignored_and_more_items_can_join_later(desk: Desk, browser_page: Any) -> None:
    page, review = browser_page, desk.start()
    visit(page, review.url, "fu_0003")
    page.keyboard.press("a")
    decided(page, 1)
    review.kill()
    renamed = [replace(item, id=f"{item.id}_new") for item in worked_items()]
    write_jsonl(desk.items, [item_to_row(item) for item in [*worked_items()[1:], *renamed]])
    page.goto(desk.start().url)
    decided(page, 0)
    assert page.locator("#count").inner_text() == "0 of 7 decided"
