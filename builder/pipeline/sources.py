"""What comes from outside: settings, input files, the previous release; each read when it is first asked for."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from builder.core.errors import INVALID_DATA, BuilderError
from builder.core.hashing import digest
from builder.core.mix import Mix
from builder.core.records import Catalogue, Item, Passage
from builder.core.rows import Row
from builder.core.settings import Settings
from builder.io.items import iter_items, read_labels
from builder.io.store import digest_file, read_json, read_jsonl

_VERSION = re.compile(r"v(\d+)\.(\d+)\.(\d+)")


@dataclass(frozen=True)
class Sources:
    """The inputs of one build.

    Attributes:
        settings: All settings.
        base: Folder that relative input paths start from.
        out: Folder of releases: `<out>/<name>/vX.Y.Z`.
        work: Folder of artefacts and caches.
        workers: Processes for reading, threads for the encoder.
        progress: Whether progress is shown on stderr.
        rejects: Where records that cannot be read go.
    """

    settings: Settings
    base: Path
    out: Path
    work: Path
    workers: int = 1
    progress: bool = False
    _digests: dict[str, str] = field(default_factory=dict, repr=False, compare=False)

    def path(self, name: str) -> Path:
        """`name` as a path, relative ones from the settings file's folder."""
        return self.base / name

    @cached_property
    def transcript_files(self) -> tuple[Path, ...]:
        """The files named by [input] transcripts: files, folders and globs, sorted.

        Raises:
            BuilderError: None were named, or one that was does not exist.
        """
        from builder.io.source import find_files

        if not self.settings.input.transcripts:
            fix = "give --transcripts PATH, or [input] transcripts in the settings file"
            raise BuilderError("build", "no transcripts were named", fix)
        return find_files([self.path(name) for name in self.settings.input.transcripts])

    @cached_property
    def passages(self) -> Mapping[str, Passage]:
        """The corpus by passage id; empty when none was named."""
        from builder.io.source import load_passages

        name = self.settings.input.passages
        return {passage.id: passage for passage in load_passages(self.path(name))} if name else {}

    @cached_property
    def catalogue(self) -> Catalogue:
        """The operator's entity catalogue; empty when none was named."""
        from builder.io.source import load_catalogue

        name = self.settings.input.entities
        return load_catalogue(self.path(name)) if name else Catalogue()

    @cached_property
    def labels(self) -> Mapping[tuple[str, int], Row]:
        """Labels by people, by conversation id and turn."""
        rows = [row for name in self.settings.input.labels for row in read_labels(self.path(name))]
        return {(row["conversation_id"], row["turn"]): row for row in rows}

    @cached_property
    def reviews(self) -> list[Row]:
        """Review decisions in the order they were made."""
        name = self.settings.input.reviews
        return read_jsonl(self.path(name), "decisions file") if name else []

    @cached_property
    def previous(self) -> Path | None:
        """Folder of the newest release of this set; None before the first."""
        return newest_release(self.out / self.settings.set.name)

    @cached_property
    def previous_items(self) -> tuple[Item, ...]:
        """Items of the previous release, in its order."""
        if self.previous is None:
            return ()
        return tuple(iter_items(self.previous / "items.jsonl"))

    @property
    def pinned_path(self) -> Path:
        """Where `followups quotas update` puts the quotas that builds of this set go by."""
        return self.out / self.settings.set.name / "quotas.json"

    @cached_property
    def pinned_mix(self) -> Mix | None:
        """The mix that the set goes by until it is updated; None when it follows each log."""
        from builder.pipeline.artefacts import quotas_from_row

        return (
            quotas_from_row(read_json(self.pinned_path, "quotas")).mix if self.pinned_path.is_file() else None
        )

    @cached_property
    def model_card(self) -> dict[str, Any]:
        """The card of the classifier in use; empty for rules."""
        if self.settings.classify.method != "encoder":
            return {}
        card = self._model_folder / "card.json"
        return dict(read_json(card, "model card")) if card.is_file() else {}

    @property
    def _model_folder(self) -> Path:
        from builder.io.resources import PACKAGE

        model = self.settings.classify.model
        return self.path(model) if model else PACKAGE / "weights"

    def digest(self, kind: str) -> str:
        """Digest of one kind of input: transcripts, passages, entities, labels, reviews, model, pinned or previous."""
        if kind not in self._digests:
            self._digests[kind] = digest([digest_file(path) for path in self._files(kind)])
        return self._digests[kind]

    def _files(self, kind: str) -> list[Path]:
        chosen = self.settings.input
        if kind == "transcripts":
            return list(self.transcript_files)
        if kind == "pinned":
            return [self.pinned_path] if self.pinned_path.is_file() else []
        if kind == "previous":
            return [self.previous / "items.jsonl"] if self.previous else []
        if kind == "model":
            named = self._model_folder / "manifest.json"
            return [named] if self.settings.classify.method == "encoder" and named.is_file() else []
        if kind == "labels":
            return [self._existing(name) for name in chosen.labels]
        name = getattr(chosen, kind)
        return [self._existing(name)] if name else []

    def _existing(self, name: str) -> Path:
        path = self.path(name)
        if not path.is_file():
            raise BuilderError(str(path), "no such file", "correct the path in [input]")
        return path


def newest_release(folder: Path) -> Path | None:
    """The release folder with the highest version in `folder`; None when there is none."""
    found = []
    for path in folder.glob("v*"):
        match = _VERSION.fullmatch(path.name)
        if match and (path / "manifest.json").is_file():
            found.append((tuple(map(int, match.groups())), path))
    return max(found)[1] if found else None


def find_release(path: Path) -> Path:
    """The release that `path` means: itself, or the newest below it.

    Raises:
        BuilderError: There is none.
    """
    if (path / "manifest.json").is_file():
        return path
    found = [newest for folder in (path, *sorted(path.glob("*/"))) if (newest := newest_release(folder))]
    if len(found) == 1:
        return found[0]
    if not found:
        raise _no_release(path)
    names = ", ".join(str(release) for release in found)
    raise BuilderError(str(path), f"holds {len(found)} sets ({names})", "name one of them")


def _no_release(path: Path) -> BuilderError:
    """Why there is no release at `path`: nothing like one, or one that has lost its manifest."""
    below = [folder for pattern in ("v*", "*/v*") for folder in sorted(path.glob(pattern))]
    for folder in (path, *below):
        if (folder / "items.jsonl").is_file() and not (folder / "manifest.json").is_file():
            fix = "restore it, or build the release again"
            return BuilderError(str(folder), "manifest.json is missing", fix, INVALID_DATA)
    return BuilderError(str(path), "no release here", "run `followups build`, or give a release folder")


def release_inputs(source: Path) -> list[Path]:
    """What a command reads that is given `source`: itself, and every file of the release that it means."""
    if not source.is_dir():
        return [source]
    release = find_release(source)
    return [source, release, *sorted(file for file in release.iterdir() if file.is_file())]


def find_items(path: Path) -> Path:
    """The item file that `path` means: itself, or that of the release it means."""
    return path if path.is_file() else find_release(path) / "items.jsonl"
