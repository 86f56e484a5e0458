"""The river: STAGES in order, each run once for what it is made from and skipped when that is done."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from builder.core.hashing import digest
from builder.core.settings import Settings
from builder.pipeline import steps
from builder.pipeline.artefacts import is_whole, load, stage_key, store
from builder.pipeline.sources import Sources

Made = Mapping[str, Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Stage:
    """One row of the river.

    Attributes:
        name: The verb.
        run: (sources, artefacts it needs) -> artefacts it makes.
        needs: Artefacts that earlier stages made.
        makes: Artefact -> its codec. Every stage may also make `<name>_dropped`.
        sections: Sections of the settings that its result depends on.
        files: Kinds of input files that its result depends on.
    """

    name: str
    run: Callable[[Sources, Mapping[str, list[Any]]], Made]
    needs: tuple[str, ...]
    makes: Mapping[str, str]
    sections: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


STAGES: tuple[Stage, ...] = (
    Stage(
        "sample",
        steps.sample,
        (),
        {
            "transcripts": "transcripts",
            "sample_dropped": "dropped",
            "sample_facts": "facts",
            "redact_facts": "facts",
        },
        ("set", "read", "sample", "redact"),
        ("transcripts", "entities", "labels"),
    ),
    Stage(
        "classify",
        steps.classify,
        ("transcripts",),
        {"follow_ups": "follow_ups", "catalogue": "entities", "classify_facts": "facts"},
        ("classify",),
        ("entities", "labels", "passages", "model"),
    ),
    Stage(
        "adjudicate",
        steps.adjudicate,
        ("transcripts", "follow_ups"),
        {"second": "follow_ups", "adjudicate_dropped": "dropped", "adjudicate_facts": "facts"},
        ("set", "adjudicate", "model", "classify"),
        ("entities", "reviews"),
    ),
    Stage(
        "measure",
        steps.measure,
        ("follow_ups", "second"),
        {"mix": "mix"},
        ("set", "measure", "classify"),
        ("model",),
    ),
    Stage(
        "stratify",
        steps.stratify,
        ("follow_ups", "second", "mix"),
        {"quotas": "quotas"},
        ("set", "stratify", "draw"),
        ("previous", "pinned"),
    ),
    Stage(
        "synthesize",
        steps.synthesize,
        ("transcripts", "catalogue", "follow_ups", "second", "quotas"),
        {
            "synthetic": "transcripts",
            "synthetic_follow_ups": "follow_ups",
            "synthesize_dropped": "dropped",
        },
        ("set", "synthesize", "draw", "classify"),
        ("passages", "model", "previous"),
    ),
    Stage(
        "draw",
        steps.draw,
        ("transcripts", "follow_ups", "second", "synthetic", "synthetic_follow_ups", "quotas"),
        {"candidates": "candidates", "draw_dropped": "dropped"},
        ("set", "draw", "adjudicate", "model", "classify"),
        ("previous",),
    ),
    Stage(
        "label",
        steps.label,
        ("transcripts", "catalogue", "synthetic", "candidates"),
        {"labelled": "items", "label_dropped": "dropped"},
        ("label",),
        ("labels", "passages"),
    ),
    Stage(
        "review",
        steps.review,
        ("labelled",),
        {"reviewed": "items", "review_dropped": "dropped"},
        ("classify",),
        ("reviews", "passages"),
    ),
    Stage(
        "validate",
        steps.validate,
        ("reviewed", "quotas"),
        {"items": "items", "validate_dropped": "dropped"},
        ("set", "draw", "release"),
        ("passages", "previous"),
    ),
)
"""Transcripts to items, in order. `release` follows: it writes files, so it stands in `builder.pipeline.build`."""


@dataclass(slots=True)
class River:
    """A run of the river: artefacts are loaded only when a stage that must run, or the release, asks for them.

    Attributes:
        sources: Settings and input files.
        work: Folder of the artefacts.
        announce: Called with the name of each stage that has to run.
    """

    sources: Sources
    work: Path
    announce: Callable[[str], None] | None = None
    _where: dict[str, tuple[str, str]] = field(default_factory=dict)
    _loaded: dict[str, list[Any]] = field(default_factory=dict)

    def run(self, last: str = STAGES[-1].name) -> str:
        """Run every stage up to `last`; returns that stage's key, which names all that its result depends on."""
        key = ""
        for stage in STAGES:
            key = self._key(stage)
            self._where |= {name: (key, kind) for name, kind in stage.makes.items()}
            if not is_whole(self.work, key, stage.makes):
                if self.announce:
                    self.announce(stage.name)
                made = stage.run(self.sources, {name: self.artefact(name) for name in stage.needs})
                store(self.work, key, {name: list(made.get(name, ())) for name in stage.makes}, stage.makes)
            if stage.name == last:
                break
        return key

    def artefact(self, name: str) -> list[Any]:
        """The records of one artefact, read once."""
        if name not in self._loaded:
            key, kind = self._where[name]
            self._loaded[name] = load(self.work, key, name, kind)
        return self._loaded[name]

    def dropped(self) -> list[Any]:
        """Every dropped record so far, in river order."""
        return [
            d for name, (_, kind) in self._where.items() if kind == "dropped" for d in self.artefact(name)
        ]

    def facts(self) -> dict[str, Any]:
        """The facts that stages noted, by stage."""
        found: dict[str, Any] = {}
        for name, (_, kind) in self._where.items():
            if kind == "facts" and self.artefact(name):
                found[name.removesuffix("_facts")] = self.artefact(name)[0]
        return found

    def _key(self, stage: Stage) -> str:
        settings = [digest_section(self.sources.settings, name) for name in stage.sections]
        files = [self.sources.digest(kind) for kind in stage.files]
        return stage_key(stage.name, [settings, files, [self._where[name][0] for name in stage.needs]])


def digest_section(settings: Settings, name: str) -> str:
    """Digest of one section of the settings."""
    return digest(repr(getattr(settings, name)))
