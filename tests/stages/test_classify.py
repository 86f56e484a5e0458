import json
from pathlib import Path

import pytest

from builder.core.records import Catalogue, FollowUp, Reading, Transcript
from builder.core.rows import transcript_from_row
from builder.core.settings import ClassifySettings
from builder.core.taxonomy import d_live, stratum_of
from builder.stages.classify import classify_follow_ups, repair
from builder.text.entities import mine_entities
from builder.text.rules import rules_reader

CASES = Path(__file__).parent.parent / "cases"
ROWS = {
    (row["conversation_id"], row["turn"]): row
    for row in map(json.loads, (CASES / "labels.jsonl").read_text(encoding="utf-8").splitlines())
}
TRANSCRIPTS = [
    transcript_from_row(json.loads(line))
    for line in (CASES / "transcripts.jsonl").read_text(encoding="utf-8").splitlines()
]
CATALOGUE = mine_entities(TRANSCRIPTS)


def classify(given: bool) -> dict[tuple[str, int], FollowUp]:
    found = classify_follow_ups(
        TRANSCRIPTS, rules_reader(CATALOGUE), CATALOGUE, ClassifySettings(), ROWS if given else {}
    )
    return {(f.conversation_id, f.turn): f for f in found}


@pytest.mark.parametrize("place", sorted(ROWS), ids=lambda place: f"{place[0]}#{place[1]}")
def test_labels_of_a_case_give_its_derived_values(place: tuple[str, int]) -> None:
    row, found = ROWS[place], classify_one(place)
    for name in ("reference_type", "form", "pivot", "returns", "d_live", "d_stale"):
        assert getattr(found, name) == row[name], name
    assert list(found.required_in_rewrite) == row["required_in_rewrite"]
    assert (found.labelled_by, found.confidence) == ("human", 1.0)


def classify_one(place: tuple[str, int]) -> FollowUp:
    talk = [transcript for transcript in TRANSCRIPTS if transcript.id == place[0]]
    found = classify_follow_ups(talk, rules_reader(CATALOGUE), CATALOGUE, ClassifySettings(), ROWS)
    return next(f for f in found if f.turn == place[1])


def test_rules_read_most_cases() -> None:
    found = classify(given=False)
    right = sum(found[place].reference_type == row["reference_type"] for place, row in ROWS.items())
    assert right >= 28  # of 45; a floor, not a target


def test_every_follow_up_keeps_the_laws() -> None:
    for follow_up in classify(given=False).values():
        assert follow_up.d_live == d_live(follow_up.turn, follow_up.antecedent_turns)
        assert (follow_up.form == "none") == (not follow_up.antecedent_turns)
        assert follow_up.pivot or not follow_up.returns
        assert follow_up.reference_type in dict(follow_up.probabilities) or not follow_up.probabilities


@pytest.mark.parametrize(
    ("reading", "expected"),
    [
        (Reading(5, 1, True, True, "pronoun", False, False, (), 0.5), ("pronoun", (4,))),
        (Reading(5, 1, True, True, "none", False, False, (2,), 0.5), ("none", ())),
        (Reading(5, 1, False, True, "pronoun", True, True, (2,), 0.5), ("none", ())),
        (Reading(5, 1, True, True, "ellipsis", False, False, (2, 9), 0.5), ("ellipsis", (2,))),
        (Reading(5, 1, True, False, "definite", False, False, (2,), 0.5), ("definite", ())),
    ],
    ids=["no antecedent", "form none", "no query", "a later turn", "unresolvable"],
)
def test_contradictions_are_settled_by_rule(reading: Reading, expected: tuple[str, tuple[int, ...]]) -> None:
    mended = repair(reading, talk_of(7))
    assert (mended.form, mended.antecedent_turns) == expected
    stratum_of(mended)


def talk_of(n_turns: int) -> Transcript:
    messages = [{"role": "assistant" if n % 2 else "user", "content": f"turn {n}"} for n in range(n_turns)]
    return transcript_from_row({"conversation_id": "c", "messages": messages})


def test_order_of_transcripts_changes_no_label() -> None:
    reader = rules_reader(CATALOGUE)
    forth = list(classify_follow_ups(TRANSCRIPTS, reader, CATALOGUE, ClassifySettings()))
    back = list(classify_follow_ups(TRANSCRIPTS[::-1], reader, CATALOGUE, ClassifySettings()))
    assert sorted(forth, key=lambda f: f.id) == sorted(back, key=lambda f: f.id)


def test_the_long_range_distance_is_a_setting() -> None:
    reading = Reading(5, 1, True, True, "pronoun", False, False, (2,), 0.9)
    talk = talk_of(5)
    strata = [
        [
            f.reference_type
            for f in classify_follow_ups([talk], lambda batch: [(reading,)], Catalogue(), settings)
        ]
        for settings in (ClassifySettings(long_range=3), ClassifySettings(long_range=4))
    ]
    assert strata == [["long_range"], ["pronoun"]]


def test_trusted_threads_begin_at_the_first_user_turn() -> None:
    messages = [{"role": "assistant", "content": "Hello! What can I do for you?"}]
    for asked in ("what is the SLA in Dublin?", "and the RPO?", "and the RTO?"):
        messages += [
            {"role": "user", "content": asked},
            {"role": "assistant", "content": "It is documented."},
        ]
    talk = transcript_from_row({"conversation_id": "c", "messages": messages})
    row = {"form": "ellipsis", "pivot": False, "returns": False, "reference_type": "ellipsis"}
    given = {("c", turn): {**row, "antecedent_turns": [2]} for turn in (4, 6)}
    found = classify_follow_ups([talk], rules_reader(Catalogue()), Catalogue(), ClassifySettings(), given)
    assert [f.intervening_turns for f in found] == [0, 0]
