"""Reading a conversation by rules: fast, without a model, in the taxonomy's order."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from builder.core.records import Catalogue, Reading, Transcript
from builder.text.cues import Cues, read_cues
from builder.text.entities import EntityIndex
from builder.text.language import language_of
from builder.text.lexicon import Lexicon, lexicon
from builder.text.words import content_words

_JOINED = frozenset({"and", "und", "y", "et", "e", "ok and", "and what's", "and what is"})
_CONFIDENCE = {
    "ordinal": 0.6,
    "pronoun": 0.7,
    "ellipsis": 0.55,
    "definite": 0.35,
    "carryover": 0.3,
    "none": 0.55,
}


@dataclass(frozen=True, slots=True)
class _Turn:
    """What the rules see of one turn: its content words, the names in it, and where the first name stands."""

    number: int
    is_user: bool
    keys: frozenset[str]
    names: frozenset[str]
    small: str
    name_at: int


def read_by_rules(transcript: Transcript, index: EntityIndex | None = None) -> tuple[Reading, ...]:
    """A reading of each follow-up: needs-history, pivot, returns, form, antecedent turns, in this order."""
    lex = lexicon(language_of(transcript))
    turns = [_see(turn.number, turn.role == "user", turn.content, lex, index) for turn in transcript.turns]
    readings: list[Reading] = []
    first = next((turn.number for turn in turns if turn.is_user), 0)
    threads = {first: first}
    for number in transcript.follow_up_turns:
        cues = read_cues(transcript.turns[number - 1].content, lex)
        reading = _read(number, cues, turns, threads)
        threads[number] = reading.thread
        readings.append(reading)
    return tuple(readings)


def _see(number: int, is_user: bool, text: str, lex: Lexicon, index: EntityIndex | None) -> _Turn:
    content = content_words(text, lex)
    keys = frozenset(w.key for w in content if w.key not in lex.generic)
    if not is_user:
        # Only the names in a message itself decide anything.
        return _Turn(number, is_user, keys, frozenset(), "", 0)
    mentions = index.find(content) if index else ()
    places = [w.start for w in content if w.is_name] + [mention.start for mention in mentions]
    names = frozenset(w.key for w in content if w.is_name)
    names |= frozenset(mention.entity.name.lower() for mention in mentions)
    name_at = min(places, default=len(text))
    return _Turn(number, is_user, keys, names, text.lower(), name_at)


def _read(number: int, cues: Cues, turns: Sequence[_Turn], threads: dict[int, int]) -> Reading:
    last_user = max(threads)
    current = threads[last_user]
    if cues.not_a_query:
        return Reading(number, current, False, True, "none", False, False, (), 0.8)
    this = turns[number - 1]
    form = _form(cues, this, turns)
    pivot, thread = _pivot(this, cues, form, turns, threads)
    antecedents = _antecedents(this, turns, thread, threads) if form != "none" else ()
    if form != "none" and not antecedents:
        antecedents = (number - 1,)
    returns = pivot and thread != number
    confidence = _CONFIDENCE[form] + (0.15 if cues.pivot_marker and pivot and form == "none" else 0.0)
    return Reading(number, thread, True, True, form, pivot, returns, antecedents, confidence)


def _form(cues: Cues, this: _Turn, turns: Sequence[_Turn]) -> str:
    """The first form of the taxonomy's table for which the message has a cue."""
    earlier = frozenset[str]().union(*(turn.keys for turn in turns[: this.number - 1]))
    new = this.keys - earlier
    if cues.selector and not (cues.selector in ("both", "all") and len(this.names) > 1):
        return "ordinal"
    if cues.pronoun and not _is_inside(cues, this):
        return "pronoun"
    if cues.correction or cues.is_bare or cues.n_content == 0:
        return "ellipsis"
    # "and Frankfurt?" lacks its predicate, "and Dublin's RPO?" lacks only "what is".
    is_whole = cues.ellipsis in _JOINED and bool(this.names) and cues.n_content > 1
    if cues.ellipsis and cues.n_content <= 3 and not is_whole:
        return "ellipsis"
    if cues.return_marker and not this.names:
        return "definite"
    if cues.n_content <= 2 and not cues.is_question and not this.names:
        return "ellipsis"
    if this.names or len(new) >= 3 or len(this.keys) >= 5:
        return "none"
    if this.keys & turns[this.number - 2].keys and not cues.pivot_marker:
        return "definite"
    return "carryover" if this.number > 3 and len(this.keys) <= 2 and not cues.pivot_marker else "none"


