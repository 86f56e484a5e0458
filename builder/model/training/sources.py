"""Label files as training sources: their names, their transcripts, and which are left out together."""

from collections.abc import Sequence
from pathlib import Path

from builder.core.errors import BuilderError
from builder.core.hashing import digest_bytes
from builder.model.training.examples import Example, labelled_examples, read_rows

_FOLDS = 4


def source_name(labels: Path) -> str:
    """The source of a label file: its name without "labels", or its folder's where nothing is left."""
    name = labels.name.removesuffix(".jsonl").replace("labels", "").strip("-._")
    return name if len(name) > 2 else labels.resolve().parent.name.removesuffix("-labels")


def transcripts_beside(labels: Path) -> Path:
    """The transcripts that a label file belongs to: the same name with "transcripts" for "labels"."""
    return labels.with_name(labels.name.replace("labels", "transcripts"))


def read_sources(labels: Sequence[Path], transcripts: Sequence[Path] = ()) -> list[Example]:
    """Fully labelled examples of all label files; transcripts are found beside them where none are named.

    Raises:
        BuilderError: A file is missing, a label names an unknown conversation or turn, or there is no label at all.
    """
    from builder.core.rows import transcript_from_row

    named = [transcript_from_row(row) for file in transcripts for row in _rows(file)]
    found: list[Example] = []
    for file in labels:
        beside = named or [transcript_from_row(row) for row in _rows(transcripts_beside(file))]
        rows = _rows(file)
        known = {transcript.id: transcript.follow_up_turns for transcript in beside}
        for number, row in enumerate(rows, 1):
            if row.get("turn") not in known.get(str(row.get("conversation_id")), ()):
                raise BuilderError(
                    f"{file}:{number}",
                    f"no follow-up at turn {row.get('turn')} of conversation {row.get('conversation_id')!r}",
                    "name the transcripts that these labels belong to with --transcripts",
                )
        found += labelled_examples(source_name(file), beside, rows)
    if not found:
        raise BuilderError("train", f"{len(labels)} label files hold no label", "name files with labels")
    return found


def choose_folds(examples: Sequence[Example], shipped: Sequence[Sequence[str]]) -> tuple[frozenset[str], ...]:
    """Sources left out together.

    The shipped folds when they name every source; with four sources or more, sources in turn; with fewer,
    conversations by hash (folds without a name).
    """
    sources = sorted({example.source for example in examples})
    if set(sources) <= {name for fold in shipped for name in fold}:
        return tuple(frozenset(fold) for fold in shipped)
    if len(sources) >= _FOLDS:
        return tuple(frozenset(sources[n::_FOLDS]) for n in range(_FOLDS))
    return (frozenset[str](),) * 3


def data_digests(files: Sequence[Path]) -> dict[str, str]:
    """SHA-256 of each file, by folder and name."""
    return {f"{file.resolve().parent.name}/{file.name}": digest_bytes(file.read_bytes()) for file in files}


def _rows(file: Path) -> list[dict[str, object]]:
    if not file.is_file():
        raise BuilderError(
            str(file), "no such file", "name the labels, and their transcripts with --transcripts"
        )
    return read_rows(file)
