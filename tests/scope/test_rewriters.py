from collections.abc import Sequence

import pytest

from builder.core.completion import Reply, Request
from builder.core.errors import BuilderError
from builder.core.records import Entity, Turn
from builder.core.terms import occurs
from builder.scope.designs import Tools, make_design
from builder.scope.model_rewriter import SCHEMA, Prompt, model_rewriter, parse_reply
from builder.scope.rewriters import expand, offline_rewriter, resolve
from builder.scope.shown import Report, Shown, Slot, State, lay_out
from builder.scope.vectors import word_vectors
from tests.scope.conversation import TURNS, find

TOOLS = Tools(find, word_vectors)


def window(length: int, upto: int) -> Shown:
    return make_design(f"window:{length}", TOOLS).show(TURNS[:upto], TURNS[upto].content, State())


@pytest.mark.parametrize(
    ("upto", "length", "query"),
    [
        (2, 2, "uptime commitment for the second? Dublin"),
        (4, 2, "Dublin's RPO?"),
        (6, 6, "does the billing export API page its results?"),
        (8, 2, "what about the reporting one? reporting export API page results"),
        (10, 4, "the RTO over there? reporting export"),
        (10, 6, "the RTO over there? Dublin"),
    ],
    ids=["ordinal", "complete", "announced change", "fragment", "place out of reach", "place in reach"],
)
def test_resolve_fills_what_the_wording_says_is_missing(upto: int, length: int, query: str) -> None:
    found = resolve(TURNS[upto].content, window(length, upto), find).query
    assert found is not None
    assert found.startswith(query)


def test_resolve_uses_a_slot_as_well_as_a_turn() -> None:
    slot = Slot("Dublin", "region", 2, 6, "live")
    shown = Shown((), (slot,), lay_out("and the RTO over there?", (), (slot,)), "")
    assert resolve("and the RTO over there?", shown, find).query == "the RTO over there? Dublin"


@pytest.mark.parametrize("name", ["expand", "resolve", "paste", "none"])
@pytest.mark.parametrize("turn", range(2, 11, 2))
def test_a_rewriter_that_is_shown_nothing_adds_nothing(name: str, turn: int) -> None:
    shown = Shown((), (), lay_out(TURNS[turn].content), "")
    (done,) = offline_rewriter(name, find)([("x", TURNS[turn].content, shown)])
    assert done.query is not None
    assert done.query in TURNS[turn].content


def test_expansion_takes_terms_from_what_is_shown_only_and_never_asks_whether_it_should() -> None:
    shown = window(2, 6)
    query = expand(TURNS[6].content, shown, find).query
    assert query is not None
    assert query.startswith(f"{TURNS[6].content} ")
    added = query.removeprefix(TURNS[6].content).split()
    assert {"Dublin", "RPO", "documented"} <= set(added)
    seen = " ".join(turn.content for turn in shown.turns)
    assert all(occurs(word, seen) and not occurs(word, TURNS[6].content) for word in added)


def test_tokens_are_those_a_model_in_its_place_would_read_and_write() -> None:
    shown = window(2, 6)
    done = resolve(TURNS[6].content, shown, find)
    assert (done.calls, done.input_tokens) == (0, -(-len(shown.text) // 4))
    assert done.report.topic_shift
    assert done.report.entities == (Entity("billing export", "api", ("billing export API",)),)


def test_an_unknown_rewriter_is_named_with_those_that_exist() -> None:
    with pytest.raises(BuilderError, match='unknown rewriter "expnd"; did you mean expand'):
        offline_rewriter("expnd", find)


GOOD = '{"query": "Dublin RTO", "topic_shift": false, "entities": [{"name": "eu-west-1", "type": "site"}]}'


def test_a_models_answer_gives_query_shift_and_entities_under_the_names_the_extractor_knows() -> None:
    query, report = parse_reply(GOOD, find)
    assert query == "Dublin RTO"
    assert report == Report(False, (Entity("Dublin", "region", ("eu-west-1",)),))


@pytest.mark.parametrize(
    "text",
    ["", "no", "[]", '{"query": "x"}', GOOD.replace('"Dublin RTO"', '" "'), GOOD.replace("false", '"no"')],
)
def test_an_answer_of_another_shape_is_a_missing_rewrite(text: str) -> None:
    assert parse_reply(text, find) == (None, Report())


def test_an_unusable_answer_is_asked_for_once_more_and_both_calls_are_counted() -> None:
    seen: list[Request] = []

    def complete(requests: Sequence[Request]) -> list[Reply]:
        seen.extend(requests)
        return [
            Reply("not json", "", "", 100, 3)
            if r.attempt == 0 and r.name == "a"
            else Reply(GOOD, "", "", 100, 30)
            for r in requests
        ]

    rewrite = model_rewriter(complete, Prompt("Rewrite.", "rewrite.1"), find, sample=2)
    first, second = rewrite([("a", "and the RTO?", window(2, 10)), ("b", "and the RTO?", window(2, 10))])
    assert (first.query, first.calls, first.input_tokens, first.output_tokens) == ("Dublin RTO", 2, 200, 33)
    assert (second.query, second.calls) == ("Dublin RTO", 1)
    assert [(r.name, r.attempt, r.sample) for r in seen] == [("a", 0, 2), ("b", 0, 2), ("a", 1, 2)]
    assert all(r.schema is SCHEMA and TURNS[9].content in r.user for r in seen)


def test_a_model_that_never_answers_gives_a_missing_rewrite() -> None:
    rewrite = model_rewriter(
        lambda requests: [Reply("", "the model refused") for _ in requests], Prompt("", "1"), find
    )
    (done,) = rewrite([("a", "and the RTO?", window(2, 10))])
    assert (done.query, done.calls) == (None, 2)


def test_chinese_is_resolved_without_spaces_in_the_way() -> None:
    turns = (Turn(1, "user", "都柏林支持客户自管密钥吗?"), Turn(2, "assistant", "都柏林支持客户自管密钥。"))
    shown = Shown(turns, (), lay_out("那RTO呢?", turns), "")
    query = resolve("那RTO呢?", shown, find).query
    assert query is not None
    assert "柏林" in query