def _is_inside(cues: Cues, this: _Turn) -> bool:
    """Whether the pronoun has its antecedent in the message itself: a name, or much else, stands before it."""
    at = this.small.find(cues.pronoun)
    if this.name_at < at:
        return True
    return cues.pronoun_kind == "demonstratives" and bool(this.names) and len(this.keys) >= 4


def _pivot(
    this: _Turn, cues: Cues, form: str, turns: Sequence[_Turn], threads: dict[int, int]
) -> tuple[bool, int]:
    """Whether the subject changed, and the thread that the follow-up belongs to."""
    last_user = max(threads)
    current = threads[last_user]
    near = _said(turns, range(last_user, this.number))
    shared = this.keys & near
    others = [t for t in dict.fromkeys(reversed(threads.values())) if t != current]
    scores = {t: len(this.keys & _of_thread(turns, threads, t, this.number)) for t in others}
    best = max(scores, key=lambda t: (scores[t], t), default=0)
    same = len(this.keys & _of_thread(turns, threads, current, this.number))
    if best and scores[best] > same and (cues.return_marker or scores[best] >= 1):
        return True, best
    if cues.return_marker and best and form in ("ordinal", "definite", "pronoun"):
        return True, best
    if form in ("pronoun", "ellipsis", "ordinal") and not (cues.pivot_marker and form != "pronoun"):
        return False, current
    new_names = this.names - near
    fresh = len(this.keys - near)
    if cues.pivot_marker and len(shared) * 2 <= len(this.keys):
        return True, this.number
    if form == "none" and not shared and fresh >= 2:
        return True, this.number
    if form == "none" and new_names and len(shared) * 3 <= len(this.keys):
        return True, this.number
    return False, current


def _said(turns: Sequence[_Turn], numbers: range) -> frozenset[str]:
    return frozenset[str]().union(*(turns[n - 1].keys for n in numbers))


def _of_thread(turns: Sequence[_Turn], threads: dict[int, int], thread: int, before: int) -> frozenset[str]:
    """The content words of a thread's turns before `before`."""
    keys = frozenset[str]()
    for turn in turns[: before - 1]:
        asked = turn.number if turn.is_user else turn.number - 1
        if threads.get(asked) == thread:
            keys |= turn.keys
    return keys


def _antecedents(
    this: _Turn, turns: Sequence[_Turn], thread: int, threads: dict[int, int]
) -> tuple[int, ...]:
    """The most recent turn that supplies what is missing: the last turn, or the last of the thread returned to."""
    earlier = turns[: this.number - 1]
    current = threads[max(threads)]
    if thread in (current, this.number):
        return (earlier[-1].number,)
    of_thread = [t for t in earlier if threads.get(t.number if t.is_user else t.number - 1) == thread]
    best = max(
        of_thread, key=lambda t: (len(t.keys & this.keys), not t.is_user, t.number), default=earlier[-1]
    )
    return (best.number,)


def rules_reader(catalogue: Catalogue) -> Callable[[Sequence[Transcript]], list[tuple[Reading, ...]]]:
    """`read_by_rules` over batches, with the names of a catalogue: a Reader for `classify_follow_ups`."""
    index = EntityIndex(catalogue)
    return lambda batch: [read_by_rules(transcript, index) for transcript in batch]
