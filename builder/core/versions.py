"""What changed between two releases, and which version follows from it: never typed, always computed."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields

from builder.core.hashing import digest
from builder.core.records import Item
from builder.core.rows import item_to_row
from builder.core.taxonomy import FORMS, STRATA

FIRST = (1, 0, 0)
LABEL_RULES = 1
"""Raised when the matcher or a label rule changes what a published item means."""
LABEL_FIELDS = (
    "gold",
    "reference_type",
    "form",
    "pivot",
    "returns",
    "antecedent_turns",
    "required_in_rewrite",
    "forbidden_in_rewrite",
    "aliases",
    "d_live",
    "d_stale",
    "d_introduced",
    "prefix",
    "follow_up",
)
"""Fields whose change makes another question or another right answer."""
CHANCE_FIELDS = ("weight", "inclusion_probability", "pair")
"""Fields that depend on the rest of the set; they are no part of an item's content."""

Version = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Rules:
    """What scores depend on besides the items.

    Attributes:
        schema: Digest of the item schema.
        taxonomy: Digest of strata and forms.
        long_range: Distance from which a reference is long-range.
    """

    schema: str
    taxonomy: str
    long_range: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One release as far as its version depends on it.

    Attributes:
        version: Its version.
        items: Its items, in order.
        rules: Its rules.
        text: Digest of card, corpus and other files that no score's questions depend on.
    """

    version: Version
    items: tuple[Item, ...]
    rules: Rules
    text: str = ""


@dataclass(frozen=True, slots=True)
class Relabelled:
    """An item in both releases whose labels differ.

    Attributes:
        id: The item.
        fields: Names of the label fields that differ, with the value before and after.
    """

    id: str
    fields: tuple[tuple[str, object, object], ...]


@dataclass(frozen=True, slots=True)
class Diff:
    """What changed from one release to another.

    Attributes:
        added: Ids that are new, in the order of the newer release.
        retired: Ids that are gone, in the order of the older one.
        relabelled: Items with other labels.
        reworded: Ids of items whose text apart from labels changed (reference rewrite, subject, confidence).
        bridge: Ids of items with the same labels in both: scores on them compare.
        reweighted: Stratum -> (weight before, weight after), where it changed.
        rules: Names of the rules that changed.
        text: Whether the card or another file changed.
        strata: Stratum -> (items before, items after), where it changed.
    """

    added: tuple[str, ...]
    retired: tuple[str, ...]
    relabelled: tuple[Relabelled, ...]
    reworded: tuple[str, ...]
    bridge: tuple[str, ...]
    reweighted: tuple[tuple[str, float, float], ...]
    rules: tuple[str, ...]
    text: bool
    strata: tuple[tuple[str, int, int], ...]

    @property
    def level(self) -> str:
        """major, minor, patch, or "" when nothing changed."""
        if self.rules:
            return "major"
        if self.added or self.retired or self.relabelled or self.reweighted:
            return "minor"
        return "patch" if self.reworded or self.text else ""


def taxonomy_digest() -> str:
    """Digest of strata, forms and the version of the label rules: another one means another exam."""
    strata = [[s.name, s.condition, s.has_items] for s in STRATA]
    return digest([LABEL_RULES, strata, [[form.name, form.definition] for form in FORMS]])


def item_digest(item: Item) -> str:
    """SHA-256 of an item's content; weight and chance belong to the set, not to the item."""
    row = item_to_row(item)
    return digest({name: value for name, value in row.items() if name not in CHANCE_FIELDS})


def set_digest(items: Iterable[Item]) -> str:
    """SHA-256 over every item with its weight, whatever their order."""
    return digest([item_to_row(item) for item in sorted(items, key=lambda item: item.id)])


