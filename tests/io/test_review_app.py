import re
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from builder.core.errors import BuilderError
from builder.core.records import Turn
from builder.io.review.app import HEADERS, MAX_BODY, Desk, make_app
from builder.io.review.journal import Journal, open_journal
from builder.io.review.view import is_inert, pieces, view_item
from tests.stages.worked import worked_items

HOST = "127.0.0.1:8123"
ORIGIN = f"http://{HOST}"
GOOD = {"x-review-token": "right", "origin": ORIGIN}


@pytest.fixture
def kept() -> list[Any]:
    return []


@pytest.fixture
def client(kept: list[Any]) -> TestClient:
    def refuse(row: dict[str, Any]) -> dict[str, Any]:
        if row.get("id") == "bad":
            raise BuilderError("fu_1", "is wrong", "mend it")
        kept.append(row)
        return row

    desk = Desk(
        lambda: {"items": ["secret"]},
        lambda name, labels: {"id": name, "labels": labels} if name == "fu_1" else None,
        refuse,
        lambda: {"id": ""},
    )
    return TestClient(make_app(desk, "right", frozenset({HOST})), base_url=ORIGIN)


def test_the_right_address_opens_the_page_and_the_token_its_data(client: TestClient) -> None:
    page = client.get("/?token=right")
    assert page.status_code == 200
    assert "right" not in page.text
    assert client.get("/api/queue", headers=GOOD).json() == {"items": ["secret"]}
    assert client.get("/api/item/fu_1", headers=GOOD).json() == {"id": "fu_1", "labels": None}
    assert client.get("/api/item/fu_2", headers=GOOD).status_code == 404


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"x-review-token": ""},
        {"x-review-token": "wrong"},
        {"x-review-token": "right "},
        {**GOOD, "host": "evil.example"},
        {**GOOD, "host": "evil.example:8123"},
        {**GOOD, "host": "127.0.0.1"},
        {**GOOD, "host": "127.0.0.1:9999"},
        {**GOOD, "host": f"{HOST}.evil.example"},
        {**GOOD, "origin": "http://evil.example"},
        {**GOOD, "origin": "http://127.0.0.1:9999"},
        {**GOOD, "origin": f"https://{HOST}"},
        {**GOOD, "origin": "null"},
        {**GOOD, "sec-fetch-site": "cross-site"},
        {**GOOD, "sec-fetch-site": "same-site"},
    ],
    ids=str,
)
@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/api/queue"), ("GET", "/api/item/fu_1"), ("POST", "/api/decide"), ("POST", "/api/undo")],
)
def test_a_wrong_token_host_origin_or_site_is_told_nothing(
    client: TestClient, kept: list[Any], headers: dict[str, str], method: str, path: str
) -> None:
    answer = client.request(method, path, headers=headers, json={"id": "fu_1"} if method == "POST" else None)
    assert answer.status_code == 403
    assert "secret" not in answer.text
    assert kept == []


def test_a_decision_without_an_origin_is_refused(client: TestClient, kept: list[Any]) -> None:
    assert (
        client.post("/api/decide", headers={"x-review-token": "right"}, json={"id": "fu_1"}).status_code
        == 403
    )
    assert kept == []


def test_the_token_in_the_address_opens_the_page_only(client: TestClient) -> None:
    assert client.get("/api/queue?token=right").status_code == 403
    assert client.get("/").status_code == 403
    assert client.get("/?token=wrong").status_code == 403


def test_a_preflight_gets_no_permission(client: TestClient) -> None:
    answer = client.options(
        "/api/decide", headers={"origin": "http://evil.example", "access-control-request-method": "POST"}
    )
    assert answer.status_code == 403
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_every_answer_carries_the_headers_and_no_cookie(client: TestClient) -> None:
    for answer in (
        client.get("/?token=right"),
        client.get("/"),
        client.get("/review.js"),
        client.get("/review.css"),
        client.get("/api/queue", headers=GOOD),
        client.get("/api/nothing", headers=GOOD),
    ):
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS
        assert "set-cookie" not in answer.headers
    policy = HEADERS["content-security-policy"]
    assert "unsafe" not in policy
    assert "*" not in policy


