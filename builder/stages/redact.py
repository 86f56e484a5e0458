"""redact: transcripts in, the same transcripts without anything private out. The map is forgotten at once."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from builder.core.records import Terms, Transcript
from builder.core.settings import RedactSettings
from builder.core.terms import spans
from builder.text.addresses import find_addresses, find_emails
from builder.text.findings import SURE, Finding, Place, first_come
from builder.text.keys import find_secrets
from builder.text.names import find_answered_name, find_names
from builder.text.numbers import find_ibans, find_numbers
from builder.text.pseudonyms import MAIL_HOST
from builder.text.substitution import in_case, name_words, repeats, stand_ins

RECOGNISERS: dict[str, Callable[[str], Iterator[Place]]] = {
    "secret": find_secrets,
    "email": find_emails,
    "iban": find_ibans,
    "number": find_numbers,
    "ip": find_addresses,
}
"""In order of precedence: where two findings overlap, the earlier recogniser's holds."""
NEED_DIGITS = ("iban", "number", "ip")
_DIGIT = re.compile("[0-9]")


@dataclass(frozen=True, slots=True)
class _Kept:
    """Words that are never a finding: whole terms in small letters, and their single words."""

    terms: str
    words: frozenset[str]


def redact_transcripts(
    transcripts: Iterable[Transcript], settings: RedactSettings, keep: frozenset[str], seed: int
) -> Iterator[tuple[Transcript, tuple[Finding, ...]]]:
    """Each transcript with its private values replaced by pseudonyms, and where they were.

    Turn numbers stay. Within a conversation equal values get equal pseudonyms, of the same type and shape; which
    one depends on the seed, the conversation's id and the value alone. A finding below `SURE` is reported and left.

    Args:
        transcripts: Transcripts as read.
        settings: Which kinds are replaced.
        keep: Terms that are never a finding: entities of the catalogue, their aliases, terms of given labels.
        seed: The set's seed.
    """
    kept = _keep(settings, keep)
    for transcript in transcripts:
        if not settings.enabled:
            yield transcript, ()
            continue
        places = _find(transcript, settings, kept)
        findings = _findings(transcript, places, settings)
        if any(sure for found in places for sure in found):
            swap = _swap(transcript, places, kept, seed)
            messages = tuple(
                replace(turn, content=swap(turn.content, found))
                for turn, found in zip(transcript.messages, places, strict=True)
            )
            transcript = replace(transcript, messages=messages)
        yield transcript, findings


def redact_terms(
    terms: Terms, transcript: Transcript, settings: RedactSettings, keep: frozenset[str], seed: int
) -> Terms:
    """`terms` of labels given for `transcript` (as read), with the pseudonyms that its redaction uses."""
    kept = _keep(settings, keep)
    places = _find(transcript, settings, kept)
    if not settings.enabled or not any(places):
        return terms
    swap = _swap(transcript, places, kept, seed)
    return tuple(swap(term, _sure_places(term, "user", settings, kept)) for term in terms)


@dataclass(frozen=True, slots=True)
class Tally:
    """Findings counted.

    Attributes:
        replaced: Those that were replaced, by kind.
        left: Those below `SURE`, which a person has to decide about, by kind.
    """

    replaced: dict[str, int]
    left: dict[str, int]

    @property
    def unreviewed(self) -> int:
        """How many wait for a person; while there are any, nothing is published."""
        return sum(self.left.values())


def tally(findings: Iterable[Finding]) -> Tally:
    """Findings counted by kind."""
    sure: Counter[str] = Counter()
    left: Counter[str] = Counter()
    for finding in findings:
        (sure if finding.confidence >= SURE else left)[finding.kind] += 1
    return Tally(dict(sorted(sure.items())), dict(sorted(left.items())))


def _keep(settings: RedactSettings, keep: frozenset[str]) -> _Kept:
    terms = sorted({term.casefold() for term in (*keep, *settings.keep) if term.strip()})
    words = {word for term in terms for word in re.findall(r"\w+", term) if len(word) > 1}
    return _Kept("\x1f".join(terms), frozenset(words))


