"""What must hold inside one item, whoever made it: the taxonomy's rules, each violation a Problem with its remedy."""

from collections.abc import Collection, Iterator, Sequence

from builder.core.errors import Problem
from builder.core.records import Item, Turn
from builder.core.taxonomy import FORM_NAMES, Facts, d_introduced, d_live, d_stale, reference_type
from builder.core.terms import key, occurs

NEEDS_FORBIDDEN = ("post_pivot_standalone", "long_range")
"""Strata whose items must name at least one forbidden term: without it they cannot show contamination."""


def item_problems(
    item: Item, passages: Collection[str] | None = None, where: str = "", long_range: int = 4
) -> list[Problem]:
    """Every rule that `item` breaks, in the order of its fields.

    Args:
        item: The item.
        passages: Ids of the corpus; None when there is none to check the gold against.
        where: Its place for the messages; the item's id when empty.
        long_range: Distance from which a reference is long-range.
    """
    place = f"{where}: {item.id}" if where else item.id
    rules = (
        _prefix(item),
        _labels(item, long_range),
        _origin(item),
        _distances(item),
        _required(item),
        _forbidden(item),
        _listed(item),
        _rewrite(item),
        _gold(item, passages),
    )
    return [Problem(f"{place}: {field}", what, fix) for rule in rules for field, what, fix in rule]


Found = Iterator[tuple[str, str, str]]


def _prefix(item: Item) -> Found:
    numbers = [turn.number for turn in item.prefix if turn.number]
    if numbers != list(range(1, item.turn)):
        yield (
            "prefix",
            f"counted turns are {numbers[:3]}..., the follow-up is turn {item.turn}",
            "number user and assistant turns from 1 up to the turn before the follow-up",
        )
    if not any(turn.role == "user" for turn in item.prefix):
        yield "prefix", "has no user turn", "an item needs an earlier user turn; drop it"
    if not item.follow_up.strip():
        yield "follow_up", "is empty", "give the follow-up's text"


def _labels(item: Item, long_range: int) -> Found:
    if item.form not in FORM_NAMES:
        yield "form", f'unknown form "{item.form}"', f"one of {', '.join(FORM_NAMES)}"
        return
    if (item.form == "none") != (not item.antecedent_turns):
        yield (
            "form",
            f"is {item.form} with antecedent turns {list(item.antecedent_turns)}",
            "form none and no antecedent go together; correct one of them",
        )
        return
    if item.returns and not item.pivot:
        yield "returns", "is true without a pivot", "only a pivot returns; correct one of them"
    facts = Facts(item.form, item.pivot, d_live(item.turn, item.antecedent_turns), long_range=long_range)
    derived = reference_type(facts)
    if item.reference_type != derived:
        yield (
            "reference_type",
            f"is {item.reference_type}, the other labels give {derived}",
            "correct the label that is wrong; the stratum is derived",
        )


def _origin(item: Item) -> Found:
    made = item.origin == "synthetic"
    if made != (item.synthesis is not None):
        have = "no synthesis" if made else "a synthesis"
        yield (
            "origin",
            f"is {item.origin} with {have}",
            "a synthetic item, and only such a one, says how it was made",
        )


def _distances(item: Item) -> Found:
    for number in item.antecedent_turns:
        if not 0 < number < item.turn:
            yield "antecedent_turns", f"turn {number} is not before turn {item.turn}", "name an earlier turn"
            return
    live = d_live(item.turn, item.antecedent_turns)
    if item.d_live != live:
        yield "d_live", f"is {item.d_live}, the antecedent turns give {live}", f"set it to {live}"
    stale = d_stale(item.turn, item.forbidden_in_rewrite, counted(item), dict(item.aliases))
    if item.d_stale != stale:
        yield "d_stale", f"is {item.d_stale}, the forbidden terms give {stale}", f"set it to {stale}"
    turns = (*counted(item), Turn(item.turn, "user", item.follow_up))
    if len(turns) == item.turn:
        introduced = d_introduced(
            item.turn, item.required_in_rewrite, item.antecedent_turns, turns, dict(item.aliases)
        )
        if item.d_introduced != introduced:
            yield (
                "d_introduced",
                f"is {item.d_introduced}, the required terms give {introduced}",
                f"set it to {introduced}",
            )
    most = max(live - 1, 0)
    if not 0 <= item.intervening_turns <= most:
        yield (
            "intervening_turns",
            f"is {item.intervening_turns}, {most} turns stand between antecedent and follow-up",
            "count those of them whose subject differs",
        )