def test_the_page_asks_for_nothing_outside(client: TestClient) -> None:
    for path in ("/?token=right", "/review.js", "/review.css"):
        text = client.get(path).text
        assert not re.search(r"https?:|url\(|@import|[\"']//|innerHTML|eval\(|style=| on\w+=", text)


@pytest.mark.parametrize("body", [b"[]", b"{", b"null", b'{"id": 1}' + b" " * MAX_BODY])
def test_a_body_that_is_no_decision_is_refused_in_words(
    client: TestClient, kept: list[Any], body: bytes
) -> None:
    answer = client.post("/api/decide", headers={**GOOD, "content-type": "application/json"}, content=body)
    assert answer.status_code == 422
    assert answer.json()["problems"][0].startswith("request: is ")
    assert kept == []


def test_a_form_of_another_page_cannot_pass_for_json(client: TestClient, kept: list[Any]) -> None:
    answer = client.post(
        "/api/decide", headers={**GOOD, "content-type": "text/plain"}, content=b'{"id": "fu_1"}'
    )
    assert answer.json() == {"problems": ["request: is not application/json; send JSON"]}
    assert kept == []


def test_a_refused_decision_comes_back_with_its_problems(client: TestClient) -> None:
    answer = client.post("/api/decide", headers=GOOD, json={"id": "bad"})
    assert (answer.status_code, answer.json()) == (422, {"problems": ["fu_1: is wrong; mend it"]})


# The decisions file


def test_an_appended_line_is_there_for_the_next_who_opens(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "decisions.jsonl"
    journal = open_journal(path)
    journal.append({"id": "fu_1"})
    journal.append({"id": "fu_2"})
    assert path.read_bytes() == b'{"id":"fu_1"}\n{"id":"fu_2"}\n'
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    journal.close()
    again = open_journal(path)
    assert (again.rows, again.remark) == ([{"id": "fu_1"}, {"id": "fu_2"}], "")
    again.close()


def test_a_line_that_a_kill_cut_off_is_taken_away_and_said(tmp_path: Path) -> None:
    path = tmp_path / "decisions.jsonl"
    path.write_bytes(b'{"id":"fu_1"}\n{"id":"fu')
    journal = open_journal(path)
    assert journal.remark == f"{path}: took away a last line that a kill had cut off (9 bytes)"
    journal.append({"id": "fu_2"})
    assert path.read_bytes() == b'{"id":"fu_1"}\n{"id":"fu_2"}\n'
    journal.close()


def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    first: Journal = open_journal(tmp_path / "decisions.jsonl")
    with pytest.raises(BuilderError, match="another review has this file open; close that one"):
        open_journal(tmp_path / "decisions.jsonl")
    first.close()
    open_journal(tmp_path / "decisions.jsonl").close()


def test_a_damaged_line_in_the_middle_is_an_error_not_a_loss(tmp_path: Path) -> None:
    path = tmp_path / "decisions.jsonl"
    path.write_bytes(b'{"id":"fu_1"}\nnonsense\n{"id":"fu_2"}\n')
    with pytest.raises(BuilderError, match=r"decisions\.jsonl:2: not JSON"):
        open_journal(path)
    assert path.read_bytes().count(b"\n") == 3


# What the page is shown


def test_terms_are_cut_out_of_a_turn_in_order() -> None:
    item = worked_items()[0]
    assert pieces(item.prefix[1], item, dict(item.aliases)) == [
        ["stale", "Frankfurt"],
        ["", " and "],
        ["required", "Dublin"],
        ["", " accept customer-held keys."],
    ]


def test_a_view_marks_the_turns_that_supply_and_says_which_windows_are_right() -> None:
    view = view_item(worked_items()[3], {})
    assert [turn["turn"] for turn in view["prefix"] if turn["antecedent"]] == [6]
    assert view["derived"]["windows"] == "none: the stale term is nearer than the antecedent"


@given(st.text(max_size=80))
def test_pieces_hold_the_whole_text_and_nothing_that_cannot_be_seen(text: str) -> None:
    item = worked_items()[0]
    cut = pieces(Turn(1, "user", text), item, dict(item.aliases))
    plain = "".join(part for kind, part in cut if kind != "control")
    assert plain == "".join(char for char in text if not is_inert(char))
    codes = [chr(int(part[2:].split(" ")[0], 16)) for kind, part in cut if kind == "control"]
    assert codes == [char for char in text if is_inert(char)]
