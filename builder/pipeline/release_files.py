"""Every file of a release as bytes: same set, same settings, same bytes."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from builder import __version__
from builder.core.hashing import digest, digest_bytes
from builder.core.mix import Quotas
from builder.core.records import Item
from builder.core.rot import passage_digest
from builder.core.rows import Row, item_to_row
from builder.core.versions import Diff, item_digest, reasons, set_digest
from builder.io.parquet import columns, table_bytes
from builder.io.resources import schemas_folder
from builder.pipeline.artefacts import mix_to_row, quotas_to_row
from builder.pipeline.snapshots import rules_in_use
from builder.pipeline.sources import Sources
from builder.stages.card import Section, body_digest, merge_cards, render_card
from builder.stages.card_sections import FIELDS, SCORING, built_text, citation_text, limits_text
from builder.stages.changelog import extend_changelog
from builder.stages.croissant import Table, describe_set
from builder.stages.release import (
    SPLITS,
    card_front,
    label_text,
    mix_rows,
    mix_table,
    qrel_rows,
    query_rows,
    split_of,
)

MAIN_CONFIG = "items"


@dataclass(frozen=True, slots=True)
class Contents:
    """What goes into a release.

    Attributes:
        items: The set, in its order.
        quotas: Its seats.
        facts: What stages noted, by stage.
        dropped: Stage -> reason -> records.
        date: ISO date of the newest message; "" when none is known.
        quarantined: Items held back because a gold passage moved or changed: (id, reason, passage).
    """

    items: tuple[Item, ...]
    quotas: Quotas
    facts: Mapping[str, Any]
    dropped: Mapping[str, Mapping[str, int]]
    date: str
    quarantined: tuple[tuple[str, str, str], ...] = ()

    @property
    def short(self) -> dict[str, int]:
        """Stratum -> seats that stayed empty."""
        filled = Counter(item.reference_type for item in self.items)
        missing = {q.reference_type: q.seats - filled[q.reference_type] for q in self.quotas.quotas}
        return {name: n for name, n in missing.items() if n > 0}


def release_files(sources: Sources, contents: Contents, version: str, diff: Diff | None) -> dict[str, bytes]:
    """Path in the release -> bytes, the manifest last since it states the digests of all others."""
    settings = sources.settings
    splits = _splits(contents.items, settings.release.dev_share, settings.set.seed)
    files, tables = _tables(sources, contents, splits)
    files |= _plain_files(sources, contents, splits)
    files["README.md"] = _card(sources, contents, tables, files).encode()
    files["CHANGELOG.md"] = extend_changelog(
        _earlier(sources, "CHANGELOG.md"), version, contents.date, diff, len(contents.items)
    ).encode()
    described = describe_set(
        settings.set.name,
        _description(sources, contents),
        settings.set.license,
        version,
        contents.date,
        tables,
    )
    files["croissant.json"] = _json(described)
    files["manifest.json"] = _json(_manifest(sources, contents, version, diff, files))
    return files


def text_digest(sources: Sources, contents: Contents) -> str:
    """Digest of what a patch version is made for: the card's generated text, its metadata, the corpus."""
    settings = sources.settings.set
    facts = [settings.title, settings.license, settings.name, _corpus_digest(sources)]
    # How many records left on the way depends on what came before, not on what the set is.
    return digest([facts, body_digest(_sections(sources, replace(contents, dropped={})))])


def _corpus_digest(sources: Sources) -> str:
    return digest(sorted([p.id, p.title, p.text] for p in sources.passages.values()))


def _splits(items: Sequence[Item], dev_share: float, seed: int) -> dict[str, list[Item]]:
    splits: dict[str, list[Item]] = {name: [] for name in SPLITS}
    for item in items:
        splits[split_of(item, dev_share, seed)].append(item)
    return {name: listed for name, listed in splits.items() if listed}


