"""Subjects as threads: which user turns are about the same thing, and what a thread is called."""

from collections import Counter
from collections.abc import Mapping, Sequence

from builder.core.records import Reading, Transcript
from builder.text.cues import read_cues
from builder.text.entities import COMMON, EntityIndex
from builder.text.language import language_of
from builder.text.lexicon import lexicon
from builder.text.words import content_words


def threads_of(transcript: Transcript, readings: Sequence[Reading]) -> dict[int, int]:
    """User turn -> its thread (the earliest user turn with the same subject), the first query included."""
    first = next((turn.number for turn in transcript.turns if turn.role == "user"), 0)
    threads = {first: first}
    for reading in sorted(readings, key=lambda r: r.turn):
        threads[reading.turn] = threads.get(reading.thread, reading.thread)
    return threads


def thread_at(turn: int, threads: Mapping[int, int]) -> int:
    """The thread of any turn: an assistant turn has the thread of the user turn it answers."""
    asked = max((number for number in threads if number <= turn), default=0)
    return threads.get(asked, 0)


def name_subject(transcript: Transcript, threads: Mapping[int, int], turn: int, index: EntityIndex) -> str:
    """A short name for the thread of a user turn: the listed or mined name its messages hold most often.

    Without such a name, the first words with content of the message that opened the thread.
    """
    lex = lexicon(language_of(transcript))
    thread = threads[turn]
    counted: Counter[str] = Counter()
    for message in transcript.turns:
        if thread_at(message.number, threads) == thread:
            weight = 3 if message.number == thread else 2 if message.role == "user" else 1
            for name in {
                m.entity.name
                for m in index.find(content_words(message.content, lex))
                if m.entity.type != COMMON
            }:
                counted[name] += weight
    if counted:
        return min(counted, key=lambda name: (-counted[name], name))
    content = content_words(transcript.turns[thread - 1].content, lex)
    picked = [w for w in content if w.key not in lex.generic][:3] or list(content[:3])
    return ("" if lex.is_spaceless else " ").join(w.text for w in picked) or f"turn {thread}"


def facets_of(
    transcript: Transcript, reading: Reading, threads: Mapping[int, int], subjects: Mapping[int, str]
) -> tuple[bool, bool, bool]:
    """(correction, drift, answers_clarification) of a follow-up.

    It corrects when it opens with words of correction. It drifts when the name of the subject changes without a pivot.
    It answers when the turn above is a question of the assistant and the follow-up is none.
    """
    lex = lexicon(language_of(transcript))
    text = transcript.turns[reading.turn - 1].content
    cues = read_cues(text, lex)
    above = transcript.turns[reading.turn - 2]
    asked = above.role == "assistant" and above.content.rstrip().endswith(("?", "？"))
    previous = max((turn for turn in threads if turn < reading.turn), default=reading.turn)
    drift = not reading.pivot and reading.is_query and subjects[previous] != subjects[reading.turn]
    return cues.correction and reading.is_query, drift, asked and not cues.is_question and reading.is_query
