"""`followups passages`: the passages that an export carries itself, as a corpus whose ids are the cited ones."""

from pathlib import Path
from typing import Annotated

import typer

from builder.core.errors import INVALID_DATA, OK, BuilderError


def passages(
    transcripts: Annotated[
        list[Path], typer.Argument(metavar="TRANSCRIPTS...", help="Files, folders or globs of an export")
    ],
    out: Annotated[Path, typer.Option(help="JSONL of {id, title, text} to write")] = Path("passages.jsonl"),
) -> None:
    """Write the passages that answers of an export carry with them; a citation is then found by its id.

    Example: followups passages mtrag/conversations --out passages.jsonl
    """
    from builder.cli.inputs import passed_over
    from builder.core.located import Located
    from builder.core.settings import ReadSettings
    from builder.core.wording import counted
    from builder.formats.passages import carried_passages
    from builder.io.shards import records
    from builder.io.source import find_files, plan_shards
    from builder.io.store import refuse_overwrite, write_jsonl
    from builder.stages.read import detect_format

    settings = ReadSettings()
    found: dict[str, tuple[str, str]] = {}
    refused = 0
    files = find_files(transcripts)
    refuse_overwrite(out, files)
    plan = plan_shards(files, settings, lambda values: detect_format(values, settings))
    for path, fields in plan.unknown.items():
        passed_over(path, fields)
    for shard in plan.shards:
        for record in records(shard, settings.max_record_mb << 20):
            if not isinstance(record, Located):
                typer.echo(f"{record.id}: {record.detail}", err=True)
                refused += 1
                continue
            for passage in carried_passages(record.value):
                # One id with two texts: the longer one has what the other has, or at least more of it.
                known = found.get(passage.id, ("", ""))
                found[passage.id] = max(known, (passage.title, passage.text), key=lambda p: (len(p[1]), p))
    if not found:
        raise BuilderError(
            ", ".join(map(str, transcripts[:3])),
            "carries no passages",
            "answers need contexts with a document_id and a text; otherwise give your corpus with --passages",
            INVALID_DATA,
        )
    rows = ({"id": name, "title": title, "text": text} for name, (title, text) in sorted(found.items()))
    n = write_jsonl(out, rows)
    print(f"{counted(n, 'passage')}: {out}")
    raise typer.Exit(INVALID_DATA if refused else OK)