def _corpus_rows(sources: Sources) -> list[Row]:
    passages = sorted(sources.passages.values(), key=lambda passage: passage.id)
    return [{"_id": p.id, "title": p.title, "text": p.text} for p in passages]


def _tables(
    sources: Sources, contents: Contents, splits: Mapping[str, Sequence[Item]]
) -> tuple[dict[str, bytes], list[Table]]:
    """The Parquet files, and what describes them. A config without rows is left out."""
    wanted: list[tuple[str, str, list[Row]]] = [
        ("items", name, [item_to_row(item) for item in listed]) for name, listed in splits.items()
    ]
    wanted.append(("corpus", "corpus", _corpus_rows(sources)))
    wanted += [("qrels", name, list(qrel_rows(listed))) for name, listed in splits.items()]
    wanted.append(("mix", "mix", list(mix_rows(contents.quotas, contents.items))))
    files: dict[str, bytes] = {}
    tables: list[Table] = []
    for config, split, rows in wanted:
        if rows:
            path = f"data/{config}/{split}.parquet"
            files[path], n_rows, n_bytes = table_bytes(config, rows)
            tables.append(
                Table(config, split, path, digest_bytes(files[path]), columns(config), n_rows, n_bytes)
            )
    return files, tables


def _plain_files(
    sources: Sources, contents: Contents, splits: Mapping[str, Sequence[Item]]
) -> dict[str, bytes]:
    """JSONL of the items, the BEIR files, mix and quotas, and the schemas."""
    items = contents.items
    files = {
        "items.jsonl": _jsonl(map(item_to_row, items)),
        "queries.jsonl": _jsonl(query_rows(items)),
        "mix.json": _json(mix_to_row(contents.quotas.mix)),
        "quotas.json": _json(quotas_to_row(contents.quotas)),
    }
    if sources.passages:
        files["corpus.jsonl"] = _jsonl(_corpus_rows(sources))
    for name, listed in splits.items():
        rows = list(qrel_rows(listed))
        lines = [
            "query-id\tcorpus-id\tscore",
            *(f"{r['query-id']}\t{r['corpus-id']}\t{r['score']}" for r in rows),
        ]
        if rows:
            files[f"qrels/{name}.tsv"] = ("\n".join(lines) + "\n").encode()
    for path in sorted(schemas_folder().glob("*.json")):
        files[f"schemas/{path.name}"] = path.read_bytes()
    return files


def _sections(sources: Sources, contents: Contents) -> list[Section]:
    items, quotas = contents.items, contents.quotas
    settings = sources.settings.set
    return [
        Section("use", "How to score with it", SCORING),
        Section("mix", "The mix", mix_table(quotas, items)),
        Section("items", "An item", FIELDS),
        Section("built", "How it was built", built_text(settings, items, quotas, contents.dropped)),
        Section("labels", "Labels and their errors", label_text(items, _label_error(sources, contents))),
        Section("limits", "Known limits", limits_text(items, quotas, contents.short)),
        Section("citation", "Citation", citation_text(settings, len(items))),
    ]


def _card(sources: Sources, contents: Contents, tables: Sequence[Table], files: Mapping[str, bytes]) -> str:
    settings = sources.settings.set
    configs, info = [], []
    for config in dict.fromkeys(table.config for table in tables):
        own = [table for table in tables if table.config == config]
        entry: Row = {
            "config_name": config,
            "data_files": [{"split": table.split, "path": table.path} for table in own],
        }
        configs.append({**entry, **({"default": True} if config == MAIN_CONFIG else {})})
        info.append(
            {
                "config_name": config,
                "features": own[0].columns,
                "splits": [
                    {"name": table.split, "num_bytes": table.n_bytes, "num_examples": table.n_rows}
                    for table in own
                ],
                "download_size": sum(len(files[table.path]) for table in own),
                "dataset_size": sum(table.n_bytes for table in own),
            }
        )
    front = card_front(settings, contents.items, configs, info)
    card = render_card(front, settings.title or settings.name, _sections(sources, contents))
    return merge_cards(card, _earlier(sources, "README.md"))


