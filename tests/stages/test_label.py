from dataclasses import replace

import pytest

from builder.core.records import (
    Candidate,
    Catalogue,
    Dropped,
    Entity,
    FollowUp,
    Item,
    Passage,
    Synthesis,
    Transcript,
    Turn,
)
from builder.core.settings import LabelSettings
from builder.stages.label import (
    FORBIDDEN_ASKED,
    FORBIDDEN_NOWHERE,
    NO_FORBIDDEN,
    NO_REQUIRED,
    NOT_AN_ITEM,
    NOTHING_SUPPLIED,
    REQUIRED_NOWHERE,
    TERMS_CLASH,
    GivenLabels,
    Retrieve,
    label_items,
    pool,
)

TALK = Transcript(
    "hal-001",
    (
        Turn(1, "user", "which sites take our keys?"),
        Turn(2, "assistant", "Frankfurt and Dublin (eu-west-1).", ("docs/keys",)),
        Turn(3, "user", "uptime for the second?"),
        Turn(4, "assistant", "Dublin has 99.95%.", ("docs/dublin#sla",)),
    ),
    language="en",
)
FOLLOW_UP = FollowUp(
    conversation_id="hal-001",
    turn=3,
    subject="Dublin",
    reference_type="ordinal",
    form="ordinal",
    pivot=False,
    returns=False,
    antecedent_turns=(2,),
    d_live=1,
    d_introduced=1,
    required_in_rewrite=("Dublin", "uptime"),
    forbidden_in_rewrite=("Frankfurt",),
    d_stale=1,
    confidence=0.8,
    language="en",
)
PASSAGES = {name: Passage(name, name, "") for name in ("docs/keys", "docs/dublin#sla", "docs/other")}


def label(
    follow_up: FollowUp = FOLLOW_UP,
    transcript: Transcript = TALK,
    retrieve: Retrieve | None = None,
    given: GivenLabels | None = None,
    catalogue: Catalogue = Catalogue(),  # noqa: B008  # frozen
) -> Item | Dropped:
    candidate = Candidate(follow_up, transcript, 0, 0.25)
    (made,) = label_items([candidate], PASSAGES, catalogue, LabelSettings(), retrieve, given)
    return made


def test_an_item_is_whole() -> None:
    item = label()
    assert isinstance(item, Item)
    assert item.prefix == TALK.turns[:2]
    assert (item.gold, item.gold_source) == (("docs/dublin#sla",), "cited")
    assert item.reference_rewrite == "Dublin: uptime for the second?"
    assert (item.inclusion_probability, item.weight) == (0.25, 1.0)
    assert item.id.startswith("fu_")
    assert len(item.id) == 15


def test_the_id_depends_on_conversation_turn_and_synthesis_only() -> None:
    first, again = label(), label(replace(FOLLOW_UP, confidence=0.1, subject="other"))
    made = Synthesis("hal-009", 5, ("d",), (3, 4), 1, 5, "plain", (2,))
    synthetic = label(transcript=replace(TALK, synthesis=made))
    assert isinstance(first, Item)
    assert isinstance(again, Item)
    assert isinstance(synthetic, Item)
    assert first.id == again.id != synthetic.id


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"required_in_rewrite": ()}, NO_REQUIRED),
        ({"required_in_rewrite": ("Virginia",)}, REQUIRED_NOWHERE),
        ({"required_in_rewrite": ("uptime",)}, NOTHING_SUPPLIED),
        ({"forbidden_in_rewrite": ("Oregon",)}, FORBIDDEN_NOWHERE),
        (
            {"forbidden_in_rewrite": ("keys", "sites"), "required_in_rewrite": ("Dublin", "keys")},
            REQUIRED_NOWHERE,
        ),
        ({"forbidden_in_rewrite": ("eu-west-1",), "required_in_rewrite": ("eu-west-1",)}, TERMS_CLASH),
        ({"reference_type": "long_range", "forbidden_in_rewrite": ()}, NO_FORBIDDEN),
        ({"reference_type": "not_a_query"}, NOT_AN_ITEM),
    ],
)
def test_an_item_without_proof_is_dropped_with_its_reason(change: dict[str, object], reason: str) -> None:
    made = label(replace(FOLLOW_UP, **change))  # type: ignore[arg-type]
    assert isinstance(made, Dropped)
    assert (made.stage, made.reason) == ("label", reason)


def test_a_forbidden_term_that_the_follow_up_holds_is_no_item() -> None:
    talk = replace(
        TALK, messages=(*TALK.messages[:2], replace(TALK.messages[2], content="uptime, not Frankfurt?"))
    )
    made = label(transcript=talk)
    assert isinstance(made, Dropped)
    assert made.reason == FORBIDDEN_ASKED


def test_trusted_gold_and_rewrite_win() -> None:
    row = {"gold": ["docs/keys"], "reference_rewrite": "Dublin uptime commitment"}
    item = label(given={("hal-001", 3): row})
    assert isinstance(item, Item)
    assert (item.gold, item.gold_source) == (("docs/keys",), "label")
    assert item.reference_rewrite == "Dublin uptime commitment"


def test_a_trusted_rewrite_that_fails_its_checks_is_not_used() -> None:
    item = label(given={("hal-001", 3): {"reference_rewrite": "Dublin or Frankfurt uptime"}})
    assert isinstance(item, Item)
    assert item.reference_rewrite == "Dublin: uptime for the second?"


def test_without_citations_gold_is_pooled_and_says_so() -> None:
    bare = replace(TALK, messages=tuple(replace(turn, citations=()) for turn in TALK.messages))
    item = label(transcript=bare, retrieve=lambda query, k: ["docs/other", "docs/dublin#sla"][:k])
    assert isinstance(item, Item)
    assert (item.gold, item.gold_source) == (("docs/other", "docs/dublin#sla"), "pooled")
    nothing = label(transcript=bare)
    assert isinstance(nothing, Item)
    assert (nothing.gold, nothing.gold_source) == ((), "none")


def test_pooling_puts_first_what_several_rankings_place_high() -> None:
    assert pool([["a", "b", "c"], ["b", "d"]], 2) == ("b", "a")


def test_aliases_of_the_catalogue_complete_machine_labels_only() -> None:
    catalogue = Catalogue((Entity("Frankfurt", "region", ("eu-central-1",)),))
    machine = label(catalogue=catalogue)
    human = label(replace(FOLLOW_UP, labelled_by="human"), catalogue=catalogue)
    assert isinstance(machine, Item)
    assert isinstance(human, Item)
    assert (machine.aliases, human.aliases) == ((("Frankfurt", ("eu-central-1",)),), ())
