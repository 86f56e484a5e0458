"""Long-range transcripts made of real turns: a real antecedent, unrelated real exchanges, the real follow-up."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from builder.core.hashing import rank
from builder.core.records import Dropped, FollowUp, Transcript, Turn
from builder.core.settings import SynthesizeSettings
from builder.text.donors import Donor, Phrases
from builder.text.evidence import Evidence
from builder.text.obligations import Base, holds, prove, unfit_as_base
from builder.text.splice import Plan, distance_after, prove_order, splice

MAX_TRIES = 600
"""Donors looked at for one base before it is given up."""
ENOUGH = 24
"""Donors that meet every obligation, from which the plan is chosen."""


@dataclass(slots=True)
class Uses:
    """How often each choice was made: the next choice is the rarest so far, so that the set spreads."""

    donors: Counter[str] = field(default_factory=Counter)
    distances: Counter[int] = field(default_factory=Counter)
    variants: Counter[str] = field(default_factory=Counter)

    def give_back(self, transcript: Transcript) -> None:
        """Take back what a transcript that is not kept has used."""
        if transcript.synthesis:
            self.donors.subtract(transcript.synthesis.donors)
            self.distances[transcript.synthesis.planned_distance] -= 1
            self.variants[transcript.synthesis.variant] -= 1


def synthesize_long_range(
    bases: Iterable[Base],
    donors: Sequence[Donor],
    settings: SynthesizeSettings,
    evidence: Evidence,
    phrases: Mapping[str, Phrases],
    seed: int,
    preferred: frozenset[str] = frozenset(),
    uses: Uses | None = None,
) -> Iterator[Transcript | Dropped]:
    """Synthetic transcripts, one for each base that allows it; no donor is used more than `max_donor_uses` times.

    Bases are taken by confidence (in tenths), then those whose follow-up is in `preferred`, then by rank; donors in an
    order of their own for each base, distances and variants by turns. A base for which no donor meets every obligation is
    dropped with the reason that came up most. Lazy: what is not asked for costs nothing, and what the caller gives
    back to `uses` (a transcript that was not confirmed) can be used again.
    """
    uses = uses or Uses()
    queue = sorted(bases, key=lambda b: (b.follow_up.id not in preferred, rank(seed, "base", b.follow_up.id)))
    for base in queue:
        reason = unfit_as_base(base, phrases.get(base.transcript.language, {}))
        if reason:
            yield Dropped(base.follow_up.id, "synthesize", reason)
            continue
        yield _insert(base, donors, settings, evidence, phrases, seed, uses)


def _insert(
    base: Base,
    donors: Sequence[Donor],
    settings: SynthesizeSettings,
    evidence: Evidence,
    phrases: Mapping[str, Phrases],
    seed: int,
    uses: Uses,
) -> Transcript | Dropped:
    own = phrases.get(base.transcript.language, {})
    failures: Counter[str] = Counter()
    queue = sorted(
        (donor for donor in donors if uses.donors[donor.conversation_id] < settings.max_donor_uses),
        key=lambda donor: rank(seed, base.follow_up.id, donor.id),
    )
    proven: list[tuple[Donor, tuple[tuple[str, str], ...]]] = []
    for donor in queue[:MAX_TRIES]:
        proof = prove(base, [donor], evidence, own)
        if holds(proof):
            proven.append((donor, proof))
        else:
            failures[proof[-1][0]] += 1
        if len(proven) == ENOUGH:
            break
    plans = sorted(
        _plans(base, [donor for donor, _ in proven], settings, own),
        key=lambda plan: (
            uses.variants[plan.variant],
            uses.distances[plan.distance],
            rank(seed, base.follow_up.id, plan.variant, plan.distance, *plan.donors),
        ),
    )
    if not plans:
        reason = failures.most_common(1)[0][0] if failures else "no donor"
        return Dropped(base.follow_up.id, "synthesize", f"no donor fits: {reason}")
    plan = plans[0]
    uses.variants[plan.variant] += 1
    uses.distances[plan.distance] += 1
    uses.donors.update(plan.donors)
    made = splice(base, plan, proven[0][1])
    order = prove_order(made)
    if made.synthesis is None or not holds(order):
        return Dropped(
            base.follow_up.id,
            "synthesize",
            "does not read as a log",
            "; ".join(f"{n}: {f}" for n, f in order),
        )
    return replace(made, synthesis=replace(made.synthesis, proof=(*made.synthesis.proof, *order)))


def _plans(
    base: Base, donors: Sequence[Donor], settings: SynthesizeSettings, phrases: Phrases
) -> Iterator[Plan]:
    """Every way to reach one of the distances with these donors; at most one per variant, distance and donor."""
    can_interleave = _can_interleave(base)
    for i, donor in enumerate(donors):
        exchanges = len(donor.turns)
        plain = distance_after(base, 0, exchanges)
        if plain in settings.distances:
            if "plain" in settings.variants:
                yield Plan("plain", plain, (), donor.turns, (donor.conversation_id,), donor.terms)
            if "marker" in settings.variants and phrases.get("markers"):
                marked = _marked(donor.turns, phrases["markers"], donor.id)
                yield Plan("marker", plain, (), marked, (donor.conversation_id,), donor.terms)
        split = distance_after(base, 2, exchanges - 2)
        if (
            "interleaved" in settings.variants
            and can_interleave
            and donor.splits
            and exchanges > 2
            and split in settings.distances
        ):
            yield Plan(
                "interleaved", split, donor.turns[:2], donor.turns[2:], (donor.conversation_id,), donor.terms
            )
        if "two_donors" in settings.variants:
            yield from _two_donors(base, donor, donors[i + 1 : i + 40], settings)


def _two_donors(
    base: Base, first: Donor, others: Sequence[Donor], settings: SynthesizeSettings
) -> Iterator[Plan]:
    for second in others:
        distance = distance_after(base, 0, len(first.turns) + len(second.turns))
        apart = first.conversation_id != second.conversation_id and not first.names & second.names
        if apart and distance in settings.distances:
            conversations = (first.conversation_id, second.conversation_id)
            yield Plan(
                "two_donors",
                distance,
                (),
                (*first.turns, *second.turns),
                conversations,
                (*second.terms, *first.terms),
            )
            return


def _can_interleave(base: Base) -> bool:
    """Whether a donor may stand before the base's last exchange: something precedes it, and it stands alone."""
    return base.follow_up.turn >= 5 and base.last_stands_alone


def _marked(turns: tuple[Turn, ...], markers: Sequence[str], donor_id: str) -> tuple[Turn, ...]:
    """`turns` with a topic marker before the first user turn's own words."""
    marker = markers[rank(0, donor_id) % len(markers)]
    space = "" if marker.endswith(("：", "、")) else " "
    return (replace(turns[0], content=f"{marker}{space}{turns[0].content}"), *turns[1:])


def confirm_distance(transcript: Transcript, follow_up: FollowUp) -> Dropped | None:
    """Why a synthetic transcript did not survive its reading; None when it did.

    `follow_up` is what the classifier says of it without knowing how it was made.
    """
    synthesis = transcript.synthesis
    if synthesis is None:
        return None
    if set(follow_up.antecedent_turns) & set(synthesis.inserted):
        return Dropped(transcript.id, "synthesize", "the classifier finds an antecedent in the donor")
    if follow_up.d_live != synthesis.planned_distance:
        detail = f"planned {synthesis.planned_distance}, found {follow_up.d_live}"
        return Dropped(transcript.id, "synthesize", "the distance did not survive", detail)
    return None
