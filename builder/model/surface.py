"""What the wording says by itself: cues and the rules' own reading, as numbers that the decisions weigh with the rest.

The encoder has seen little German, Spanish, French, Portuguese, Chinese or Japanese; the word lists know them.
"""

from dataclasses import dataclass

from builder.core.records import Reading, Transcript
from builder.core.taxonomy import FORM_NAMES, LONG_RANGE, d_live
from builder.text.cues import Cues, read_cues
from builder.text.language import language_of
from builder.text.lexicon import lexicon
from builder.text.rules import read_by_rules

_KINDS = ("pronouns", "demonstratives", "locatives")


@dataclass(frozen=True, slots=True)
class Surface:
    """One follow-up's wording.

    Attributes:
        facts: Cues and the rules' answers, each in [0, 1].
        pointed: The turns that the rules point at.
    """

    facts: tuple[float, ...]
    pointed: tuple[int, ...]


def read_surfaces(transcript: Transcript) -> dict[int, Surface]:
    """The surface of each follow-up, by turn."""
    language = language_of(transcript)
    words = lexicon(language)
    return {
        reading.turn: Surface(
            (
                *_cue_facts(read_cues(transcript.turns[reading.turn - 1].content, words)),
                *_rule_facts(reading),
            ),
            reading.antecedent_turns,
        )
        for reading in read_by_rules(transcript)
    }


def _cue_facts(cues: Cues) -> tuple[float, ...]:
    return (
        float(bool(cues.openers)),
        float(bool(cues.pivot_marker)),
        float(bool(cues.return_marker)),
        float(bool(cues.not_a_query)),
        float(bool(cues.selector)),
        float(cues.position != 0),
        *(float(bool(cues.pronoun) and cues.pronoun_kind == kind) for kind in _KINDS),
        float(bool(cues.ellipsis)),
        float(cues.is_bare),
        float(cues.correction),
        float(cues.is_question),
        min(cues.n_content, 10) / 10,
    )


def _rule_facts(reading: Reading) -> tuple[float, ...]:
    return (
        *(float(reading.form == form) for form in FORM_NAMES),
        float(reading.pivot),
        float(reading.returns),
        float(d_live(reading.turn, reading.antecedent_turns) >= LONG_RANGE),
    )