def _places(text: str, role: str, settings: RedactSettings, kept: _Kept) -> list[Place]:
    """What is found in one message, kept terms apart, in order, none overlapping another."""
    found: list[Place] = [
        ("name", start, end, 1.0) for name in settings.names for start, end in spans(name, text)
    ]
    listed = [
        place
        for place in _structured(text)
        if place[0] in settings.kinds and not _is_kept(text[place[1] : place[2]], kept)
    ]
    if "name" in settings.kinds:
        listed += [name for name in find_names(text, role) if not _words(text, name) & kept.words]
    everything = [*found, *listed]
    return sorted(first_come(everything, len(text)), key=lambda place: place[1]) if everything else []


def _is_kept(value: str, kept: _Kept) -> bool:
    return value.casefold() in kept.terms or value.endswith(f"@{MAIL_HOST}")


def _sure_places(text: str, role: str, settings: RedactSettings, kept: _Kept) -> list[Place]:
    return [place for place in _places(text, role, settings, kept) if place[3] >= SURE]


def _find(transcript: Transcript, settings: RedactSettings, kept: _Kept) -> list[list[Place]]:
    found = []
    asked = ""
    for turn in transcript.messages:
        places = _places(turn.content, turn.role, settings, kept)
        if not places and turn.role == "user" and asked and "name" in settings.kinds:
            answered = find_answered_name(asked, turn.content)
            places = [place for place in answered if not _words(turn.content, place) & kept.words]
        found.append(places)
        asked = turn.content if turn.role == "assistant" else ""
    return found


def _words(text: str, place: Place) -> set[str]:
    return set(re.findall(r"\w+", text[place[1] : place[2]].casefold()))


def _findings(
    transcript: Transcript, places: list[list[Place]], settings: RedactSettings
) -> tuple[Finding, ...]:
    found = [
        Finding(kind, turn.number, start, end, confidence)
        for turn, listed in zip(transcript.messages, places, strict=True)
        for kind, start, end, confidence in listed
    ]
    # An id cannot be replaced without losing its labels: a person has to look at it.
    if "@" in transcript.id and "email" in settings.kinds:
        found += [
            Finding(kind, 0, start, end, SURE / 2)
            for kind, start, end, _ in _structured(transcript.id)
            if kind == "email"
        ]
    return tuple(found)


Swap = Callable[[str, list[Place]], str]


def _swap(transcript: Transcript, places: list[list[Place]], kept: _Kept, seed: int) -> Swap:
    """The function that puts the conversation's pseudonyms into one text.

    It replaces what was found in the text, and whatever was found elsewhere in the conversation: a name is introduced
    once and then used without a cue.
    """
    values = [
        (kind, turn.content[start:end])
        for turn, found in zip(transcript.messages, places, strict=True)
        for kind, start, end, confidence in found
        if confidence >= SURE
    ]
    text = "\n".join(turn.content for turn in transcript.messages)
    stand_in = stand_ins(values, seed, transcript.id)
    words = name_words(values, text, kept.words, seed, transcript.id)
    repeat = repeats(stand_in, words, values)

    def renamed(name: str) -> str:
        return re.sub(r"[^\W_]+", lambda match: in_case(words, match.group()), name)

    def swap(content: str, found: list[Place]) -> str:
        parts, done = [], 0
        for kind, start, end, confidence in [*found, ("", len(content), len(content), 1.0)]:
            if confidence < SURE:
                continue
            parts.append(repeat(content[done:start]))
            value = content[start:end]
            parts.append(renamed(value) if kind == "name" else stand_in.get((kind, value), value))
            done = end
        return "".join(parts)

    return swap


@lru_cache(maxsize=1 << 15)
def _structured(text: str) -> tuple[Place, ...]:
    """Addresses, numbers and keys in `text`, none overlapping another. Logs repeat themselves: so are the findings."""
    if _DIGIT.search(text):
        recognisers = tuple(RECOGNISERS.values())
    else:
        recognisers = tuple(recognise for name, recognise in RECOGNISERS.items() if name not in NEED_DIGITS)
    found = [place for recognise in recognisers for place in recognise(text)]
    return tuple(first_come(found, len(text)) if found else ())


def mask(text: str) -> str:
    """`text` with each structured private value as its kind in brackets: for ids and for records that cannot be read."""
    out, at = [], 0
    for kind, start, end, _ in sorted(_structured(text), key=lambda place: place[1]):
        out += [text[at:start], f"[{kind}]"]
        at = end
    return "".join([*out, text[at:]])
