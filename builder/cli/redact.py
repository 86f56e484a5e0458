"""`followups redact TRANSCRIPTS`: the same conversations without private values, and what was found by kind."""

import sys
from pathlib import Path
from typing import Annotated

import typer


def redact(
    transcripts: Annotated[list[Path], typer.Argument(help="Chat logs: files, folders or globs")],
    out: Annotated[Path, typer.Option(help="Transcript file to write, one conversation a line")],
    config: Annotated[
        Path | None, typer.Option(help="Settings file; its [read], [redact] and seed count")
    ] = None,
    entities: Annotated[Path | None, typer.Option(help="Entity catalogue, JSON; its names are kept")] = None,
    show: Annotated[
        bool, typer.Option("--show", help="Also print the words that a person has to decide about")
    ] = False,
) -> int:
    """Replace e-mails, numbers, addresses, keys and names by pseudonyms of the same shape; the map is forgotten.

    What is found but not sure enough to be replaced is listed: put it under [redact] names or keep.
    Example: followups redact chats.jsonl --out clean.jsonl
    """
    from builder.cli.inputs import load_log
    from builder.config import load_settings
    from builder.core.records import Catalogue
    from builder.core.rows import Row, transcript_to_row
    from builder.core.wording import counted
    from builder.io.corpus import load_catalogue
    from builder.io.source import find_files
    from builder.io.store import refuse_overwrite, write_jsonl
    from builder.stages.redact import mask, redact_transcripts, tally
    from builder.text.findings import SURE, Finding

    settings = load_settings(config)
    read = (*find_files(transcripts), *(path for path in (config, entities) if path))
    refuse_overwrite(out, read)
    log = load_log(transcripts, settings.read, out.parent, mask)
    catalogue = load_catalogue(entities) if entities else Catalogue()
    keep = frozenset(name for entity in catalogue.entities for name in (entity.name, *entity.aliases))
    clean: list[Row] = []
    findings: list[Finding] = []
    redacted = redact_transcripts(log.transcripts, settings.redact, keep, settings.set.seed)
    for original, (transcript, found) in zip(log.transcripts, redacted, strict=True):
        clean.append(transcript_to_row(transcript))
        findings += found
        for finding in found:
            if finding.confidence < SURE:
                where = f"{original.id} turn {finding.turn or '-'}: {finding.kind} at {finding.start}"
                said = original.turns[finding.turn - 1].content if finding.turn else original.id
                words = f' "{said[finding.start : finding.end]}"' if show else ""
                print(f"{where}{words}; under [redact], add it to names or to keep", file=sys.stderr)
    write_jsonl(out, clean)
    counts = tally(findings)
    print(
        f"{out}: {counted(len(clean), 'conversation')}, {counted(sum(counts.replaced.values()), 'value')} replaced"
    )
    for kind, count in counts.replaced.items():
        print(f"  {kind:<8}{count}")
    print(f"  {counts.unreviewed} left for a person to decide")
    return log.code
