from collections.abc import Sequence

from builder.core.records import Entity, Transcript
from builder.evaluate.inputs import items_from_labels
from builder.evaluate.rewrite import run_design, spread
from builder.scope.designs import Tools, make_design
from builder.scope.rewriters import Asked, Rewritten, offline_rewriter
from builder.scope.shown import Report
from builder.scope.vectors import word_vectors
from tests.scope.conversation import TURNS, find

TOOLS = Tools(find, word_vectors)
ROWS = [
    {
        "turn": 3,
        "reference_type": "ordinal",
        "form": "ordinal",
        "antecedent_turns": [2],
        "subject": "regions",
    },
    {
        "turn": 7,
        "reference_type": "post_pivot_standalone",
        "form": "none",
        "pivot": True,
        "subject": "billing export",
    },
    {
        "turn": 11,
        "reference_type": "long_range",
        "form": "pronoun",
        "antecedent_turns": [6],
        "pivot": True,
        "subject": "regions",
    },
]
BLANK = {
    "conversation_id": "c1",
    "pivot": False,
    "returns": False,
    "antecedent_turns": [],
    "required_in_rewrite": ["RPO"],
}
ITEMS = items_from_labels(
    [{**BLANK, "forbidden_in_rewrite": ["reporting"] if row["turn"] == 11 else [], **row} for row in ROWS],
    {"c1": Transcript("c1", TURNS, language="en")},
)


def test_labels_and_transcripts_make_items_whose_distances_are_derived() -> None:
    assert [(item.turn, item.d_live, item.d_stale) for item in ITEMS] == [
        (3, 1, None),
        (7, 0, None),
        (11, 5, 1),
    ]
    assert [turn.number for turn in ITEMS[0].prefix] == [1, 2]
    assert ITEMS[2].intervening_turns == 4


def test_a_run_row_holds_the_rewrite_what_was_shown_and_what_it_cost() -> None:
    rows = run_design(
        ITEMS, make_design("window:2", TOOLS), offline_rewriter("resolve", find), lambda q, k: ["p1"]
    )
    assert [row["id"] for row in rows] == [item.id for item in ITEMS]
    assert rows[0]["rewrite"].startswith("uptime commitment for the second? Dublin")
    assert rows[0]["shown"]["turns"] == [1, 2]
    assert rows[0]["retrieved"] == ["p1"]
    assert rows[0]["tokens"] == {
        "calls": 0,
        "input": -(-len(rows[0]["shown"]["text"]) // 4),
        "output": rows[0]["tokens"]["output"],
    }
    assert rows[1]["topic_shift"] is True


def test_the_oracle_is_told_the_needed_turns_and_no_other_design_is() -> None:
    rewriter = offline_rewriter("none", find)
    assert [row["shown"]["turns"] for row in run_design(ITEMS, make_design("oracle", TOOLS), rewriter)] == [
        [2],
        [],
        [6],
    ]
    assert [row["shown"]["turns"] for row in run_design(ITEMS, make_design("none", TOOLS), rewriter)] == [
        [],
        [],
        [],
    ]


def test_a_design_that_listens_has_each_earlier_user_turn_rewritten_once_in_order() -> None:
    asked: list[str] = []

    def rewriter(batch: Sequence[Asked]) -> list[Rewritten]:
        asked.extend(latest for _, latest, _ in batch)
        shifts = [latest.startswith("new topic") for _, latest, _ in batch]
        return [Rewritten(latest, Report(shift)) for (_, latest, _), shift in zip(batch, shifts, strict=True)]

    rows = run_design(ITEMS, make_design("segments:flag", TOOLS), rewriter)
    follow_ups = [item.follow_up for item in ITEMS]
    assert asked == [turn.content for turn in TURNS[:10] if turn.role == "user"] + follow_ups
    assert [row["shown"]["turns"] for row in rows] == [[1, 2], [1, 2, 3, 4, 5, 6], [7, 8, 9, 10]]


def test_reported_entities_fill_the_slots_of_the_turns_after() -> None:
    def rewriter(batch: Sequence[Asked]) -> list[Rewritten]:
        return [Rewritten(latest, Report(False, (Entity("Oregon", "region"),))) for _, latest, _ in batch]

    rows = run_design(ITEMS[:1], make_design("liveness:3,8,report", TOOLS), rewriter)
    assert [slot["name"] for slot in rows[0]["shown"]["entities"]] == ["Oregon", "Frankfurt", "Dublin"]
    assert rows[0]["tokens"]["output"] > 0


def test_a_missing_rewrite_stays_missing_and_retrieves_nothing() -> None:
    rows = run_design(
        ITEMS[:1],
        make_design("none", TOOLS),
        lambda batch: [Rewritten(None) for _ in batch],
        lambda q, k: ["p1"],
    )
    assert (rows[0]["rewrite"], rows[0]["retrieved"]) == (None, [])


def test_a_message_that_the_gate_passes_on_is_not_asked_about() -> None:
    long = [item for item in ITEMS if len(item.follow_up.split()) < 12]
    rows = run_design(long, make_design("last2_pairs_gate12", TOOLS), offline_rewriter("resolve", find))
    assert all(row["tokens"]["input"] for row in rows)
    wordy = items_from_labels(
        [{**BLANK, **ROWS[0], "forbidden_in_rewrite": []}],
        {
            "c1": Transcript(
                "c1",
                (
                    *TURNS[:2],
                    TURNS[2].__class__(
                        3, "user", "one two three four five six seven eight nine ten eleven twelve"
                    ),
                ),
            )
        },
    )
    (row,) = run_design(wordy, make_design("last2_pairs_gate12", TOOLS), lambda batch: [])
    assert row["rewrite"] == wordy[0].follow_up
    assert row["tokens"] == {"calls": 0, "input": 0, "output": 0}


def test_spread_is_the_share_of_items_whose_rewrites_differ() -> None:
    runs = [[{"rewrite": "a"}, {"rewrite": "b"}], [{"rewrite": "a"}, {"rewrite": "c"}]]
    assert spread(runs) == 0.5
