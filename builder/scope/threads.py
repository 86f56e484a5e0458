"""Threads: user turns grouped by subject wherever they stand, so that a return finds what an interval cannot reach."""

from collections.abc import Sequence
from dataclasses import replace

from builder.core.records import Turn
from builder.scope.segments import cosine, joined, unit
from builder.scope.shown import Design, Embed, FindEntities, Report, Shown, State, Thread, lay_out
from builder.scope.wording import Wording, read_wording

THRESHOLD = 0.15
"""Cosine from which a complete message belongs to a thread; for word vectors, where 0 is no shared word."""

LAST_TURNS = 2
"""Turns of the thread that are shown: a thread goes stale inside itself, too."""

ANSWER_WEIGHT = 0.5
"""How much an answer counts in its thread's vector, against 1 for a user turn."""


def choose_thread(
    threads: Sequence[Thread], wording: Wording, vector: Sequence[float], threshold: float
) -> int | None:
    """Place of the thread that a message belongs to, None for a new one. The last thread is the current one.

    An announced return goes to the earlier thread most like it. A message that goes on stays where it is, unless it
    shares words with an earlier thread and none with this one. Any other goes to the thread most like it, or opens one.
    """
    if not threads:
        return None
    likeness = [cosine(thread.total, vector) for thread in threads]
    current = len(threads) - 1
    best = max(range(len(threads)), key=lambda place: (likeness[place], place))
    earlier = max(range(current), key=lambda place: (likeness[place], place), default=current)
    if wording.returns and wording.is_query:
        return earlier if likeness[earlier] > 0 else current
    if wording.goes_on:
        strays = wording.is_query and likeness[current] == 0 and likeness[best] >= threshold
        return best if strays else current
    if likeness[current] >= threshold and not wording.announces:
        return current
    found = earlier if wording.announces else best
    return (
        found if likeness[found] >= threshold and found != (current if wording.announces else None) else None
    )


def make_threads(name: str, embed: Embed, find: FindEntities, threshold: float = THRESHOLD) -> Design:
    """The design that shows the turns of the thread the message belongs to.

    Args:
        name: Name of the design.
        embed: Gives the vectors.
        find: The extractor.
        threshold: Cosine from which a complete message belongs to a thread.
    """

    def place_of(text: str, threads: Sequence[Thread]) -> tuple[int | None, tuple[float, ...]]:
        vector = unit(embed([text])[0])
        return choose_thread(threads, read_wording(text, find), vector, threshold), vector

    def step(state: State, turn: Turn, _report: Report) -> State:
        threads = list(state.threads)
        if turn.role == "user":
            place, vector = place_of(turn.content, threads)
            thread = threads.pop(place) if place is not None else Thread((), ())
            threads.append(Thread((*thread.turns, turn.number), joined(thread.total, vector)))
        elif threads:
            vector = tuple(ANSWER_WEIGHT * value for value in unit(embed([turn.content])[0]))
            thread = threads[-1]
            threads[-1] = Thread((*thread.turns, turn.number), joined(thread.total, vector))
        return replace(state, turn=turn.number, threads=tuple(threads))

    def show(prefix: Sequence[Turn], latest: str, state: State) -> Shown:
        place, _ = place_of(latest, state.threads)
        if place is None:
            return Shown((), (), lay_out(latest), "a new thread opens here")
        wanted = set(state.threads[place].turns[-LAST_TURNS:])
        turns = tuple(turn for turn in prefix if turn.number in wanted)
        return Shown(turns, (), lay_out(latest, turns), f"thread {place + 1} of {len(state.threads)}")

    return Design(
        name, show, step, False, f"turns of the same subject wherever they stand, threshold {threshold:g}"
    )
