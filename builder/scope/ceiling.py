"""What any window and any segmentation could reach, from labels alone: no model is asked."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from builder.core.records import Aliases, FollowUp, Item, Terms, Turn
from builder.core.rows import Row, aliases_from_row
from builder.core.taxonomy import ITEM_STRATA, d_live, right_windows, window_is_right
from builder.scope.segments import make_segments
from builder.scope.shown import SAID_NOTHING, Embed, FindEntities, State

THRESHOLDS = tuple(step / 20 for step in range(1, 20))


@dataclass(frozen=True, slots=True)
class Case:
    """One labelled follow-up as the ceiling sees it.

    Attributes:
        conversation_id: Its conversation.
        turn: Its turn number.
        reference_type: Its stratum.
        antecedent_turns: Turns it needs.
        d_live: Distance of the farthest of them.
        d_stale: Distance of the nearest turn with a forbidden term; None when there is none.
        pivot: Whether its subject differs from the previous user turn's.
        required: Required terms.
        forbidden: Forbidden terms.
        aliases: Further wordings of both.
        weight: Its weight towards production; 1 in a uniform sample.
    """

    conversation_id: str
    turn: int
    reference_type: str
    antecedent_turns: tuple[int, ...]
    d_live: int
    d_stale: int | None
    pivot: bool
    required: Terms = ()
    forbidden: Terms = ()
    aliases: Aliases = ()
    weight: float = 1.0


def case_of(labelled: Item | FollowUp) -> Case:
    """The case of an item, with its weight, or of a labelled follow-up, with weight 1."""
    return Case(
        labelled.conversation_id,
        labelled.turn,
        labelled.reference_type,
        labelled.antecedent_turns,
        labelled.d_live,
        labelled.d_stale,
        labelled.pivot,
        labelled.required_in_rewrite,
        labelled.forbidden_in_rewrite,
        labelled.aliases,
        labelled.weight if isinstance(labelled, Item) else 1.0,
    )


def case_of_row(row: Row) -> Case:
    """The case of a label row; `d_live` is derived, `d_stale` taken as given since the turns are not at hand."""
    antecedents = tuple(row["antecedent_turns"])
    return Case(
        row["conversation_id"],
        row["turn"],
        row["reference_type"],
        antecedents,
        d_live(row["turn"], antecedents),
        row.get("d_stale"),
        row["pivot"],
        tuple(row.get("required_in_rewrite") or ()),
        tuple(row.get("forbidden_in_rewrite") or ()),
        aliases_from_row(row.get("aliases") or {}),
        float(row.get("weight", 1.0)),
    )


def queries(cases: Iterable[Case]) -> list[Case]:
    """The cases that ask for something an earlier turn supplies or that stand alone, by conversation and turn."""
    kept = [case for case in cases if case.reference_type in ITEM_STRATA]
    return sorted(kept, key=lambda case: (case.conversation_id, case.turn))


@dataclass(frozen=True, slots=True)
class Verdict:
    """Shares of production under one rule of scope; they sum to 1.

    Attributes:
        right: Everything needed is shown and nothing stale.
        short: Something needed is not shown; nothing stale is.
        stale: Everything needed is shown, and something stale.
        both: Something needed is not shown, yet something stale is.
    """

    right: float
    short: float
    stale: float
    both: float

    @property
    def reaches_too_little(self) -> float:
        """Share where something needed is not shown."""
        return self.short + self.both

    @property
    def shows_stale(self) -> float:
        """Share where something stale is shown."""
        return self.stale + self.both


def verdict(seen: Iterable[tuple[bool, bool, float]]) -> Verdict:
    """Shares over (reaches all that is needed, shows something stale, weight)."""
    sums: dict[tuple[bool, bool], float] = defaultdict(float)
    for reaches, stale, weight in seen:
        sums[reaches, stale] += weight
    total = sum(sums.values()) or 1.0
    shares = [
        round(sums[pair] / total, 6) for pair in ((True, False), (False, False), (True, True), (False, True))
    ]
    return Verdict(*shares)


def window_verdict(cases: Sequence[Case], length: int) -> Verdict:
    """What a window of `length` turns shows, over all cases: right exactly when the taxonomy says so."""
    return verdict(
        (case.d_live <= length, case.d_stale is not None and length >= case.d_stale, case.weight)
        for case in cases
    )


def window_table(cases: Sequence[Case]) -> list[tuple[int, Verdict]]:
    """(length, shares) for every window length that differs from the next: 0 to the farthest distance in the labels."""
    longest = max((max(case.d_live, case.d_stale or 0) for case in cases), default=0)
    return [(length, window_verdict(cases, length)) for length in range(longest + 1)]


def right_by_stratum(cases: Sequence[Case], length: int) -> dict[str, float]:
    """Share of each stratum for which a window of `length` turns is right; strata without cases are left out."""
    found = {}
    for name in ITEM_STRATA:
        inside = [case for case in cases if case.reference_type == name]
        if inside:
            right = sum(c.weight for c in inside if window_is_right(length, c.d_live, c.d_stale))
            found[name] = round(right / sum(c.weight for c in inside), 6)
    return found


def no_window(cases: Sequence[Case]) -> dict[str, float]:
    """Shares of production by why no window is right: {some, same_turn, nearer_stale}."""
    sums = dict.fromkeys(("some", "same_turn", "nearer_stale"), 0.0)
    for case in cases:
        sums[right_windows(case.d_live, case.d_stale).verdict] += case.weight
    total = sum(sums.values()) or 1.0
    return {name: round(value / total, 6) for name, value in sums.items()}


@dataclass(frozen=True, slots=True)
class Segmentation:
    """The best that cutting could do, as shares of production.

    Attributes:
        contiguous: Some stretch of turns that ends at the message is right (the scope is an interval).
        consistent: Right under the best cuts of each conversation, where a cut made for one turn binds later ones.
        at_pivots: What cuts at the labelled pivots show; None when not every follow-up is labelled.
        early_at_pivots: Share for which such a cut falls behind a turn that is still needed.
    """

    contiguous: float
    consistent: float
    at_pivots: Verdict | None
    early_at_pivots: float | None


def starting_at(case: Case, start: int) -> tuple[bool, bool, float]:
    """(reaches, shows stale, weight) of a case shown the turns from `start` on: a window of turn - start turns."""
    length = case.turn - start
    return case.d_live <= length, case.d_stale is not None and length >= case.d_stale, case.weight


def segmentation(cases: Sequence[Case], pivots: Mapping[str, Sequence[int]] | None) -> Segmentation:
    """The ceiling of segmentation.

    Args:
        cases: The cases.
        pivots: User turns that pivot, by conversation, when every follow-up is labelled.
    """
    total = sum(case.weight for case in cases) or 1.0
    by_conversation: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        by_conversation[case.conversation_id].append(case)
    best = sum(_best_cuts(sorted(group, key=lambda c: c.turn)) for group in by_conversation.values())
    contiguous = no_window(cases)["some"]
    if pivots is None:
        return Segmentation(contiguous, round(best / total, 6), None, None)
    starts = [
        max((cut for cut in pivots.get(c.conversation_id, ()) if cut <= c.turn), default=1) for c in cases
    ]
    shown = [starting_at(case, start) for case, start in zip(cases, starts, strict=True)]
    early = sum(weight for reaches, _, weight in shown if not reaches)
    return Segmentation(contiguous, round(best / total, 6), verdict(shown), round(early / total, 6))


def _best_cuts(group: Sequence[Case]) -> float:
    """Most weight that one set of cuts gets right: by dynamic programming over the start of the current segment."""
    best: dict[int, float] = {1: 0.0}
    previous = 1
    for case in group:
        # A start behind the previous case and up to this one can be opened by a fresh cut; an older one must be kept.
        highest = max(best.values())
        fresh = dict.fromkeys(range(previous + 1, case.turn + 1), highest)
        best = {**best, **fresh}
        for start in best:
            reaches, stale, weight = starting_at(case, start)
            best[start] += weight if reaches and not stale else 0.0
        previous = case.turn
    return max(best.values())


@dataclass(frozen=True, slots=True)
class Cut:
    """What cutting by cosine does at one threshold.

    Attributes:
        threshold: Least cosine that keeps a turn in its segment.
        cuts: Mean number of cuts in a conversation.
        shows: What the segments show, as shares of production.
        early: Share that a cut strands: something needed lies before the segment (shows.short + shows.both).
        early_conversations: Part of the conversations with such an item.
        cost: Share that would have been right with the last cut left out.
    """

    threshold: float
    cuts: float
    shows: Verdict
    early: float
    early_conversations: float
    cost: float


def cut_table(
    conversations: Mapping[str, Sequence[Turn]],
    cases: Sequence[Case],
    embed: Embed,
    thresholds: Sequence[float] = THRESHOLDS,
    find: FindEntities | None = None,
) -> list[Cut]:
    """What cutting by cosine with the centroid does at each threshold; the right one per product is a guess otherwise."""
    return [_cut_at(conversations, cases, embed, threshold, find) for threshold in thresholds]


def _cut_at(
    conversations: Mapping[str, Sequence[Turn]],
    cases: Sequence[Case],
    embed: Embed,
    threshold: float,
    find: FindEntities | None,
) -> Cut:
    design = make_segments("segments", embed, threshold, find)
    starts: dict[tuple[str, int], tuple[int, int]] = {}
    n_cuts = 0
    for name, turns in conversations.items():
        state, before = State(), 1
        for turn in turns:
            stepped = design.step(state, turn, SAID_NOTHING)
            if stepped.segment_start != state.segment_start:
                n_cuts, before = n_cuts + 1, state.segment_start
            starts[name, turn.number] = stepped.segment_start, before
            state = stepped
    shown = [starting_at(case, starts[case.conversation_id, case.turn][0]) for case in cases]
    uncut = [starting_at(case, starts[case.conversation_id, case.turn][1]) for case in cases]
    total = sum(case.weight for case in cases) or 1.0
    stranded = [case for case, (reaches, _, _) in zip(cases, shown, strict=True) if not reaches]
    lost = sum(
        w
        for (now, _, w), (then, stale, _) in zip(shown, uncut, strict=True)
        if not now and then and not stale
    )
    return Cut(
        threshold,
        round(n_cuts / max(1, len(conversations)), 3),
        verdict(shown),
        round(sum(case.weight for case in stranded) / total, 6),
        round(len({case.conversation_id for case in stranded}) / max(1, len(conversations)), 6),
        round(lost / total, 6),
    )
