"""review: items and decisions of people in, items out; a decision that breaks an item's rules is refused."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from builder.core.decisions import LABELS, Standing, settle, standing_decisions
from builder.core.errors import INVALID_DATA, BuilderError, Problem
from builder.core.item_rules import counted, item_problems
from builder.core.records import Dropped, Item, Turn
from builder.core.rows import Row, aliases_from_row, aliases_to_row
from builder.core.taxonomy import LONG_RANGE, Facts, d_introduced, d_live, d_stale, reference_type
from builder.core.wording import by_number

STAGE = "review"


def apply_decisions(
    items: Iterable[Item], decisions: Iterable[Row], long_range: int = LONG_RANGE
) -> Iterator[Item | Dropped]:
    """Each item as it was decided: accepted, edited with what follows from its labels derived anew, or dropped.

    An adjudication outweighs the two passes. Where they disagree on more than terms and there is none, the item is
    dropped: an item with a wrong label is worse than none. Items nobody decided pass unchanged.

    Raises:
        BuilderError: A decision is malformed, or its labels break a rule of items; all such are named.
    """
    standing = standing_decisions(decisions)
    problems: list[Problem] = []
    for item in items:
        final = settle(standing.get(item.id, {}))
        if final is None:
            yield item
        elif isinstance(final, str):
            yield Dropped(item.id, STAGE, final, "followups review --adjudicate settles it")
        elif final.decision == "reject":
            yield Dropped(item.id, STAGE, f"rejected: {final.reason}", final.note)
        else:
            decided, found = decide(item, final.labels, final.decision, long_range)
            problems += found
            yield decided
    if problems:
        first = problems[0]
        raise BuilderError(
            first.where,
            first.what,
            first.fix,
            INVALID_DATA,
            sorted(problems, key=lambda p: by_number(p.where)),
        )


def decide(
    item: Item, labels: Row, decision: str, long_range: int = LONG_RANGE
) -> tuple[Item, list[Problem]]:
    """`item` with `labels` in place of its own, and the rules that it then breaks."""
    decided = relabel(item, labels, long_range)
    if decision == "edit":
        decided = replace(decided, labelled_by="human", confidence=1.0, review="edited")
    else:
        decided = replace(decided, review="accepted")
    return decided, item_problems(decided, where="review", long_range=long_range)


def relabel(item: Item, labels: Row, long_range: int = LONG_RANGE) -> Item:
    """`item` with `labels`, and with everything that follows from them derived anew.

    `intervening_turns` follows from the subjects of the prefix, which an item does not hold: it is kept, within the
    new distance.
    """
    given = {**labels_of(item), **{name: labels[name] for name in LABELS if name in labels}}
    required, forbidden = tuple(given["required_in_rewrite"]), tuple(given["forbidden_in_rewrite"])
    antecedents = tuple(sorted({int(turn) for turn in given["antecedent_turns"]}))
    terms = {*required, *forbidden}
    aliases = {term: given["aliases"][term] for term in given["aliases"] if term in terms}
    live = d_live(item.turn, antecedents)
    rewrite = given["reference_rewrite"] or None
    inside = tuple(turn for turn in antecedents if 0 < turn < item.turn)
    texts = (*counted(item), Turn(item.turn, "user", item.follow_up))
    return replace(
        item,
        form=given["form"],
        pivot=bool(given["pivot"]),
        returns=bool(given["returns"]),
        antecedent_turns=antecedents,
        required_in_rewrite=required,
        forbidden_in_rewrite=forbidden,
        aliases=aliases_from_row(aliases),
        reference_rewrite=rewrite,
        rewrite_note="" if rewrite else item.rewrite_note or "left empty in review",
        gold=tuple(given["gold"]),
        gold_source=item.gold_source if tuple(given["gold"]) == item.gold else "human",
        reference_type=_stratum(
            Facts(given["form"], bool(given["pivot"]), live, long_range=long_range), item.reference_type
        ),
        d_live=live,
        d_stale=d_stale(item.turn, forbidden, counted(item), aliases),
        d_introduced=d_introduced(item.turn, required, inside, texts, aliases) if inside else 0,
        intervening_turns=min(item.intervening_turns, max(0, live - 1)),
    )


def _stratum(facts: Facts, before: str) -> str:
    """The stratum that the labels give; the old one while they contradict each other, which the rules then report."""
    try:
        return reference_type(facts)
    except ValueError:
        return before


def labels_of(item: Item) -> Row:
    """The labels that a reader decides, as plain values."""
    row: Row = {name: getattr(item, name) for name in LABELS}
    for name in ("antecedent_turns", "required_in_rewrite", "forbidden_in_rewrite", "gold"):
        row[name] = list(row[name])
    row["aliases"] = aliases_to_row(item.aliases)
    return row


def pass_labels(standing: Standing, items: Mapping[str, Item], reading: int) -> dict[str, Row]:
    """Label rows of one pass by item id, for measuring agreement; a rejected item has its reason as its stratum."""
    rows: dict[str, Row] = {}
    for name, passes in standing.items():
        if reading not in passes or name not in items:
            continue
        decision = passes[reading]
        if decision.decision == "reject":
            rows[name] = {"reference_type": decision.reason}
        else:
            rows[name] = {
                **decision.labels,
                "reference_type": relabel(items[name], decision.labels).reference_type,
            }
    return rows
