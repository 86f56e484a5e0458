"""One run of `followups train`: what it reads, in what order, and what it writes."""

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from builder.core.hashing import digest
from builder.model.encoder import SHIPPED
from builder.model.pieces import load_vocabulary
from builder.model.training.backbone import MINILM, Base, find_base
from builder.model.training.card import make_card, to_markdown
from builder.model.training.fit import Recipe
from builder.model.training.partial import read_public
from builder.model.training.run import (
    Report,
    TrainingSet,
    calibrated_decisions,
    cross_score,
    scored_examples,
    tell_out_of_fold,
    train_in_stages,
    write_model,
)
from builder.model.training.sources import choose_folds, data_digests, read_sources, transcripts_beside

RECIPE = SHIPPED / "recipe.json"


@dataclass(frozen=True, slots=True)
class Plan:
    """What `followups train` was asked for; see its options."""

    labels: tuple[Path, ...]
    transcripts: tuple[Path, ...]
    out: Path
    base: Path | None
    public: Path | None
    epochs: int | None
    seed: int | None
    work: Path | None


def train_model(plan: Plan, report: Report) -> dict[str, Any]:
    """Train, write the model folder, and return its card.

    Raises:
        BuilderError: Labels, transcripts or base are missing or do not fit.
    """
    shipped = json.loads(RECIPE.read_text(encoding="utf-8"))
    base = find_base(plan.base)
    stages = _stages(shipped["stages"], plan, base)
    full = read_sources(plan.labels, plan.transcripts)
    partial = read_public(plan.public) if plan.public else []
    data = TrainingSet(tuple(full), tuple(partial), choose_folds(full, shipped["folds"]))
    vocabulary = load_vocabulary(base.tokenizer_file, base.stop_words_file)
    work = plan.work or plan.out / "work"
    work.mkdir(parents=True, exist_ok=True)
    scores = cross_score(data, base, vocabulary, stages, work, report)
    scored = scored_examples(data.full, scores, vocabulary)
    told = tell_out_of_fold(scored)
    reader = train_in_stages(data.full, data.partial, base, vocabulary, stages, report)
    files = [*plan.labels, *(plan.transcripts or map(transcripts_beside, plan.labels))]
    card = make_card(
        told,
        stages=[asdict(stage) for stage in stages],
        folds=[sorted(fold) for fold in data.folds],
        data={**data_digests(files), "partial": digest([e.id for e in partial])},
        base=base.digest,
    )
    write_model(plan.out, reader, base, calibrated_decisions(scored), card, to_markdown(card))
    return card


def _stages(shipped: list[dict[str, Any]], plan: Plan, base: Base) -> list[Recipe]:
    """The shipped stages; from a model that was trained before, the last one alone, with a third of the rate."""
    stages = [Recipe(**{**row, "without": tuple(row.get("without", ()))}) for row in shipped]
    if base.digest != MINILM:
        stages = [replace(stages[-1], rate=stages[-1].rate / 3)]
    if plan.epochs is not None:
        stages = [replace(stage, epochs=plan.epochs) for stage in stages]
    if plan.seed is not None:
        stages = [replace(stage, seed=plan.seed + n) for n, stage in enumerate(stages)]
    return stages
