"""Runs of whole exchanges that can stand between a real antecedent and a real follow-up."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from builder.core.records import FollowUp, Transcript, Turn
from builder.core.terms import occurs
from builder.text.evidence import Lexis

MAX_EXCHANGES = 4
MAX_TURN_CHARACTERS = 1500
"""A longer turn would make the follow-up's prefix a document."""

_END = re.compile(r"[.!?。！？…)\"'»]\s*$")


@dataclass(frozen=True, slots=True)
class Donor:
    """A run of whole exchanges of one conversation.

    Attributes:
        conversation_id: Where it comes from.
        turns: Its turns, user first, assistant last, with their numbers there.
        language: Of its conversation.
        register: "lower" when its user writes without capitals, else "sentence".
        names: Entities in it.
        content: Its content words.
        asked: Content words of its user turns.
        text: All of its turns in one text.
    """

    conversation_id: str
    turns: tuple[Turn, ...]
    language: str
    register: str
    names: frozenset[str]
    content: frozenset[str]
    asked: frozenset[str]
    text: str

    @property
    def id(self) -> str:
        """`conversation_id#first-last`."""
        return f"{self.conversation_id}#{self.turns[0].number}-{self.turns[-1].number}"


def register_of(turns: Iterable[Turn]) -> str:
    """How the user of these turns writes: "lower" without capitals at the start, else "sentence"."""
    firsts = [turn.content.lstrip()[:1] for turn in turns if turn.role == "user"]
    small = sum(first.islower() for first in firsts)
    return "lower" if small * 2 > len(firsts) else "sentence"


def find_donors(
    transcripts: Iterable[Transcript],
    follow_ups: Mapping[str, Mapping[int, FollowUp]],
    lexis: Lexis,
    phrases: Mapping[str, Mapping[str, Sequence[str]]],
) -> Iterator[Donor]:
    """Every run of 1 to 4 exchanges that stands alone at its start and reaches out of itself nowhere.

    `follow_ups` gives the labels of a conversation's follow-ups by turn; `phrases` the word lists by language. The
    run holds no greeting, farewell or other turn without a query, and ends in an answer.
    """
    for transcript in transcripts:
        if transcript.synthesis:
            continue
        labels = follow_ups.get(transcript.id, {})
        greetings = phrases.get(transcript.language, {}).get("greetings", ())
        register = register_of(transcript.turns)
        for start in range(0, len(transcript.turns) - 1):
            for run in _runs_from(transcript.turns, start, labels, greetings):
                yield _donor(transcript, run, register, lexis)


def _runs_from(
    turns: tuple[Turn, ...], start: int, labels: Mapping[int, FollowUp], greetings: Sequence[str]
) -> Iterator[tuple[Turn, ...]]:
    first = turns[start].number
    opening = labels.get(first)
    if opening is not None and (opening.d_live > 0 or opening.returns):
        return
    for end in range(start + 2, min(start + 2 * MAX_EXCHANGES, len(turns)) + 1, 2):
        user, answer = turns[end - 2 : end]
        label = labels.get(user.number)
        whole = user.role == "user" and answer.role == "assistant" and bool(_END.search(answer.content))
        short = max(len(user.content), len(answer.content)) <= MAX_TURN_CHARACTERS
        quiet = not any(occurs(greeting, user.content) for greeting in greetings)
        if not (whole and short and quiet) or (label is not None and not _stays_inside(label, first)):
            return
        yield turns[start:end]


def _stays_inside(label: FollowUp, first: int) -> bool:
    is_query = label.reference_type not in ("not_a_query", "unresolvable")
    return is_query and all(antecedent >= first for antecedent in label.antecedent_turns)


def _donor(transcript: Transcript, run: tuple[Turn, ...], register: str, lexis: Lexis) -> Donor:
    language = transcript.language
    asked = [turn.content for turn in run if turn.role == "user"]
    return Donor(
        conversation_id=transcript.id,
        turns=run,
        language=language,
        register=register,
        names=frozenset(name for turn in run for name in lexis.names(turn.content)),
        content=frozenset(word for turn in run for word in lexis.content(turn.content, language)),
        asked=frozenset(word for text in asked for word in lexis.content(text, language)),
        text="\n\n".join(turn.content for turn in run),
    )
