"""Runs of whole exchanges that can stand between a real antecedent and a real follow-up."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from builder.core.records import FollowUp, Terms, Transcript, Turn
from builder.core.terms import key, occurs
from builder.text.evidence import Lexis

MAX_EXCHANGES = 4
MAX_TURN_CHARACTERS = 1500
"""A longer turn would make the follow-up's prefix a document."""

SURE = 0.6
"""Least confidence in a label on which a donor may rest."""
_THERE_IS = re.compile(r"\b(?:is|are|was|were) there\b", re.IGNORECASE)
_INCIDENTAL = re.compile(r"\d[\d.,:/-]*(?:st|nd|rd|th|d|h|s|%)?|URLs?|web|NULL|ID|FAQ|PDF", re.IGNORECASE)
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
        types: Types of its entities, where the catalogue gives one.
        terms: What its user asks about by name, the last exchange's first: forbidden in the query afterwards.
        splits: Its second exchange stands alone too, so that other turns may stand between the two.
        text: All of its turns in one text.
    """

    conversation_id: str
    turns: tuple[Turn, ...]
    language: str
    register: str
    names: frozenset[str]
    content: frozenset[str]
    asked: frozenset[str]
    types: frozenset[str]
    terms: Terms
    splits: bool
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


Phrases = Mapping[str, Sequence[str]]
"""Word lists of one language; see lexicons/synthesis.json."""


def find_donors(
    transcripts: Iterable[Transcript],
    follow_ups: Mapping[str, Mapping[int, FollowUp]],
    lexis: Lexis,
    phrases: Mapping[str, Phrases],
) -> Iterator[Donor]:
    """Every run of 1 to 4 exchanges that stands alone at its start and reaches out of itself nowhere.

    `follow_ups` gives the labels of a conversation's follow-ups by turn; `phrases` the word lists by language. The run
    holds no greeting, farewell, statement about the person or other turn without a query, it ends in an answer, and
    its last exchange names something that the user asks about.
    """
    for transcript in transcripts:
        if transcript.synthesis:
            continue
        labels = follow_ups.get(transcript.id, {})
        own = phrases.get(transcript.language, {})
        register = register_of(transcript.turns)
        for start in range(0, len(transcript.turns) - 1):
            if not stands_alone(transcript.turns[start], labels, own):
                continue
            for run in _runs_from(transcript.turns, start, labels, own):
                terms = _terms(run, labels, lexis)
                if terms:
                    splits = len(run) > 2 and stands_alone(run[2], labels, own)
                    yield _donor(transcript, run, register, lexis, terms, splits)


def stands_alone(turn: Turn, labels: Mapping[int, FollowUp], phrases: Phrases) -> bool:
    """Whether a user turn needs nothing before it, by its label and by its words: no connective, nothing that points."""
    label = labels.get(turn.number)
    if label is not None and (label.d_live > 0 or label.returns or label.confidence < SURE):
        return False
    text = _THERE_IS.sub("", turn.content)
    opens = any(
        re.match(rf"\W*{re.escape(word)}\b", text, re.IGNORECASE) for word in phrases.get("openers", ())
    )
    return not opens and not any(occurs(word, text) for word in phrases.get("reaching", ()))


def _runs_from(
    turns: tuple[Turn, ...], start: int, labels: Mapping[int, FollowUp], phrases: Phrases
) -> Iterator[tuple[Turn, ...]]:
    first = turns[start].number
    unwanted = (*phrases.get("greetings", ()), *phrases.get("personal", ()))
    for end in range(start + 2, min(start + 2 * MAX_EXCHANGES, len(turns)) + 1, 2):
        user, answer = turns[end - 2 : end]
        label = labels.get(user.number)
        whole = user.role == "user" and answer.role == "assistant" and bool(_END.search(answer.content))
        # An answer that ends by asking would leave the person who comes back with a question to answer.
        asks = answer.content.rstrip().endswith(("?", "？"))
        short = max(len(user.content), len(answer.content)) <= MAX_TURN_CHARACTERS
        neutral = not any(occurs(phrase, user.content) for phrase in unwanted)
        if (
            not (whole and short and neutral)
            or asks
            or (label is not None and not _stays_inside(label, first))
        ):
            return
        yield turns[start:end]


def _terms(run: tuple[Turn, ...], labels: Mapping[int, FollowUp], lexis: Lexis) -> Terms:
    """Names that the run's user asks about, and terms that its labels require; none when its last exchange has none."""
    found: dict[str, str] = {}
    for turn in sorted((turn for turn in run if turn.role == "user"), key=lambda turn: -turn.number):
        label = labels.get(turn.number)
        needed = [term for term in label.required_in_rewrite if lexis.names(term)] if label else []
        for name in (*lexis.names(turn.content), *needed):
            if not _INCIDENTAL.fullmatch(name):
                found.setdefault(key(name), name)
    last = "\n".join(turn.content for turn in run[-2:])
    near = [name for name in found.values() if occurs(name, last, lexis.aliases(name))]
    return tuple(dict.fromkeys((*near, *found.values()))) if near else ()


def _stays_inside(label: FollowUp, first: int) -> bool:
    is_query = label.reference_type not in ("not_a_query", "unresolvable")
    return is_query and all(antecedent >= first for antecedent in label.antecedent_turns)


def _donor(
    transcript: Transcript, run: tuple[Turn, ...], register: str, lexis: Lexis, terms: Terms, splits: bool
) -> Donor:
    language = transcript.language
    asked = [turn.content for turn in run if turn.role == "user"]
    names = frozenset(name for turn in run for name in lexis.names(turn.content))
    return Donor(
        conversation_id=transcript.id,
        turns=run,
        language=language,
        register=register,
        names=names,
        content=frozenset(word for turn in run for word in lexis.content(turn.content, language)),
        asked=frozenset(word for text in asked for word in lexis.content(text, language)),
        types=frozenset(kind for name in names if (kind := lexis.type_of(name))),
        terms=terms,
        splits=splits,
        text="\n\n".join(turn.content for turn in run),
    )
