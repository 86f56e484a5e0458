"""A conversation laid out for term labelling: the words of each turn, where they stand, what they belong to."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from builder.core.records import Transcript, Turn
from builder.text.entities import COMMON, EntityIndex, Mention
from builder.text.language import language_of
from builder.text.lexicon import Lexicon, lexicon
from builder.text.pseudonyms import stand_in_spans
from builder.text.words import Word, content_words, words

_FREQUENCY_FILE = Path(__file__).resolve().parent.parent / "lexicons" / "frequency.json"
NEIGHBOUR_GAPS = (" ", "-", "")
"""What may stand between two words of one term."""
_CLAUSE = re.compile(r"[.!?;。！？；\n]+\s|[.!?;。！？；\n]+$|\n|。|！|？")


@lru_cache(maxsize=8)
def frequency(language: str) -> Mapping[str, int]:
    """How common a word is in conversations of all kinds: 1 (rare but general) to 6; absent words are rarer."""
    table = json.loads(_FREQUENCY_FILE.read_text(encoding="utf-8")).get(language, {})
    return {word: int(level) for level, listed in table.items() for word in listed.split()}


@lru_cache(maxsize=1)
def units() -> frozenset[str]:
    """Units, salutations and carriers that look like names and name nothing."""
    return frozenset(str(json.loads(_FREQUENCY_FILE.read_text(encoding="utf-8"))["units"]).split())


@dataclass(frozen=True, slots=True)
class TurnWords:
    """The words of one turn.

    Attributes:
        turn: The turn itself.
        words: Its words with content, in order.
        counts: Key -> how often it stands there.
        first: Key -> its first word.
        order: Key -> place of its first word among the words with content.
        clause: Key -> number of the clause of its first word, from 0.
        entities: Key -> the name that it is a part of.
        mentions: The names in the turn, in order.
        n_clauses: Clauses in the turn.
    """

    turn: Turn
    words: tuple[Word, ...]
    counts: Counter[str]
    first: Mapping[str, Word]
    order: Mapping[str, int]
    clause: Mapping[str, int]
    entities: Mapping[str, Mention]
    mentions: tuple[Mention, ...]
    n_clauses: int


@dataclass(frozen=True, slots=True)
class Scene:
    """All turns of a conversation, read once for all of its follow-ups.

    Attributes:
        transcript: The conversation.
        lex: The lexicon of its language.
        turns: Turn n stands at n - 1.
        names: Keys that look like a name somewhere in the conversation.
        places: Key -> numbers of the turns that hold it, ascending.
        pairs: Keys of two neighbouring words -> in how many turns they stand together.
        index: The known entities.
    """

    transcript: Transcript
    lex: Lexicon
    turns: tuple[TurnWords, ...]
    names: frozenset[str]
    places: Mapping[str, tuple[int, ...]]
    pairs: Mapping[tuple[str, str], int]
    index: EntityIndex

    def mention(self, key: str, turns: Sequence[int]) -> Mention | None:
        """The latest name among `turns` that the word of `key` is a part of; None when it is part of none."""
        return next((self.at(n).entities[key] for n in reversed(turns) if key in self.at(n).entities), None)

    def at(self, number: int) -> TurnWords:
        """The words of turn `number`."""
        return self.turns[number - 1]


def lay_out(transcript: Transcript, index: EntityIndex) -> Scene:
    """The scene of a conversation."""
    lex = lexicon(language_of(transcript))
    content = [_telling(turn.content, content_words(turn.content, lex)) for turn in transcript.turns]
    if lex.is_spaceless:
        content = recut(content)
    turns = tuple(
        _lay_turn(turn, found, lex, index) for turn, found in zip(transcript.turns, content, strict=True)
    )
    names = frozenset(word.key for turn in turns for word in turn.words if _names(word, lex)) | frozenset(
        key for turn in turns for key, m in turn.entities.items() if m.entity.type != COMMON
    )
    places: dict[str, list[int]] = defaultdict(list)
    for turn in turns:
        for key in turn.counts:
            places[key].append(turn.turn.number)
    held = {key: tuple(numbers) for key, numbers in places.items()}
    pairs = Counter(pair for turn in turns for pair in _neighbours(turn))
    return Scene(transcript, lex, turns, names, held, pairs, index)


def _telling(text: str, words: tuple[Word, ...]) -> tuple[Word, ...]:
    """The words outside stand-ins of redacted values: what stands for nobody is no term and no evidence."""
    spans = stand_in_spans(text)
    if not spans:
        return words
    return tuple(w for w in words if not any(start < w.end and w.start < end for start, end in spans))


def _names(word: Word, lex: Lexicon) -> bool:
    """Whether a word names something by its look; in German every noun has a capital."""
    return word.is_code or (word.is_name and lex.language != "de" and not word.is_number)


def _neighbours(turn: TurnWords) -> set[tuple[str, str]]:
    text = turn.turn.content
    return {(a.key, b.key) for a, b in pairwise(turn.words) if text[a.end : b.start] in NEIGHBOUR_GAPS}


def recut(content: Sequence[tuple[Word, ...]]) -> list[tuple[Word, ...]]:
    """The words of each turn, long ones in scripts without spaces cut where a part of them stands in another turn too.

    No dictionary: what a conversation repeats is a word of it ("居民停车证一年" beside "居民停车证").
    """
    runs: dict[str, set[int]] = defaultdict(set)
    for number, found in enumerate(content):
        for word in found:
            if word.is_spaceless:
                for size in range(2, min(len(word.text), 9) + 1):
                    for at in range(len(word.text) - size + 1):
                        runs[word.text[at : at + size]].add(number)
    repeated = {run for run, numbers in runs.items() if len(numbers) > 1}
    return [tuple(part for word in found for part in _parts(word, repeated)) for found in content]


def _parts(word: Word, repeated: set[str]) -> list[Word]:
    text = word.text
    if not word.is_spaceless or len(text) < 4 or text in repeated:
        return [word]
    best = max(
        (text[at : at + size] for size in range(2, len(text)) for at in range(len(text) - size + 1)),
        key=lambda run: (run in repeated, len(run)),
        default="",
    )
    if best not in repeated:
        return [word]
    at = text.index(best)
    pieces = [(0, at), (at, at + len(best)), (at + len(best), len(text))]
    return [
        Word(text[a:b], text[a:b], word.start + a, word.start + b, is_spaceless=True)
        for a, b in pieces
        if b - a > 1
    ]


def _lay_turn(turn: Turn, content: tuple[Word, ...], lex: Lexicon, index: EntityIndex) -> TurnWords:
    mentions = index.find(words(turn.content, lex))
    ends = [match.end() for match in _CLAUSE.finditer(turn.content)]
    first: dict[str, Word] = {}
    order: dict[str, int] = {}
    clause: dict[str, int] = {}
    entities: dict[str, Mention] = {}
    at = 0
    for place, word in enumerate(content):
        if word.key not in first:
            first[word.key], order[word.key] = word, place
            clause[word.key] = sum(end <= word.start for end in ends)
        while at < len(mentions) and mentions[at].end <= word.start:
            at += 1
        if at < len(mentions) and mentions[at].start <= word.start < mentions[at].end:
            entities.setdefault(word.key, mentions[at])
    counts = Counter(word.key for word in content)
    return TurnWords(turn, content, counts, first, order, clause, entities, mentions, len(ends) + 1)


def lists_in(turn: TurnWords) -> list[list[Mention]]:
    """Names of one type that a turn lists side by side, in order of mention, without repeats; the longest first."""
    by_type: dict[str, dict[str, Mention]] = {}
    for mention in turn.mentions:
        if mention.entity.type != COMMON:
            by_type.setdefault(mention.entity.type, {}).setdefault(mention.entity.name, mention)
    found = [list(listed.values()) for listed in by_type.values() if len(listed) > 1]
    return sorted(found, key=lambda listed: (-len(listed), listed[0].start))


def answer_after(scene: Scene, turn: int) -> TurnWords | None:
    """The assistant turn that followed the follow-up at `turn`; None when the conversation ends there."""
    after: Sequence[TurnWords] = scene.turns[turn : turn + 1]
    return after[0] if after and after[0].turn.role == "assistant" else None
