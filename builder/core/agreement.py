"""How far do two readers of the same follow-ups agree? Kappa per field, overlap for sets."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from builder.core.rows import Row
from builder.core.terms import key, occurs

FIELDS: dict[str, Callable[[Row], object]] = {
    "reference_type": lambda row: row.get("reference_type"),
    "form": lambda row: row.get("form"),
    "pivot": lambda row: row.get("pivot"),
    "returns": lambda row: row.get("returns"),
    "needs_history": lambda row: needs_history(row),
}
"""Fields that are compared by kappa; None where a reader gave none."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two readers agree, on the follow-ups that both labelled.

    Attributes:
        n: Follow-ups that both labelled.
        kappa: Cohen's kappa per field of `FIELDS`, as (field, kappa); fields that nobody gave are left out.
        antecedents: Share of follow-ups with the same set of antecedent turns.
        required: Mean overlap of the required terms.
        forbidden: Mean overlap of the forbidden terms.
    """

    n: int
    kappa: tuple[tuple[str, float], ...]
    antecedents: float
    required: float
    forbidden: float


def needs_history(row: Row) -> bool | None:
    """Whether a labelled follow-up needs something from history; None when the label does not say."""
    if "needs_history" in row:
        return bool(row["needs_history"])
    if row.get("antecedent_turns") is not None:
        return bool(row["antecedent_turns"])
    return None if row.get("d_live") is None else row["d_live"] > 0


def cohen_kappa(pairs: Sequence[tuple[object, object]]) -> float:
    """Agreement beyond chance: (p_o - p_e) / (1 - p_e), with p_e from each reader's own shares.

    1.0 when both gave one and the same value throughout, 0.0 when there is nothing to compare.
    Source: Cohen, A coefficient of agreement for nominal scales, 1960.
    """
    if not pairs:
        return 0.0
    n = len(pairs)
    first, second = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    observed = sum(a == b for a, b in pairs) / n
    expected = sum(count * second[value] for value, count in first.items()) / (n * n)
    return 1.0 if expected == 1 else (observed - expected) / (1 - expected)


def term_overlap(
    first: Iterable[str], second: Iterable[str], aliases: Mapping[str, Sequence[str]] | None = None
) -> float:
    """Overlap of two term lists, 0 to 1: terms that have a fellow in the other list, over all terms of both.

    (|A that match in B| + |B that match in A|) / (|A| + |B|), 1 when both are empty: Dice's coefficient, with terms
    matching when one occurs in the other or in an alias of it ("uptime" and "uptime commitment").
    """
    a, b = list(dict.fromkeys(map(str, first))), list(dict.fromkeys(map(str, second)))
    if not a and not b:
        return 1.0
    known = aliases or {}

    def fellows(term: str, other: str) -> bool:
        return (
            key(term) == key(other)
            or occurs(term, other, known.get(term, ()))
            or occurs(other, term, known.get(other, ()))
        )

    matched = sum(any(fellows(term, other) for other in b) for term in a)
    matched += sum(any(fellows(term, other) for other in a) for term in b)
    return matched / (len(a) + len(b))


def overlap_of_rows(first: Row, second: Row, field: str) -> float:
    """Overlap of one term field of two labels of the same follow-up, under the aliases of both."""
    aliases = {**(second.get("aliases") or {}), **(first.get("aliases") or {})}
    return term_overlap(first.get(field) or (), second.get(field) or (), aliases)


def measure_agreement(first: Mapping[str, Row], second: Mapping[str, Row]) -> Agreement:
    """Agreement of two readers, given as label rows by follow-up id."""
    both = [(first[name], second[name]) for name in sorted(first.keys() & second.keys())]
    kappas = []
    for field, value in FIELDS.items():
        pairs = [(value(a), value(b)) for a, b in both]
        given = [pair for pair in pairs if None not in pair]
        if given:
            kappas.append((field, round(cohen_kappa(given), 4)))
    same = [set(a.get("antecedent_turns") or ()) == set(b.get("antecedent_turns") or ()) for a, b in both]
    return Agreement(
        len(both),
        tuple(kappas),
        _mean(same),
        _mean([overlap_of_rows(a, b, "required_in_rewrite") for a, b in both]),
        _mean([overlap_of_rows(a, b, "forbidden_in_rewrite") for a, b in both]),
    )


def agreement_to_row(agreement: Agreement) -> Row:
    """An agreement as a JSON object for manifest and card."""
    return {
        "n": agreement.n,
        "kappa": dict(agreement.kappa),
        "antecedent_turns_identical": agreement.antecedents,
        "required_overlap": agreement.required,
        "forbidden_overlap": agreement.forbidden,
    }


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 4) if values else 0.0