def _description(sources: Sources, contents: Contents) -> str:
    name = sources.settings.set.title or sources.settings.set.name
    return (
        f"{name}: {len(contents.items)} follow-ups with the turns before them, stratified by how they refer back, "
        "for judging query contextualization."
    )


def _earlier(sources: Sources, name: str) -> str:
    """A file of the previous release as text; "" before the first."""
    path = sources.previous / name if sources.previous else None
    return path.read_text(encoding="utf-8") if path and path.is_file() else ""


def _label_error(sources: Sources, contents: Contents) -> dict[str, Any]:
    known = {
        "by_stratum": sources.model_card.get("label_error"),
        "agreement": (contents.facts.get("review") or {}).get("agreement"),
        "second_labels": contents.facts.get("adjudicate"),
    }
    return {name: value for name, value in known.items() if value}


def _manifest(
    sources: Sources, contents: Contents, version: str, diff: Diff | None, files: Mapping[str, bytes]
) -> Row:
    settings, items = sources.settings, contents.items
    rules = rules_in_use(settings.classify.long_range)
    gold = {name for item in items for name in item.gold}
    return {
        "name": settings.set.name,
        "version": version,
        "previous": sources.previous.name.removeprefix("v") if sources.previous else None,
        "change": {"level": diff.level if diff else "first", "reasons": reasons(diff) if diff else []},
        "builder": __version__,
        "schema_version": rules.schema,
        "taxonomy": {"digest": rules.taxonomy, "long_range": rules.long_range},
        "date": contents.date,
        "seed": settings.set.seed,
        "settings": _settings_row(sources),
        "inputs": _inputs(sources, contents),
        "counts": dict(contents.facts),
        "dropped": contents.dropped,
        "size": len(items),
        "splits": list(_splits(items, settings.release.dev_share, settings.set.seed)),
        "short": contents.short,
        "labelled_by": dict(sorted(Counter(item.labelled_by for item in items).items())),
        "label_error": _label_error(sources, contents),
        "digests": {
            "set": set_digest(items),
            "corpus": _corpus_digest(sources),
            "text": text_digest(sources, contents),
            "files": {name: digest_bytes(data) for name, data in sorted(files.items())},
        },
        "items": {item.id: item_digest(item) for item in sorted(items, key=lambda item: item.id)},
        "passages": {p.id: passage_digest(p) for name, p in sorted(sources.passages.items()) if name in gold},
        "quarantined": [{"id": n, "reason": why, "passage": p} for n, why, p in contents.quarantined],
        "bridge": list(diff.bridge) if diff else [],
    }


def _settings_row(sources: Sources) -> Row:
    """All settings, with input paths reduced to their names: where a log lies on a disk is nobody's business."""
    row: Row = asdict(sources.settings)
    for name, value in row["input"].items():
        row["input"][name] = (
            Path(value).name if isinstance(value, str) else sorted(Path(v).name for v in value)
        )
    row["model"] = {"name": row["model"]["name"]}
    return row


def _inputs(sources: Sources, contents: Contents) -> dict[str, str]:
    """A digest of each input that neither the order of files nor that of lines changes."""
    labels = sorted(digest(row) for row in sources.labels.values())
    found = {
        "transcripts": (contents.facts.get("sample") or {}).get("digest", ""),
        "passages": _corpus_digest(sources) if sources.passages else "",
        "entities": sources.digest("entities") if sources.settings.input.entities else "",
        "labels": digest(labels) if labels else "",
        "reviews": digest(sources.reviews) if sources.reviews else "",
        "model": sources.digest("model") if sources.settings.classify.method == "encoder" else "",
    }
    return {name: value for name, value in found.items() if value}


def _json(value: Any) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _jsonl(rows: Iterable[Row]) -> bytes:
    return b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows)
