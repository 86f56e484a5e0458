from builder.core.records import FollowUp, Item, Synthesis, Transcript, Turn
from builder.core.rows import (
    follow_up_from_row,
    follow_up_to_row,
    item_from_row,
    item_to_row,
    transcript_from_row,
    transcript_to_row,
)

SYNTHESIS = Synthesis("c1", 3, ("c2",), (3, 4), 1, 3, "plain", (2,), (("no shared terms", "0 of 7"),))
MESSAGES = (
    Turn(0, "system", "Answer from the documentation."),
    Turn(1, "user", "which regions are in the EU?", at="2026-09-01T07:00:00Z"),
    Turn(2, "assistant", "Dublin and Frankfurt.", ("docs/regions#list",)),
    Turn(3, "user", "RPO of the second?"),
)


def test_a_transcript_survives_the_trip_and_is_numbered_without_system_messages() -> None:
    transcript = Transcript("c1", MESSAGES, "2026-09-01T07:00:00Z", "en", "september.jsonl", SYNTHESIS)
    assert transcript_from_row(transcript_to_row(transcript)) == transcript
    assert [turn.number for turn in transcript.turns] == [1, 2, 3]
    assert transcript.follow_up_turns == (3,)


def test_a_follow_up_survives_the_trip() -> None:
    follow_up = FollowUp(
        conversation_id="c1",
        turn=3,
        subject="regions",
        reference_type="ordinal",
        form="ordinal",
        pivot=False,
        returns=False,
        antecedent_turns=(2,),
        d_live=1,
        d_introduced=1,
        required_in_rewrite=("Frankfurt", "RPO"),
        forbidden_in_rewrite=("Dublin",),
        d_stale=1,
        confidence=0.9,
        aliases=(("Dublin", ("eu-west-1",)),),
        probabilities=(("ordinal", 0.9),),
    )
    assert follow_up_from_row(follow_up_to_row(follow_up)) == follow_up


def test_an_item_survives_the_trip() -> None:
    item = Item(
        id="fu_1",
        conversation_id="c1",
        turn=3,
        prefix=MESSAGES[1:3],
        follow_up="RPO of the second?",
        gold=("docs/regions/frankfurt#rpo",),
        reference_type="ordinal",
        forbidden_in_rewrite=("Dublin",),
        required_in_rewrite=("Frankfurt", "RPO"),
        aliases=(("Dublin", ("eu-west-1",)),),
        reference_rewrite="Frankfurt RPO",
        form="ordinal",
        pivot=False,
        returns=False,
        antecedent_turns=(2,),
        d_live=1,
        d_stale=1,
        d_introduced=1,
        intervening_turns=0,
        language="en",
        origin="sampled",
        weight=1.0,
        inclusion_probability=0.5,
        labelled_by="human",
        confidence=1.0,
        synthesis=SYNTHESIS,
    )
    assert item_from_row(item_to_row(item)) == item
