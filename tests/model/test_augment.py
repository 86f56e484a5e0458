import numpy as np

from builder.core.records import Transcript, Turn
from builder.model.training.augment import (
    CHANGES,
    change_opener,
    leave_out,
    other_prefix,
    splice_before,
    splice_early,
)
from builder.model.training.examples import Example, thread_of_turns


def talk(name: str, *texts: str) -> Transcript:
    roles = ("user", "assistant")
    return Transcript(name, tuple(Turn(n + 1, roles[n % 2], text) for n, text in enumerate(texts)))


KEYS = talk(
    "keys",
    "which sites take our own keys?",
    "Frankfurt and Dublin.",
    "what does a seat cost?",
    "Nine dollars.",
    "does Dublin have object lock?",
)
ALONE = Example(
    "a",
    KEYS,
    5,
    False,
    True,
    False,
    True,
    True,
    "none",
    "post_pivot_standalone",
    (),
    ((1, False), (3, False)),
)
LOYALTY = Example(
    "b",
    talk("miles", "how many points do I need to board early?", "Two thousand.", "and for a guest?"),
    3,
    True,
    False,
    False,
    True,
    True,
    "ellipsis",
    "ellipsis",
    (1,),
    ((1, True),),
)
DEFINITE = Example(
    "a",
    talk("x", "billing export or reporting export?", "Billing.", "rate limit of the export?"),
    3,
    True,
    False,
    False,
    True,
    True,
    "definite",
    "definite",
    (2,),
    ((1, True),),
)
POOL = (ALONE, LOYALTY, DEFINITE)


def random() -> np.random.Generator:
    return np.random.default_rng(3)


def test_a_distractor_before_a_named_thing_makes_a_return_and_a_longer_reach() -> None:
    changed = splice_before(DEFINITE, [LOYALTY], random())
    assert changed is not None
    assert (changed.turn, changed.pivot, changed.returns) == (5, True, True)
    assert changed.antecedent_turns == (2,)
    assert changed.transcript.turns[2].content == "how many points do I need to board early?"
    assert changed.same_subject == ((1, True), (3, False))


def test_a_distractor_never_comes_between_a_bare_ellipsis_and_its_antecedent() -> None:
    assert splice_before(LOYALTY, [DEFINITE], random()) is None


def test_turns_spliced_in_early_move_the_antecedent_and_keep_the_distance() -> None:
    changed = splice_early(DEFINITE, [LOYALTY], random())
    assert changed is not None
    assert (changed.turn, changed.antecedent_turns, changed.stratum) == (5, (4,), "definite")
    assert changed.pivot is False


def test_a_message_that_stands_alone_after_another_talk_has_pivoted() -> None:
    changed = other_prefix(ALONE, [LOYALTY], random())
    assert changed is not None
    assert (changed.stratum, changed.pivot, changed.returns) == ("post_pivot_standalone", True, False)
    assert changed.transcript.turns[changed.turn - 1].content == "does Dublin have object lock?"


def test_an_exchange_that_supplies_nothing_can_be_left_out() -> None:
    found = [leave_out(ALONE, POOL, np.random.default_rng(seed)) for seed in range(8)]
    shorter = [changed for changed in found if changed is not None]
    assert shorter
    assert all(changed.transcript.turns[0].content == "what does a seat cost?" for changed in shorter)


def test_an_opener_changes_no_label() -> None:
    changed = change_opener(LOYALTY, POOL, random())
    assert changed is not None
    assert changed.stratum == LOYALTY.stratum
    assert changed.antecedent_turns == LOYALTY.antecedent_turns


def test_every_change_leaves_turns_numbered_and_labels_inside_the_transcript() -> None:
    for example in POOL:
        for change in CHANGES:
            for seed in range(4):
                changed = change(example, POOL, np.random.default_rng(seed))
                if changed is None:
                    continue
                turns = changed.transcript.turns
                assert [t.number for t in turns] == list(range(1, len(turns) + 1))
                assert turns[changed.turn - 1].role == "user"
                assert all(1 <= n < changed.turn for n in changed.antecedent_turns or ())


def test_interleaved_subjects_are_two_threads() -> None:
    transcript = talk("t", "keys?", "a", "seats?", "b", "keys again?", "c", "seats again?")
    rows = {
        3: {"pivot": True, "returns": False, "subject": "seats"},
        5: {"pivot": True, "returns": True, "subject": "keys"},
        7: {"pivot": True, "returns": True, "subject": "seats"},
    }
    assert thread_of_turns(transcript, rows) == {1: 1, 3: 3, 5: 1, 7: 3}
