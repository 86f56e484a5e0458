"""A small set out of the Halyard labels, and releases of it, without running the river."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from builder.config import load_settings
from builder.core.intervals import wilson
from builder.core.item_rules import item_problems
from builder.core.mix import Mix, Quota, Quotas, Share, set_weights
from builder.core.near_duplicates import near_duplicates
from builder.core.records import Item
from builder.core.taxonomy import ITEM_STRATA, STRATUM_NAMES
from builder.evaluate.inputs import items_from_labels, read_transcripts
from builder.pipeline.sources import Sources
from builder.pipeline.writing import write_release

FACTS = {"redact": {"enabled": True, "found": {}, "unreviewed": 0}}
PER_STRATUM = 3
SETTINGS = """
[set]
name = "small"
title = "Small set"
license = "Apache-2.0"
source_statement = "Support chats of a fictional data platform, written for this project."
[input]
passages = "{halyard}/docs.jsonl"
[stratify]
size = 24
floor = 1
"""


def halyard_items(root: Path, month: str = "a") -> list[Item]:
    """Valid items of one month's labels, in the order of the labels."""
    halyard = root / "data" / "halyard"
    rows = [json.loads(line) for line in (halyard / f"labels-{month}.jsonl").read_text().splitlines()]
    items = items_from_labels(rows, read_transcripts([halyard / f"transcripts-{month}.jsonl"]))
    items = [replace(item, gold_source="label") for item in items if not item_problems(item)]
    near = {item.id for item, _ in near_duplicates(items, 0.85)}
    return [item for item in items if item.id not in near]


def pick(items: Sequence[Item], n: int = PER_STRATUM, skip: int = 0) -> list[Item]:
    """`n` items of each stratum after `skip`, at most three of a conversation, weighed."""
    taken: Counter[str] = Counter()
    chosen: list[Item] = []
    for name in ITEM_STRATA:
        found: list[Item] = []
        for item in items:
            if item.reference_type == name and taken[item.conversation_id] < 3 and len(found) < n + skip:
                taken[item.conversation_id] += 1
                found.append(item)
        chosen += found[skip:]
    return weighed(chosen)


def quotas_of(items: Sequence[Item]) -> Quotas:
    """Quotas that these items fill exactly, with the log's mix taken to be equal shares."""
    filled = Counter(item.reference_type for item in items)
    n = 80
    shares = tuple(
        Share(name, 10, 0.125, *wilson(10, n)) if name in ITEM_STRATA else Share(name, 0, 0.0, *wilson(0, n))
        for name in STRATUM_NAMES
    )
    listed = tuple(Quota(name, filled[name], 10, 0, 0.125, 1.0, 1.0) for name in ITEM_STRATA)
    return Quotas(len(items), listed, Mix(shares, n, 20, "labels"))


def weighed(items: Sequence[Item]) -> list[Item]:
    """The items with the weights that the quotas give them."""
    weights = set_weights(quotas_of(items), Counter(item.reference_type for item in items))
    return [replace(item, weight=weights[item.reference_type]) for item in items]


def sources_in(folder: Path, root: Path, change: Callable[[str], str] = str) -> Sources:
    """Sources whose output folder is `folder`."""
    path = folder / "dataset.toml"
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(change(SETTINGS.format(halyard=(root / "data" / "halyard").as_posix())))
    return Sources(load_settings(path), folder, folder / "dist", folder / "work")


def release(
    folder: Path, root: Path, items: Sequence[Item], change: Callable[[str], str] = str
) -> tuple[Path, str]:
    """Write a release of `items` into `folder`/dist."""
    return write_release(sources_in(folder, root, change), items, quotas_of(items), FACTS, [])
