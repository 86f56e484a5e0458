"""A transcript with donor turns inserted before a follow-up: positions, times and ids of the result."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise

from builder.core.hashing import digest
from builder.core.records import Synthesis, Transcript, Turn
from builder.core.taxonomy import d_live
from builder.text.obligations import Base

PAUSE_S = 40
"""Seconds between inserted messages, where the log has times."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Where donor turns go.

    Attributes:
        variant: plain, marker, two_donors or interleaved.
        distance: Planned `d_live`.
        early: Turns inserted before the base's last exchange (interleaved only).
        late: Turns inserted just before the follow-up.
        donors: Conversation ids that they come from, in order.
        terms: What they name, the nearest first.
    """

    variant: str
    distance: int
    early: tuple[Turn, ...]
    late: tuple[Turn, ...]
    donors: tuple[str, ...]
    terms: tuple[str, ...]


def splice(base: Base, plan: Plan, proof: Sequence[tuple[str, str]]) -> Transcript:
    """The base's conversation up to its answer with the plan's turns inserted.

    The answer to the follow-up stays at the end, so that its citations remain the gold. Turns are numbered anew; times
    are made to rise, or left out where the base has none.
    """
    label, turns = base.follow_up, base.transcript.turns
    follow_up, answer = turns[label.turn - 1 : label.turn + 1]
    cut = label.turn - 3 if plan.early else label.turn - 1
    sequence = [*turns[:cut], *plan.early, *turns[cut : label.turn - 1], *plan.late, follow_up, answer]
    is_new = [
        *[False] * cut,
        *[True] * len(plan.early),
        *[False] * (label.turn - 1 - cut),
        *[True] * len(plan.late),
        False,
        False,
    ]
    times = _rising_times(sequence, is_new)
    messages = tuple(
        replace(turn, number=number, at=at)
        for number, (turn, at) in enumerate(zip(sequence, times, strict=True), 1)
    )
    places = [number for number, new in enumerate(is_new, 1) if not new]
    synthesis = Synthesis(
        base=base.transcript.id,
        base_turn=label.turn,
        donors=plan.donors,
        inserted=tuple(number for number, new in enumerate(is_new, 1) if new),
        original_distance=label.d_live,
        planned_distance=plan.distance,
        variant=plan.variant,
        antecedent_turns=tuple(places[antecedent - 1] for antecedent in label.antecedent_turns),
        proof=tuple(proof),
        terms=plan.terms,
    )
    made_of = [base.transcript.id, label.turn, plan.variant, [[t.role, t.content] for t in messages]]
    return Transcript(
        f"syn_{digest(made_of)[:12]}",
        messages,
        base.transcript.started_at,
        base.transcript.language,
        base.transcript.source,
        synthesis,
    )


def prove_order(transcript: Transcript) -> tuple[tuple[str, str], ...]:
    """The obligations that only the finished transcript can show, each with "holds" or what is wrong."""
    made = transcript.synthesis
    assert made is not None
    turns = transcript.turns[made.inserted[0] - 2 :]
    roles = next((b.number for a, b in pairwise(turns) if a.role == b.role), 0)
    times = [turn.at for turn in transcript.turns if turn.at]
    found = d_live(len(transcript.turns) - 1, made.antecedent_turns)
    inside = sorted(set(made.antecedent_turns) & set(made.inserted))
    return (
        ("roles_alternate", f"turn {roles} repeats a role" if roles else "holds"),
        ("times_rise", "holds" if times == sorted(times) else "times fall"),
        ("distance_as_planned", "holds" if found == made.planned_distance else f"the distance is {found}"),
        ("antecedent_is_the_bases", f"turn {inside[0]} is inserted" if inside else "holds"),
    )


def distance_after(base: Base, early: int, late: int) -> int:
    """`d_live` once `early` turns stand before the base's last exchange and `late` before the follow-up."""
    label = base.follow_up
    farthest = min(label.antecedent_turns)
    return label.d_live + late + (early if farthest < label.turn - 2 else 0)


def _rising_times(sequence: Sequence[Turn], is_new: Sequence[bool]) -> list[str]:
    if not all(turn.at for turn, new in zip(sequence, is_new, strict=True) if not new):
        return [""] * len(sequence)
    times: list[str] = []
    last: datetime | None = None
    for turn, new in zip(sequence, is_new, strict=True):
        own = None if new else datetime.fromisoformat(turn.at)
        if last is not None and (own is None or own <= last):
            own = last + timedelta(seconds=PAUSE_S)
        times.append(own.isoformat().replace("+00:00", "Z") if own else "")
        last = own or last
    return times
