import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builder.core.records import Catalogue, Entity, Reading, Transcript, Turn
from builder.core.rows import transcript_from_row
from builder.core.terms import key as key_of
from builder.core.terms import occurs
from builder.text.entities import EntityIndex, mine_entities
from builder.text.scene import lay_out
from builder.text.term_labels import aliases_of, label_terms, shape_of

CASES = Path(__file__).parent.parent / "cases"
ROWS = [json.loads(line) for line in (CASES / "labels.jsonl").read_text(encoding="utf-8").splitlines()]
TRANSCRIPTS = {
    row["conversation_id"]: transcript_from_row(row)
    for row in map(json.loads, (CASES / "transcripts.jsonl").read_text(encoding="utf-8").splitlines())
}
INDEX = EntityIndex(
    Catalogue(
        (
            Entity("Dublin", "region", ("eu-west-1",)),
            Entity("Frankfurt", "region", ("eu-central-1",)),
            Entity("Billing Export API", "api", ("billing export",)),
            Entity("Reporting Export API", "api", ("reporting export",)),
        )
    )
)
WORKED = Transcript(
    "worked",
    tuple(
        Turn(n, "user" if n % 2 else "assistant", text)
        for n, text in enumerate(
            (
                "which european sites let us bring our own encryption keys?",
                "Frankfurt and Dublin accept customer-held keys.",
                "uptime commitment for the second?",
                "Dublin (eu-west-1) is covered by a 99.95% uptime commitment.",
                "And Dublin's RPO?",
                "In Dublin the documented RPO is 15 minutes.",
                "new topic: does the billing export API page its results?",
                "Yes, by cursor, up to 500 rows at a time.",
            ),
            start=1,
        )
    ),
    language="en",
)


def reading(turn: int, thread: int, form: str, antecedents: tuple[int, ...], pivot: bool = False) -> Reading:
    return Reading(turn, thread, True, True, form, pivot, False, antecedents, 1.0)


def test_an_ordinal_requires_the_chosen_name_and_forbids_the_other() -> None:
    scene = lay_out(WORKED, INDEX)
    labels = label_terms(scene, reading(3, 1, "ordinal", (2,)), {1: 1, 3: 1})
    assert "Dublin" in labels.required
    assert "Frankfurt" in labels.forbidden
    assert dict(labels.aliases)["Dublin"] == ("eu-west-1",)


def test_after_a_pivot_the_left_subject_is_forbidden() -> None:
    scene = lay_out(WORKED, INDEX)
    labels = label_terms(scene, reading(7, 7, "none", (), pivot=True), {1: 1, 3: 1, 5: 1, 7: 7})
    assert any(occurs("billing export", term) or occurs(term, "billing export") for term in labels.required)
    assert "Dublin" in labels.forbidden


def test_thanks_have_no_terms() -> None:
    thanks = Reading(3, 1, False, True, "none", False, False, (), 1.0)
    assert label_terms(lay_out(WORKED, INDEX), thanks, {1: 1, 3: 1}).required == ()


@pytest.mark.parametrize(
    ("word", "shape"), [("KST-4221", "A-9"), ("eu-west-1", "a-a-9"), ("db.medium", "a.a")]
)
def test_codes_of_one_make_have_one_shape(word: str, shape: str) -> None:
    assert shape_of(word) == shape


def check_laws(transcript: Transcript, given_reading: Reading, threads: dict[int, int]) -> None:
    index = EntityIndex(mine_entities(TRANSCRIPTS.values()))
    labels = label_terms(lay_out(transcript, index), given_reading, threads)
    turns, aliases = transcript.turns, dict(labels.aliases)
    asked = turns[given_reading.turn - 1].content
    supplies = [asked, *(turns[n - 1].content for n in given_reading.antecedent_turns)]
    prefix = [turn.content for turn in turns[: given_reading.turn - 1]]
    for term in labels.required:
        assert any(occurs(term, text) for text in supplies), term
    if given_reading.antecedent_turns and labels.required:
        sources = [lay_out(transcript, index).at(n) for n in given_reading.antecedent_turns]
        keys = lay_out(transcript, index).at(given_reading.turn).counts
        # What the message sets itself against ("2.3" after "2.4") is not supplied to it.
        against = " ".join(map(key_of, labels.forbidden))
        if any(key not in keys and key not in against for source in sources for key in source.counts):
            assert not all(occurs(term, asked) for term in labels.required)
    for term in labels.forbidden:
        wordings = (term, *aliases.get(term, ()))
        assert any(occurs(term, text) for text in prefix), term
        assert not any(occurs(wording, asked) for wording in wordings), term
        for needed in labels.required:
            for known in (needed, *aliases_of(needed, index)):
                assert not any(occurs(w, known) or occurs(known, w) for w in wordings), (term, needed)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_terms_are_proven_whatever_the_other_labels_say(data: st.DataObject) -> None:
    transcript = TRANSCRIPTS[data.draw(st.sampled_from(sorted(TRANSCRIPTS)))]
    turn = data.draw(st.sampled_from(transcript.follow_up_turns))
    antecedents = tuple(sorted(data.draw(st.sets(st.integers(1, turn - 1), max_size=2))))
    form = data.draw(st.sampled_from(("ordinal", "pronoun", "ellipsis", "definite", "carryover")))
    users = [n for n in (1, *transcript.follow_up_turns) if n <= turn]
    threads = {n: data.draw(st.sampled_from([u for u in users if u <= n])) for n in users}
    pivot = data.draw(st.booleans())
    check_laws(
        transcript,
        Reading(
            turn, threads[turn], True, True, form if antecedents else "none", pivot, False, antecedents, 1.0
        ),
        threads,
    )


def test_a_stand_in_of_a_redacted_value_is_never_a_term() -> None:
    said = (
        "which plan has person1@redacted.example, on 192.0.2.7 with key sk-REDACTED00f0000?",
        "person1@redacted.example is on the Enterprise plan.",
        "and its retention there, call me on +49 0005550123?",
        "Enterprise keeps backups for 90 days, person2@redacted.example.",
        "new topic: does person2@redacted.example page the billing export API?",
        "Yes, by cursor.",
    )
    turns = tuple(Turn(n, "user" if n % 2 else "assistant", text) for n, text in enumerate(said, start=1))
    scene = lay_out(Transcript("redacted", turns, language="en"), INDEX)
    for about in (reading(3, 1, "pronoun", (2,)), reading(5, 5, "none", (), pivot=True)):
        labels = label_terms(scene, about, {1: 1, 3: 1, 5: 5})
        terms = (*labels.required, *labels.forbidden)
        assert labels.required
        for stand_in in ("person1", "person2", "redacted", "192.0.2.7", "0005550123"):
            assert not any(stand_in in term.lower() for term in terms), terms


def test_a_version_set_against_another_does_not_require_the_other() -> None:
    scene = lay_out(TRANSCRIPTS["pc-068"], INDEX)
    labels = label_terms(scene, reading(3, 1, "ordinal", (1,)), {1: 1, 3: 1})
    assert "2.4" in labels.forbidden
    assert "2.3" in labels.required


def test_a_full_list_of_required_terms_still_holds_what_history_supplies() -> None:
    scene = lay_out(TRANSCRIPTS["pc-038"], EntityIndex(mine_entities(TRANSCRIPTS.values())))
    labels = label_terms(scene, reading(3, 1, "pronoun", (1,)), {1: 1, 3: 1})
    assert len(labels.required) <= 4
    assert not all(occurs(term, scene.at(3).turn.content) for term in labels.required)
