"""Segments: the conversation cut where its subject changes; only the last piece is shown."""

from collections.abc import Sequence
from dataclasses import replace
from math import sqrt
from operator import mul

from builder.core.records import Turn
from builder.scope.shown import Design, Embed, FindEntities, Report, Shown, State, lay_out
from builder.scope.wording import Wording, read_wording

THRESHOLD = 0.55
"""Cosine with the segment's centroid below which a user turn opens a new segment."""

WORDING_THRESHOLD = 0.2
"""The same where wording decides first: what is left are complete messages, whose words vary more."""


def cosine(left: Sequence[float], right: Sequence[float]) -> float:
    """Cosine of two vectors, rounded so that no engine's last bits decide a cut; 0 when one is zero."""
    scale = sqrt(sumsq(left) * sumsq(right))
    return round(sum(map(mul, left, right)) / scale, 6) if scale else 0.0


def sumsq(vector: Sequence[float]) -> float:
    """Squared length of a vector."""
    return float(sum(map(mul, vector, vector)))


def unit(vector: Sequence[float]) -> tuple[float, ...]:
    """`vector` at length 1; a zero vector stays."""
    length = sqrt(sumsq(vector))
    return tuple(value / length for value in vector) if length else tuple(vector)


def joined(total: Sequence[float], vector: Sequence[float]) -> tuple[float, ...]:
    """The sum of two vectors; the second alone when the first is empty."""
    return tuple(a + b for a, b in zip(total, vector, strict=True)) if total else tuple(vector)


def wording_decides(wording: Wording) -> bool | None:
    """Whether the wording alone says that a message opens a segment: True, False, or None when it does not say.

    An announced change opens one. A message that goes on with what was said belongs to the segment it goes on with,
    however far its few words lie from the centroid.
    """
    if wording.announces:
        return True
    return False if wording.goes_on else None


def make_segments(
    name: str, embed: Embed, threshold: float = THRESHOLD, find: FindEntities | None = None
) -> Design:
    """The design that cuts where a user turn lies far from the centroid of the current segment.

    Args:
        name: Name of the design.
        embed: Gives the vectors.
        threshold: Least cosine with the centroid that keeps a turn in its segment.
        find: The extractor; where it is given, `wording_decides` overrules the cosine.
    """

    def similarity(state: State, vector: Sequence[float]) -> float | None:
        return cosine(state.total, vector) if state.total else None

    def cuts(text: str, found: float | None) -> bool:
        if found is None:
            return False
        said = wording_decides(read_wording(text, find)) if find else None
        return found < threshold if said is None else said

    def step(state: State, turn: Turn, _report: Report) -> State:
        if turn.role != "user":
            return replace(state, turn=turn.number)
        vector = unit(embed([turn.content])[0])
        if cuts(turn.content, similarity(state, vector)):
            return replace(state, turn=turn.number, segment_start=turn.number, total=vector)
        return replace(state, turn=turn.number, total=joined(state.total, vector))

    def show(prefix: Sequence[Turn], latest: str, state: State) -> Shown:
        found = similarity(state, unit(embed([latest])[0]))
        is_cut = cuts(latest, found)
        turns = () if is_cut else tuple(turn for turn in prefix if turn.number >= state.segment_start)
        told = "no earlier user turn" if found is None else f"cosine {found:.2f} against {threshold:g}"
        start = "a new segment opens here" if is_cut else f"segment since turn {state.segment_start}"
        return Shown(turns, (), lay_out(latest, turns), f"{told}: {start}")

    by = "cosine and wording" if find else "cosine"
    return Design(name, show, step, False, f"turns since the last cut by {by}, threshold {threshold:g}")


def make_flag_segments(name: str) -> Design:
    """The design that cuts where the rewriter itself reported a change of subject.

    The report comes with the query, so the very turn that pivots is still rewritten from the old segment; the turns
    after it see the new one.
    """

    def step(state: State, turn: Turn, report: Report) -> State:
        is_cut = turn.role == "user" and report.topic_shift
        return replace(state, turn=turn.number, segment_start=turn.number if is_cut else state.segment_start)

    def show(prefix: Sequence[Turn], latest: str, state: State) -> Shown:
        turns = tuple(turn for turn in prefix if turn.number >= state.segment_start)
        why = f"segment since turn {state.segment_start}, as the rewriter reported"
        return Shown(turns, (), lay_out(latest, turns), why)

    return Design(name, show, step, True, "turns since the last change of subject that the rewriter reported")
