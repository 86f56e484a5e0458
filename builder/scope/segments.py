"""Segments: the conversation cut where its subject changes; only the last piece is shown."""

from collections.abc import Sequence
from dataclasses import replace
from math import sqrt

from builder.core.records import Turn
from builder.scope.shown import Design, Embed, Report, Shown, State, lay_out
from builder.text.cues import read_cues
from builder.text.language import detect
from builder.text.lexicon import lexicon

THRESHOLD = 0.55
"""Cosine with the segment's centroid below which a user turn opens a new segment."""


def cosine(left: Sequence[float], right: Sequence[float]) -> float:
    """Cosine of two vectors, rounded so that no engine's last bits decide a cut; 0 when one is zero."""
    dot = sum(a * b for a, b in zip(left, right, strict=True))
    scale = sqrt(sum(a * a for a in left)) * sqrt(sum(b * b for b in right))
    return round(dot / scale, 6) if scale else 0.0


def unit(vector: Sequence[float]) -> tuple[float, ...]:
    """`vector` at length 1; a zero vector stays."""
    length = sqrt(sum(value * value for value in vector))
    return tuple(value / length for value in vector) if length else tuple(vector)


def joined(total: Sequence[float], vector: Sequence[float]) -> tuple[float, ...]:
    """The sum of two vectors; the second alone when the first is empty."""
    return tuple(a + b for a, b in zip(total, vector, strict=True)) if total else tuple(vector)


def wording_decides(text: str) -> bool | None:
    """Whether the wording alone says that a message opens a segment: True, False, or None when it does not say.

    An announced change opens one. A message that points back or is a mere fragment belongs to the segment it points
    into, however far its few words lie from the centroid; an announced return needs more than the last segment.
    """
    cues = read_cues(text, lexicon(detect(text)))
    if cues.pivot_marker:
        return True
    if cues.pronoun or cues.selector or cues.ellipsis or cues.is_bare or cues.correction or cues.not_a_query:
        return False
    return False if cues.n_content < 2 else None


def make_segments(name: str, embed: Embed, threshold: float = THRESHOLD, wording: bool = False) -> Design:
    """The design that cuts where a user turn lies far from the centroid of the current segment.

    Args:
        name: Name of the design.
        embed: Gives the vectors.
        threshold: Least cosine with the centroid that keeps a turn in its segment.
        wording: Let `wording_decides` overrule the cosine.
    """

    def similarity(state: State, vector: Sequence[float]) -> float | None:
        return cosine(state.total, vector) if state.total else None

    def cuts(text: str, found: float | None) -> bool:
        said = wording_decides(text) if wording else None
        return found is not None and (found < threshold if said is None else said)

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

    by = "cosine and wording" if wording else "cosine"
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
