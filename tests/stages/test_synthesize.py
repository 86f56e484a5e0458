"""Long-range synthesis: what it makes, what it refuses, and the law that every survivor keeps."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builder.core.records import Dropped, FollowUp, Terms, Transcript, Turn
from builder.core.settings import SynthesizeSettings
from builder.core.taxonomy import d_live
from builder.core.terms import key, occurs
from builder.stages.synthesize import confirm_distance, synthesize_long_range
from builder.text.donors import Donor, Phrases, find_donors
from builder.text.evidence import Evidence, Lexis, gather_evidence
from builder.text.obligations import Base, holds, prove, read_base, unfit_as_base
from builder.text.splice import prove_order

NOUNS = [
    "harbour",
    "invoice",
    "penguin",
    "granite",
    "violin",
    "saffron",
    "turbine",
    "lantern",
    "meadow",
    "compass",
]
NAMES = ("Dublin", "Frankfurt", "Oregon", "billing export API", "Kafka bridge", "Otis lift", *NOUNS)
STOP = {
    "does",
    "what",
    "which",
    "there",
    "have",
    "from",
    "with",
    "about",
    "your",
    "that",
    "this",
    "only",
    "over",
    "into",
    "than",
    "them",
    "they",
    "their",
}


def content(text: str, language: str) -> frozenset[str]:
    return frozenset(key(w) for w in re.findall(r"[A-Za-z]{4,}", text) if w.lower() not in STOP)


def names(text: str) -> Terms:
    return tuple(name for name in NAMES if occurs(name, text))


TYPES = {"Dublin": "region", "Frankfurt": "region", "Oregon": "region", "billing export API": "api"}
LEXIS = Lexis(content, names, lambda name: (), lambda name: TYPES.get(name, ""))
PHRASES: Mapping[str, Phrases] = {
    "en": {
        "adjacency": ["you just"],
        "openers": ["no", "yes"],
        "connectives": ["and"],
        "greetings": ["hello", "thanks"],
        "markers": ["New topic:"],
        "persons": ["she", "he"],
        "places": ["there"],
        "generic": ["much"],
    }
}


def talk(id: str, *texts: str, times: bool = False) -> Transcript:
    turns = tuple(
        Turn(n, "user" if n % 2 else "assistant", text, at=f"2026-09-01T07:{n:02d}:00Z" if times else "")
        for n, text in enumerate(texts, start=1)
    )
    return Transcript(id, turns, language="en")


def label(id: str, turn: int, antecedents: Sequence[int], form: str, required: Terms) -> FollowUp:
    return FollowUp(
        conversation_id=id,
        turn=turn,
        subject="s",
        reference_type=form if antecedents else "standalone",
        form=form,
        pivot=False,
        returns=False,
        antecedent_turns=tuple(antecedents),
        d_live=d_live(turn, antecedents),
        d_introduced=0,
        required_in_rewrite=required,
        forbidden_in_rewrite=(),
        d_stale=None,
        confidence=1.0,
    )


REGIONS = talk(
    "regions",
    "Which European sites accept customer keys?",
    "Frankfurt and Dublin accept customer keys.",
    "Recovery point objective of the second?",
    "Dublin has a recovery point objective of five minutes.",
    times=True,
)
ORDINAL = label("regions", 3, (2,), "ordinal", ("Dublin", "recovery point"))
BILLING = talk(
    "billing",
    "Is the billing export API paged?",
    "Yes, by cursor, up to 500 rows.",
    "How large is a billing export API row?",
    "An API row has at most 4 kB.",
)
LISTING = talk(
    "listing", "Which formats can the Kafka bridge load?", "The bridge can load Avro, Parquet and ORC."
)
SPARES = talk(
    "spares",
    "Who repairs the Otis lift?",
    "The caretaker repairs the Otis lift.",
    "Does he work weekends?",
    "He works on the Otis lift at weekends.",
)


def base_of(transcript: Transcript, follow_up: FollowUp) -> Base:
    return read_base(follow_up, transcript, frozenset(), LEXIS, PHRASES["en"])


def donors_of(*transcripts: Transcript) -> list[Donor]:
    labels = {
        "billing": {3: label("billing", 3, (1,), "definite", ("row",))},
        "spares": {3: label("spares", 3, (2,), "pronoun", ("caretaker",))},
    }
    return list(find_donors(transcripts, labels, LEXIS, PHRASES))


def evidence_of(*transcripts: Transcript) -> Evidence:
    return gather_evidence([(t.content, "en") for tr in transcripts for t in tr.turns], LEXIS)


EVIDENCE = evidence_of(REGIONS, BILLING, LISTING, SPARES)


def run(bases: Sequence[Base], donors: Sequence[Donor], **values: object) -> list[Transcript | Dropped]:
    chosen = SynthesizeSettings(**values)  # type: ignore[arg-type]
    return list(synthesize_long_range(bases, donors, chosen, EVIDENCE, PHRASES, 7))


def test_the_follow_up_moves_behind_real_turns_and_keeps_its_answer() -> None:
    (made,) = run([base_of(REGIONS, ORDINAL)], donors_of(BILLING), distances=(5,), variants=("plain",))
    assert isinstance(made, Transcript)
    assert made.synthesis is not None
    assert [t.content for t in made.turns] == [
        *(t.content for t in REGIONS.turns[:2]),
        *(t.content for t in BILLING.turns),
        *(t.content for t in REGIONS.turns[2:]),
    ]
    assert made.synthesis.inserted == (3, 4, 5, 6)
    assert made.synthesis.antecedent_turns == (2,)
    assert made.synthesis.planned_distance == 5
    assert [name for name, finding in made.synthesis.proof if finding == "holds"] == [
        "reads_as_log",
        "shares_no_content",
        "shares_no_entity",
        "keeps_the_gold",
        "offers_no_antecedent",
        "roles_alternate",
        "times_rise",
        "distance_as_planned",
        "antecedent_is_the_bases",
    ]
    assert [t.at for t in made.turns] == sorted(t.at for t in made.turns)
    assert all(t.at for t in made.turns)


def test_a_marker_stands_before_the_donors_own_words() -> None:
    (made,) = run([base_of(REGIONS, ORDINAL)], donors_of(BILLING), distances=(5,), variants=("marker",))
    assert isinstance(made, Transcript)
    assert made.turns[2].content == "New topic: Is the billing export API paged?"


def test_a_list_in_the_donor_competes_with_an_ordinal() -> None:
    proof = prove(base_of(REGIONS, ORDINAL), donors_of(LISTING)[:1], EVIDENCE, PHRASES["en"])
    assert proof[-1] == ("offers_no_antecedent", "the donor has a list")


def test_a_donor_that_names_the_antecedent_is_refused() -> None:
    dublin = talk("more", "Is the archive kept in Dublin?", "The archive is kept in Dublin.")
    proof = prove(base_of(REGIONS, ORDINAL), donors_of(dublin), EVIDENCE, PHRASES["en"])
    assert not holds(proof)


def test_runs_never_reach_out_of_themselves_and_hold_no_greeting() -> None:
    assert {d.id for d in donors_of(SPARES)} == {"spares#1-2", "spares#1-4"}
    greeting = talk("hi", "hello, can I ask something?", "Of course.")
    assert donors_of(greeting) == []


@pytest.mark.parametrize(
    ("text", "form", "antecedents", "reason"),
    [
        (
            "You just said five minutes, in Dublin only?",
            "pronoun",
            (2,),
            "presumes that its antecedent is adjacent",
        ),
        ("No, the second recovery objective", "ordinal", (2,), "opens as a reply to the turn before it"),
        (
            "And the recovery objective in Dublin?",
            "ellipsis",
            (2,),
            "continues the sentence of the turn before it",
        ),
        ("That one has no recovery objective :)", "pronoun", (2,), "comments on the answer before it"),
        ("And it?", "pronoun", (2,), "its own words do not tie it to its antecedent"),
        (
            "And recovery objective Dublin keeps there?",
            "pronoun",
            (2,),
            "its antecedent supplies no required term",
        ),
        ("How do I rotate keys?", "carryover", (2,), "not a near reference"),
    ],
)
def test_a_follow_up_that_cannot_be_moved_says_why(
    text: str, form: str, antecedents: tuple[int, ...], reason: str
) -> None:
    transcript = talk("regions", REGIONS.turns[0].content, REGIONS.turns[1].content, text, "Five minutes.")
    assert (
        unfit_as_base(base_of(transcript, label("regions", 3, antecedents, form, ("Dublin",))), PHRASES["en"])
        == reason
    )


def test_a_donor_serves_at_most_as_often_as_the_setting_says() -> None:
    bases = []
    for n in range(3):
        transcript = Transcript(f"r{n}", REGIONS.messages, language="en")
        bases.append(base_of(transcript, label(f"r{n}", 3, (2,), "ordinal", ("Dublin", "recovery point"))))
    made = run(bases, donors_of(BILLING), distances=(5,), variants=("plain",), max_donor_uses=2)
    assert [type(m).__name__ for m in made] == ["Transcript", "Transcript", "Dropped"]
    assert made[2] == Dropped(made[2].id, "synthesize", "no donor fits: no donor")


def test_a_synthetic_transcript_must_be_read_as_it_was_planned() -> None:
    (made,) = run([base_of(REGIONS, ORDINAL)], donors_of(BILLING), distances=(5,), variants=("plain",))
    assert isinstance(made, Transcript)
    assert confirm_distance(made, label(made.id, 7, (2,), "ordinal", ())) is None
    lost = confirm_distance(made, label(made.id, 7, (4,), "ordinal", ()))
    assert lost is not None
    assert lost.reason == "the classifier finds an antecedent in the donor"
    other = confirm_distance(made, label(made.id, 7, (1,), "ordinal", ()))
    assert other is not None
    assert other.detail == "planned 5, found 6"


@st.composite
def conversations(draw: st.DrawFn) -> tuple[Transcript, list[Transcript]]:
    first, second, *rest = draw(st.permutations(NOUNS))
    base = talk(
        "base",
        f"Which shops sell {first}?",
        f"Oregon and Dublin sell {first}.",
        f"Opening hours {second} counter in the second?",
        f"Dublin opens its {second} counter daily.",
    )
    donors = [
        talk(
            f"d{n}",
            f"Is the {draw(st.sampled_from(NOUNS))} insured?",
            f"The {noun} is insured.",
            f"Until when is the {noun} insured?",
            f"The {noun} is insured until June.",
        )
        for n, noun in enumerate(rest[: draw(st.integers(1, 6))])
    ]
    return base, donors


@settings(max_examples=60, deadline=None)
@given(conversations(), st.integers(0, 99))
def test_whatever_passes_has_its_planned_distance_and_nothing_needed_in_a_donor(
    pair: tuple[Transcript, list[Transcript]], seed: int
) -> None:
    transcript, others = pair
    required = ("Dublin", transcript.turns[2].content.split()[2])
    base = base_of(transcript, label("base", 3, (2,), "ordinal", required))
    evidence = evidence_of(transcript, *others)
    donors = list(find_donors(others, {}, LEXIS, PHRASES))
    for made in synthesize_long_range([base], donors, SynthesizeSettings(), evidence, PHRASES, seed):
        if isinstance(made, Dropped):
            continue
        assert made.synthesis is not None
        turn = len(made.turns) - 1
        antecedents, inserted = made.synthesis.antecedent_turns, set(made.synthesis.inserted)
        assert d_live(turn, antecedents) == made.synthesis.planned_distance
        assert not inserted & set(antecedents)
        sources = [made.turns[turn - 1].content, *(made.turns[n - 1].content for n in antecedents)]
        for term in required:
            assert any(occurs(term, text) for text in sources)
            assert not any(occurs(term, made.turns[n - 1].content) for n in inserted)
        assert [t.role for t in made.turns] == ["user", "assistant"] * (len(made.turns) // 2)


@pytest.mark.parametrize(
    ("first", "reason"),
    [
        ("So the billing export API is paged?", "a connective opens it"),
        ("Is it the same billing export API?", "it points out of itself"),
        ("Is our billing export API paged?", "it says who asks"),
        ("Which interface is paged?", "it names nothing that could be forbidden"),
    ],
)
def test_a_run_that_could_not_open_behind_other_turns_is_no_donor(first: str, reason: str) -> None:
    phrases = {"en": {"openers": ["so"], "reaching": ["it", "same"], "personal": ["our"], "greetings": []}}
    transcript = talk("billing", first, "The billing export API is paged.")
    assert list(find_donors([transcript], {}, LEXIS, phrases)) == [], reason


def test_a_donor_with_a_thing_of_the_antecedents_type_is_a_rival() -> None:
    oregon = talk("oregon", "Who pays Oregon taxes?", "Every Oregon resident pays taxes.")
    proof = prove(base_of(REGIONS, ORDINAL), donors_of(oregon), EVIDENCE, PHRASES["en"])
    assert proof[-1] == ("offers_no_antecedent", "both have a region")


def test_what_the_donors_user_asks_about_is_kept_with_the_nearest_first() -> None:
    (made,) = run([base_of(REGIONS, ORDINAL)], donors_of(BILLING), distances=(5,), variants=("plain",))
    assert isinstance(made, Transcript)
    assert made.synthesis is not None
    assert made.synthesis.terms == ("billing export API",)


def test_a_run_whose_answer_asks_back_is_no_donor() -> None:
    asking = talk(
        "ask",
        "Is the billing export API paged?",
        "The billing export API is paged. Which page size do you use?",
    )
    assert donors_of(asking) == []


def test_an_order_that_is_none_is_found_in_the_finished_transcript() -> None:
    (made,) = run([base_of(REGIONS, ORDINAL)], donors_of(BILLING), distances=(5,), variants=("plain",))
    assert isinstance(made, Transcript)
    assert made.synthesis is not None
    turns = list(made.messages)
    turns[3] = replace(turns[3], role="user", at="2026-09-01T06:00:00Z")
    wrong = replace(made, messages=tuple(turns), synthesis=replace(made.synthesis, antecedent_turns=(3,)))
    assert prove_order(wrong) == (
        ("roles_alternate", "turn 4 repeats a role"),
        ("times_rise", "times fall"),
        ("distance_as_planned", "the distance is 4"),
        ("antecedent_is_the_bases", "turn 3 is inserted"),
    )
