"""Who reads follow-ups: the shipped encoder, a model of one's own, or rules; encoder readings are kept by content."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

from builder.core.errors import unknown_name
from builder.core.hashing import digest
from builder.core.records import Catalogue, FollowUp, Reading, Transcript
from builder.core.settings import ClassifySettings
from builder.io.cache import keep, load_cache
from builder.pipeline.sources import Sources

if TYPE_CHECKING:
    from builder.model.encoder import Encoder

Reader = Callable[[Sequence[Transcript]], Sequence[tuple[Reading, ...]]]
METHODS = ("encoder", "rules")
CHUNK = 64
"""Conversations read between two writes: what a kill can cost."""


def make_reader(
    settings: ClassifySettings,
    catalogue: Catalogue,
    cache_folder: Path | None = None,
    threads: int = 1,
    progress: bool = False,
) -> Reader:
    """The reader that the settings name.

    Raises:
        BuilderError: The method is unknown, or the model folder is not whole.
    """
    if settings.method not in METHODS:
        raise unknown_name("[classify] method", "method", settings.method, METHODS)
    if settings.method == "rules":
        from builder.text.entities import EntityIndex
        from builder.text.rules import read_by_rules

        index = EntityIndex(catalogue)
        return lambda transcripts: [read_by_rules(transcript, index) for transcript in transcripts]
    return _encoder_reader(Path(settings.model) if settings.model else None, cache_folder, threads, progress)


def _encoder_reader(model: Path | None, cache_folder: Path | None, threads: int, progress: bool) -> Reader:
    def read(transcripts: Sequence[Transcript]) -> list[tuple[Reading, ...]]:
        from builder.model.encoder import read_transcripts

        encoder = _load(model)
        folder = cache_folder / encoder.digest[:16] if cache_folder else None
        kept = load_cache(folder) if folder else {}
        keys = [_key(transcript) for transcript in transcripts]
        missing = [place for place, key in enumerate(keys) if key not in kept]
        total = sum(len(transcripts[place].follow_up_turns) for place in missing)
        with tqdm(
            total=total, desc="reading follow-ups", unit="follow-up", disable=not progress or not total
        ) as bar:
            for start in range(0, len(missing), CHUNK):
                places = missing[start : start + CHUNK]
                chunk = [transcripts[place] for place in places]
                readings = read_transcripts(encoder, chunk, threads)
                bar.update(sum(map(len, readings)))
                made = {
                    keys[place]: list(map(asdict, found))
                    for place, found in zip(places, readings, strict=True)
                }
                if folder:
                    keep(folder, made)
                kept |= made
        return [tuple(map(_reading, kept[key])) for key in keys]

    return read


@cache
def _load(model: Path | None) -> "Encoder":
    from builder.model.encoder import load_encoder

    return load_encoder(model)


def trust_labels(read: Reader, labels: Mapping[tuple[str, int], object]) -> Reader:
    """`read`, spared the transcripts of which people labelled every follow-up: their labels stand anyway."""

    def read_the_rest(transcripts: Sequence[Transcript]) -> list[tuple[Reading, ...]]:
        unread = [t for t in transcripts if not all((t.id, turn) in labels for turn in _read_turns(t))]
        found = dict(zip((t.id for t in unread), read(unread), strict=True))
        return [found.get(t.id) or tuple(_blank(turn) for turn in _read_turns(t)) for t in transcripts]

    return read_the_rest


def log_catalogue(sources: Sources, transcripts: Sequence[Transcript]) -> Catalogue:
    """The operator's catalogue with the names that the log itself gives."""
    from builder.text.entities import mine_entities

    return mine_entities(transcripts, sources.catalogue, sources.passages.values())


def read_follow_ups(
    sources: Sources,
    transcripts: Sequence[Transcript],
    catalogue: Catalogue,
    labels: Mapping[tuple[str, int], Mapping[str, Any]] | None = None,
) -> list[FollowUp]:
    """Follow-ups of `transcripts` as the classifier in use reads them; labels by people stand unless others are given."""
    from builder.stages.classify import classify_follow_ups

    settings = sources.settings.classify
    reader = make_reader(settings, catalogue, sources.work / "readings", sources.workers, sources.progress)
    known = sources.labels if labels is None else labels
    return list(classify_follow_ups(transcripts, trust_labels(reader, known), catalogue, settings, known))


def _read_turns(transcript: Transcript) -> tuple[int, ...]:
    return transcript.follow_up_turns[-1:] if transcript.synthesis else transcript.follow_up_turns


def _blank(turn: int) -> Reading:
    return Reading(turn, turn, True, True, "none", False, False, (), 0.0)


def _key(transcript: Transcript) -> str:
    return digest([[turn.role, turn.content] for turn in transcript.turns])


def _reading(row: dict[str, Any]) -> Reading:
    values = dict(row)
    values["antecedent_turns"] = tuple(row["antecedent_turns"])
    values["unseen_turns"] = tuple(row["unseen_turns"])
    values["probabilities"] = tuple((name, share) for name, share in row["probabilities"])
    return Reading(**values)
