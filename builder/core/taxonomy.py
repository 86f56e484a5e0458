"""Forms, strata, distances and right windows: the law that every label follows."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from builder.core.records import Reading, Turn
from builder.core.terms import occurs

LONG_RANGE = 4
"""Distance from which a reference is long-range, in turns; a setting ([classify] long_range)."""


@dataclass(frozen=True, slots=True)
class Form:
    """How a message points back."""

    name: str
    definition: str


FORMS: tuple[Form, ...] = (
    Form("ordinal", "selects from a list by position or count: first, last, the other one, both"),
    Form("pronoun", "uses a pronoun, demonstrative or locative: it, they, that, those, there, its"),
    Form("ellipsis", "leaves out a subject, object or predicate that history supplies"),
    Form("definite", "names the thing by a description, or by a bare part of its name"),
    Form("carryover", "reads as complete, but a constraint given earlier still changes the right answer"),
    Form("none", "needs nothing from history"),
)
FORM_NAMES: tuple[str, ...] = tuple(form.name for form in FORMS)


@dataclass(frozen=True, slots=True)
class Facts:
    """What the choice of a stratum depends on."""

    form: str
    pivot: bool
    d_live: int
    is_query: bool = True
    resolvable: bool = True
    long_range: int = LONG_RANGE


@dataclass(frozen=True, slots=True)
class Stratum:
    """One row of the partition: a follow-up belongs to the first row that holds.

    Attributes:
        name: The `reference_type`.
        holds: The row's condition.
        condition: The same in words.
        catches: The failure that items of this stratum expose.
        has_items: False for strata that are counted in the mix but never become items.
    """

    name: str
    holds: Callable[[Facts], bool]
    condition: str
    catches: str
    has_items: bool = True


STRATA: tuple[Stratum, ...] = (
    Stratum(
        "not_a_query",
        lambda f: not f.is_query,
        "nothing to retrieve: thanks, greeting, acknowledgement, abuse, instructions on style",
        "counted in the mix, never an item",
        has_items=False,
    ),
    Stratum(
        "unresolvable",
        lambda f: not f.resolvable,
        "needs something that no earlier turn supplies: the right answer is to ask back",
        "counted in the mix, never an item",
        has_items=False,
    ),
    Stratum(
        "post_pivot_standalone",
        lambda f: f.pivot and f.d_live == 0,
        "pivot and d_live = 0",
        "contamination: history must be left alone",
    ),
    Stratum("long_range", lambda f: f.d_live >= f.long_range, "d_live >= 4", "a history cut too short"),
    Stratum("ordinal", lambda f: f.form == "ordinal", "form is ordinal", "losing the list"),
    Stratum("pronoun", lambda f: f.form == "pronoun", "form is pronoun", "wrong or missing antecedent"),
    Stratum("ellipsis", lambda f: f.form == "ellipsis", "form is ellipsis", "wrong or missing predicate"),
    Stratum("definite", lambda f: f.form == "definite", "form is definite", "the wrong one of several"),
    Stratum(
        "constraint_carryover", lambda f: f.form == "carryover", "form is carryover", "a dropped qualifier"
    ),
    Stratum("standalone", lambda f: f.d_live == 0, "d_live = 0 and no pivot", "needless rewriting"),
)
STRATUM_NAMES: tuple[str, ...] = tuple(stratum.name for stratum in STRATA)
ITEM_STRATA: tuple[str, ...] = tuple(stratum.name for stratum in STRATA if stratum.has_items)


def reference_type(facts: Facts) -> str:
    """The stratum of a follow-up: the first row of `STRATA` that holds.

    Raises:
        ValueError: The facts contradict each other (it needs history, yet its form is none).
    """
    for stratum in STRATA:
        if stratum.holds(facts):
            return stratum.name
    raise ValueError(f"no stratum for form {facts.form!r} with d_live {facts.d_live}")


def stratum_of(reading: Reading, long_range: int = LONG_RANGE) -> str:
    """The stratum that a reading implies."""
    facts = Facts(
        reading.form,
        reading.pivot,
        d_live(reading.turn, reading.antecedent_turns),
        reading.is_query,
        reading.resolvable,
        long_range,
    )
    return reference_type(facts)


def d_live(turn: int, antecedent_turns: Iterable[int]) -> int:
    """Distance of the farthest antecedent turn from the follow-up at `turn`; 0 when it needs nothing."""
    return max((turn - antecedent for antecedent in antecedent_turns), default=0)


def mentions(
    terms: Iterable[str], turns: Iterable[Turn], aliases: Mapping[str, Sequence[str]]
) -> tuple[int, ...]:
    """Numbers of the turns whose text has one of `terms` or an alias of it, ascending."""
    listed = tuple(terms)
    return tuple(
        turn.number
        for turn in turns
        if any(occurs(term, turn.content, aliases.get(term, ())) for term in listed)
    )


def d_stale(
    turn: int, forbidden: Iterable[str], prefix: Sequence[Turn], aliases: Mapping[str, Sequence[str]]
) -> int | None:
    """Distance of the nearest prefix turn that mentions a forbidden term; None when there is none."""
    found = mentions(forbidden, prefix, aliases)
    return turn - found[-1] if found else None


def d_introduced(
    turn: int,
    required: Iterable[str],
    antecedent_turns: Sequence[int],
    turns: Sequence[Turn],
    aliases: Mapping[str, Sequence[str]],
) -> int:
    """Distance of the first turn that named the antecedent; 0 when the follow-up needs nothing.

    The antecedent is named by the required terms that an antecedent turn supplies and the follow-up lacks. Answers
    repeat names, so this is often far where `d_live` is 1. `turns` holds the prefix and the follow-up.
    """
    if not antecedent_turns:
        return 0
    follow_up = turns[turn - 1].content
    sources = [turns[number - 1].content for number in antecedent_turns]
    supplied = [
        term
        for term in required
        if not occurs(term, follow_up, aliases.get(term, ()))
        and any(occurs(term, text, aliases.get(term, ())) for text in sources)
    ]
    found = mentions(supplied, turns[: turn - 1], aliases)
    return turn - found[0] if found else d_live(turn, antecedent_turns)


def intervening_turns(
    turn: int, antecedent_turns: Sequence[int], subjects: Mapping[int, str], subject: str
) -> int:
    """Turns between the farthest antecedent turn and the follow-up whose subject differs from the follow-up's.

    `subjects` maps user turns to subjects; an assistant turn has the subject of the user turn it answers.
    """
    if not antecedent_turns:
        return 0
    count = 0
    for number in range(min(antecedent_turns) + 1, turn):
        asked = max((n for n in subjects if n <= number), default=None)
        count += asked is not None and subjects[asked] != subject
    return count


@dataclass(frozen=True, slots=True)
class Windows:
    """The window lengths that are right for one follow-up: `low <= w <= high`, no upper bound when high is None.

    Attributes:
        low: Shortest right window.
        high: Longest right window; None for no bound. When it is below `low`, no window is right.
        verdict: some, same_turn (the stale term sits in the antecedent's own turn) or nearer_stale.
    """

    low: int
    high: int | None
    verdict: str


def right_windows(d_live: int, d_stale: int | None) -> Windows:
    """The windows w with d_live <= w < d_stale, and why there are none when there are none."""
    if d_stale is None:
        return Windows(d_live, None, "some")
    verdict = "some" if d_live < d_stale else "same_turn" if d_live == d_stale else "nearer_stale"
    return Windows(d_live, d_stale - 1, verdict)


def window_is_right(w: int, d_live: int, d_stale: int | None) -> bool:
    """Whether a window of `w` turns reaches everything needed and shows nothing stale."""
    return d_live <= w and (d_stale is None or w < d_stale)
