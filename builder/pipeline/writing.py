"""The release folder: what the river made, with a manifest of how."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from builder.core.hashing import digest
from builder.core.mix import Quotas
from builder.core.records import Dropped, Item
from builder.core.rows import item_to_row
from builder.io.store import write_json, write_jsonl
from builder.pipeline.artefacts import mix_to_row, quotas_to_row
from builder.pipeline.sources import Sources


def write_release(
    sources: Sources,
    items: Sequence[Item],
    quotas: Quotas,
    facts: Mapping[str, Any],
    dropped: Sequence[Dropped],
) -> tuple[Path, str]:
    folder = sources.out / sources.settings.set.name / "v1.0.0"
    rows = [item_to_row(item) for item in items]
    write_jsonl(folder / "items.jsonl", rows)
    write_jsonl(
        folder / "corpus.jsonl",
        [
            {"_id": p.id, "title": p.title, "text": p.text}
            for p in sorted(sources.passages.values(), key=lambda p: p.id)
        ],
    )
    write_json(folder / "mix.json", mix_to_row(quotas.mix))
    write_json(folder / "quotas.json", quotas_to_row(quotas))
    write_json(
        folder / "manifest.json",
        {
            "set": digest(rows),
            "facts": dict(facts),
            "dropped": dict(Counter(f"{d.stage}: {d.reason}" for d in dropped)),
        },
    )
    return folder, f"{folder}: {len(items)} items"
