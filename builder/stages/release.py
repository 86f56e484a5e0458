"""What a release says of its set: the card's metadata and sections, retrieval rows, the table of the mix."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from builder.core.hashing import unit
from builder.core.mix import Quotas
from builder.core.records import Item
from builder.core.rows import Row
from builder.core.settings import SetSettings
from builder.core.taxonomy import STRATA
from builder.core.versions import Diff

SPLITS = ("test", "dev")
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"))
_ANNOTATORS = {
    "human": "expert-generated",
    "llm": "machine-generated",
    "model": "machine-generated",
    "rules": "machine-generated",
}


def split_of(item: Item, dev_share: float, seed: int) -> str:
    """Test or dev: a whole conversation falls into one, by hash."""
    return "dev" if unit(seed, "split", item.conversation_id) < dev_share else "test"


def query_rows(items: Iterable[Item]) -> Iterator[Row]:
    """Queries in BEIR form: the reference rewrite, or the follow-up where none is known."""
    for item in items:
        yield {
            "_id": item.id,
            "text": item.reference_rewrite or item.follow_up,
            "metadata": {"follow_up": item.follow_up, "reference_type": item.reference_type},
        }


def qrel_rows(items: Iterable[Item]) -> Iterator[Row]:
    """Relevance judgements: every gold passage of an item, grade 1."""
    for item in items:
        for passage in item.gold:
            yield {"query-id": item.id, "corpus-id": passage, "score": 1}


def mix_rows(quotas: Quotas, items: Sequence[Item]) -> Iterator[Row]:
    """Each stratum's share in production beside its seats, items and weight in the set."""
    filled = Counter(item.reference_type for item in items)
    weights = {item.reference_type: item.weight for item in items}
    for share in quotas.mix.shares:
        name = share.reference_type
        yield {
            "reference_type": name,
            "count": float(share.count),
            "share": share.share,
            "low": share.low,
            "high": share.high,
            "seats": quotas.seats(name),
            "items": filled[name],
            "weight": weights.get(name, 0.0),
        }


def card_front(
    settings: SetSettings, items: Sequence[Item], configs: Sequence[Row], info: Sequence[Row]
) -> dict[str, Any]:
    """The card's metadata by the Hub's conventions.

    Args:
        settings: Name, title, license.
        items: The set.
        configs: {config_name, data_files, default?} of each table.
        info: `dataset_info` of each table.
    """
    languages = sorted({item.language for item in items if item.language})
    synthetic = any(item.origin == "synthetic" for item in items)
    size = next((name for most, name in _SIZES if len(items) < most), "100K<n<1M")
    tags = ["conversational-search", "query-rewriting", "query-contextualization", "evaluation"]
    return {
        "pretty_name": settings.title or settings.name,
        **({"language": languages} if languages else {}),
        **({"license": settings.license.lower()} if settings.license else {}),
        "annotations_creators": sorted({_ANNOTATORS[item.labelled_by] for item in items}),
        "source_datasets": ["original"],
        "size_categories": [size],
        "task_categories": ["text-retrieval"],
        "tags": [*tags, *(["synthetic"] if synthetic else [])],
        "configs": list(configs),
        "dataset_info": list(info),
    }


def mix_table(quotas: Quotas, items: Sequence[Item]) -> str:
    """The mix as a Markdown table: production share, items, weight, and what the seats can show."""
    drops = {quota.reference_type: quota.detectable_drop for quota in quotas.quotas}
    made = Counter(item.reference_type for item in items if item.origin == "synthetic")
    catches = {stratum.name: stratum.catches for stratum in STRATA}
    lines = [
        "| stratum | what it catches | production share | 95% interval | items | synthetic | weight | detectable drop |"
    ]
    lines.append("|---|---|---|---|---|---|---|---|")
    for row in mix_rows(quotas, items):
        name = row["reference_type"]
        drop = drops.get(name, 1.0)
        shown = f"{drop * 100:.0f} points" if drop < 1 else "-"
        lines.append(
            f"| {name} | {catches[name]} | {row['share']:.1%} | {row['low']:.1%} to {row['high']:.1%} | {row['items']} "
            f"| {made[name]} | {row['weight']:.2f} | {shown} |"
        )
    return "\n".join(lines)


def label_text(items: Sequence[Item], error: Mapping[str, Any]) -> str:
    """Who labelled the items, and what is known of their errors."""
    who = Counter(item.labelled_by for item in items)
    words = {"human": "a person", "llm": "a language model", "model": "the trained reader", "rules": "rules"}
    lines = ["Labels are from: " + ", ".join(f"{words[name]} ({n})" for name, n in sorted(who.items())) + "."]
    reviewed = sum(item.review != "none" for item in items)
    lines.append(f"{reviewed} of {len(items)} items were reviewed by a person.")
    gold = Counter(item.gold_source for item in items)
    sources = {
        "label": "a trusted label",
        "cited": "the answer's citations",
        "pooled": "pooled retrieval",
        "none": "none",
    }
    lines.append(
        "Gold passages are from: " + ", ".join(f"{sources[n]} ({k})" for n, k in sorted(gold.items())) + "."
    )
    by_stratum = error.get("by_stratum") or {}
    if by_stratum and {"model", "rules"} & set(who):
        lines += [
            "",
            "Expected error of a machine label, measured on conversations its training did not see:",
            "",
        ]
        lines += ["| stratum | share that belongs elsewhere |", "|---|---|"]
        lines += [f"| {name} | {share:.2f} |" for name, share in sorted(by_stratum.items())]
    elif {"model", "rules"} & set(who):
        lines.append("The error of the machine labels was not measured.")
    agreement = error.get("agreement") or {}
    if agreement:
        lines.append(
            "Two readers agree on " + ", ".join(f"{k} at {v}" for k, v in sorted(agreement.items())) + "."
        )
    return "\n".join(lines)


def is_comparable(diff: Diff | None) -> str:
    """What of an earlier release's scores still compares, in a sentence."""
    if diff is None:
        return "This is the first release."
    if diff.rules:
        return "Rules changed: scores do not compare with the previous release."
    return (
        f"{len(diff.bridge)} items are shared unchanged with the previous release: compare scores on those."
    )