def compare(old: Snapshot, new: Snapshot) -> Diff:
    """What changed from `old` to `new`."""
    before, after = {i.id: i for i in old.items}, {i.id: i for i in new.items}
    relabelled, reworded, bridge = [], [], []
    for item in new.items:
        earlier = before.get(item.id)
        if earlier is None:
            continue
        changed = _label_changes(earlier, item)
        if changed:
            relabelled.append(Relabelled(item.id, changed))
            continue
        bridge.append(item.id)
        if item_digest(earlier) != item_digest(item):
            reworded.append(item.id)
    return Diff(
        added=tuple(item.id for item in new.items if item.id not in before),
        retired=tuple(item.id for item in old.items if item.id not in after),
        relabelled=tuple(relabelled),
        reworded=tuple(reworded),
        bridge=tuple(bridge),
        reweighted=_reweighted(old.items, new.items),
        rules=tuple(
            f.name for f in fields(Rules) if getattr(old.rules, f.name) != getattr(new.rules, f.name)
        ),
        text=old.text != new.text,
        strata=_strata(old.items, new.items),
    )


def _label_changes(old: Item, new: Item) -> tuple[tuple[str, object, object], ...]:
    before, after = item_to_row(old), item_to_row(new)
    return tuple((name, before[name], after[name]) for name in LABEL_FIELDS if before[name] != after[name])


def _reweighted(old: Sequence[Item], new: Sequence[Item]) -> tuple[tuple[str, float, float], ...]:
    before = {item.reference_type: item.weight for item in old}
    after = {item.reference_type: item.weight for item in new}
    both = sorted(before.keys() & after.keys())
    return tuple((name, before[name], after[name]) for name in both if before[name] != after[name])


def _strata(old: Sequence[Item], new: Sequence[Item]) -> tuple[tuple[str, int, int], ...]:
    names = sorted({item.reference_type for item in (*old, *new)})
    counted = [(n, _count(old, n), _count(new, n)) for n in names]
    return tuple(row for row in counted if row[1] != row[2])


def _count(items: Sequence[Item], stratum: str) -> int:
    return sum(item.reference_type == stratum for item in items)


def next_version(version: Version, level: str) -> Version:
    """The version after `version` for a change of this level.

    Major: taxonomy, schema or label rules changed, so scores do not compare. Minor: items were added, retired,
    relabelled or weighed anew. Patch: text or card. Source: Semantic Versioning 2.0.0.
    """
    major, minor, patch = version
    steps = {"major": (major + 1, 0, 0), "minor": (major, minor + 1, 0), "patch": (major, minor, patch + 1)}
    return steps.get(level, version)


def parse_version(text: str) -> Version | None:
    """`v1.2.3` or `1.2.3` as numbers; None when it is no version."""
    parts = text.removeprefix("v").split(".")
    if len(parts) != 3 or not all(part.isdecimal() for part in parts):
        return None
    return int(parts[0]), int(parts[1]), int(parts[2])


def write_version(version: Version) -> str:
    """`1.2.3`."""
    return ".".join(map(str, version))


def reasons(diff: Diff) -> list[str]:
    """Why the version changes, in words, the weightiest first."""
    said = [f"{name} changed" for name in diff.rules]
    for ids, verb in ((diff.added, "added"), (diff.retired, "retired"), (diff.relabelled, "relabelled")):
        if ids:
            said.append(f"{len(ids)} items {verb}" if len(ids) > 1 else f"1 item {verb}")
    if diff.reweighted:
        said.append(f"weights of {len(diff.reweighted)} strata changed")
    if diff.reworded:
        said.append(f"text of {len(diff.reworded)} items changed")
    if diff.text:
        said.append("card or other files changed")
    return said


def diff_to_row(diff: Diff) -> Mapping[str, object]:
    """A diff as a JSON object."""
    return {
        "level": diff.level or "none",
        "reasons": reasons(diff),
        "added": list(diff.added),
        "retired": list(diff.retired),
        "relabelled": [
            {"id": r.id, "fields": {name: {"before": a, "after": b} for name, a, b in r.fields}}
            for r in diff.relabelled
        ],
        "reworded": list(diff.reworded),
        "bridge": list(diff.bridge),
        "strata": {name: {"before": a, "after": b} for name, a, b in diff.strata},
        "weights": {name: {"before": a, "after": b} for name, a, b in diff.reweighted},
        "comparable": "bridge" if diff.rules == () and diff.level else "all" if not diff.level else "nothing",
    }