def _required(item: Item) -> Found:
    aliases = dict(item.aliases)
    if not item.required_in_rewrite:
        yield "required_in_rewrite", "is empty", "name at least one term that every correct query contains"
    turns = {turn.number: turn for turn in item.prefix}
    sources = [item.follow_up, *(turns[n].content for n in item.antecedent_turns if n in turns)]
    for term in item.required_in_rewrite:
        if not any(occurs(term, text, aliases.get(term, ())) for text in sources):
            yield (
                "required_in_rewrite",
                f'term "{term}" is in neither the follow-up nor an antecedent turn',
                "drop the term, or add the turn that supplies it",
            )


def _forbidden(item: Item) -> Found:
    aliases = dict(item.aliases)
    texts = [turn.content for turn in counted(item)]
    needed = {
        key(wording): term for term in item.required_in_rewrite for wording in (term, *aliases.get(term, ()))
    }
    for term in item.forbidden_in_rewrite:
        wordings = aliases.get(term, ())
        if not any(occurs(term, text, wordings) for text in texts):
            yield "forbidden_in_rewrite", f'term "{term}" is nowhere in the prefix', "drop the term"
        if occurs(term, item.follow_up, wordings):
            yield (
                "forbidden_in_rewrite",
                f'term "{term}" occurs in the follow-up itself',
                "drop the term or relabel the subject",
            )
        clash = next((needed[key(w)] for w in (term, *wordings) if key(w) in needed), None)
        if clash or any(occurs(term, need, wordings) for need in item.required_in_rewrite):
            yield (
                "forbidden_in_rewrite",
                f'term "{term}" fires on a required term',
                "forbid the rival by its distinguishing word only",
            )
    if not item.forbidden_in_rewrite and item.reference_type in NEEDS_FORBIDDEN:
        yield (
            "forbidden_in_rewrite",
            f"is empty on a {item.reference_type} item",
            "name an entity of the subject that was left",
        )


def _listed(item: Item) -> Found:
    for field in ("required_in_rewrite", "forbidden_in_rewrite"):
        first: dict[str, str] = {}
        for term in getattr(item, field):
            if key(term) in first:
                yield field, f'term "{term}" repeats "{first[key(term)]}"', "list each term once"
            first.setdefault(key(term), term)
    terms = {*item.required_in_rewrite, *item.forbidden_in_rewrite}
    for term, _ in item.aliases:
        if term not in terms:
            fix = "name the term they belong to as it is listed"
            yield "aliases", f'"{term}" is neither required nor forbidden', fix


def _rewrite(item: Item) -> Found:
    if item.reference_rewrite is None:
        if not item.rewrite_note:
            yield "reference_rewrite", "is null without a reason", "say why in rewrite_note"
        return
    aliases = dict(item.aliases)
    for term in item.required_in_rewrite:
        if not occurs(term, item.reference_rewrite, aliases.get(term, ())):
            yield (
                "reference_rewrite",
                f'lacks the required term "{term}"',
                "add it, or set the rewrite to null",
            )
    for term in item.forbidden_in_rewrite:
        if occurs(term, item.reference_rewrite, aliases.get(term, ())):
            yield (
                "reference_rewrite",
                f'has the forbidden term "{term}"',
                "take it out, or set the rewrite to null",
            )


def _gold(item: Item, passages: Collection[str] | None) -> Found:
    if item.gold and item.gold_source == "none":
        yield "gold_source", f"is none with {len(item.gold)} gold passages", "say where they come from"
    if passages is None:
        return
    for passage in item.gold:
        if passage not in passages:
            yield "gold", f'passage "{passage}" is not in the corpus', "correct the id, or add the passage"


def counted(item: Item) -> Sequence[Turn]:
    """The prefix without system and tool messages."""
    return tuple(turn for turn in item.prefix if turn.number)
