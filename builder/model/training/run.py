"""The whole of training: scores for every follow-up from a network that did not see it, decisions, card, weights."""

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from builder.core.hashing import digest, digest_bytes, rank
from builder.model.decide import Decisions, decide, decisions_to_json
from builder.model.encoder import FILES, MANIFEST, score
from builder.model.evidence import Scores
from builder.model.pieces import Vocabulary
from builder.model.rendering import Rendering, render
from builder.model.surface import Surface, read_surfaces
from builder.model.training.augment import augment
from builder.model.training.backbone import Base, new_reader, rounded
from builder.model.training.batches import Row, target_row
from builder.model.training.combine import Scored, calibrate, fit_decisions
from builder.model.training.examples import Example
from builder.model.training.figures import Told
from builder.model.training.fit import Recipe, fit
from builder.model.training.network import Reader

Report = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class TrainingSet:
    """What a model is trained on.

    Attributes:
        full: Fully labelled examples.
        partial: Partially labelled ones.
        folds: Sources (or, with one source, conversation groups) left out together.
    """

    full: tuple[Example, ...]
    partial: tuple[Example, ...]
    folds: tuple[frozenset[str], ...]

    def fold_of(self, example: Example) -> int:
        """The fold that leaves `example` out; sources outside every fold are split by conversation."""
        for n, sources in enumerate(self.folds):
            if example.source in sources:
                return n
        return rank(0, example.transcript.id) % max(1, len(self.folds))


def cross_score(
    data: TrainingSet,
    base: Base,
    vocabulary: Vocabulary,
    stages: Sequence[Recipe],
    work: Path,
    report: Report,
    folds: Sequence[int] | None = None,
) -> dict[str, Scores]:
    """Scores of every fully labelled example by the network trained without its fold.

    A fold that was scored before, under the same recipe and data, is read from `work` instead. `folds` limits the work
    to some, so that several processes can share it.
    """
    found: dict[str, Scores] = {}
    for n in range(len(data.folds)) if folds is None else folds:
        held = [example for example in data.full if data.fold_of(example) == n]
        key = digest([[asdict(stage) for stage in stages], n, [e.id for e in data.full], base.digest])[:12]
        file = work / f"fold-{n}-{key}.json"
        if not file.is_file() and held:
            kept = [example for example in data.full if data.fold_of(example) != n]
            partial = [example for example in data.partial if example.source not in data.folds[n]]
            reader = train_in_stages(kept, partial, base, vocabulary, stages, report)
            graph = work / f"fold-{n}-{key}.onnx"
            scores = score_with(reader, held, vocabulary, graph)
            file.write_text(json.dumps({e.id: _to_lists(s) for e, s in zip(held, scores, strict=True)}))
            report(f"fold {n + 1} of {len(data.folds)} done: {len(held)} follow-ups scored")
        if held:
            found |= {name: _from_lists(row) for name, row in json.loads(file.read_text()).items()}
    return found


def train_in_stages(
    full: Sequence[Example],
    partial: Sequence[Example],
    base: Base,
    vocabulary: Vocabulary,
    stages: Sequence[Recipe],
    report: Report,
) -> Reader:
    """A reader trained stage after stage, each going on from the 8-bit weights of the one before."""
    reader = new_reader(base, stages[0].seed)
    for n, stage in enumerate(stages):
        if n:
            reader = rounded(reader)
        kept = [example for example in full if example.source not in stage.without]
        extra = [example for example in partial if example.source not in stage.without]
        reader = train_reader(reader, kept, extra, vocabulary, stage, report)
    return reader


def train_reader(
    reader: Reader,
    full: Sequence[Example],
    partial: Sequence[Example],
    vocabulary: Vocabulary,
    recipe: Recipe,
    report: Report,
) -> Reader:
    """The reader fine-tuned on `full` and a fresh draw of `partial` each epoch."""
    renderings: dict[str, Rendering] = {}
    chances = _draw_chances(partial)

    def row(example: Example) -> Row:
        if example.id not in renderings:
            renderings[example.id] = render(example.transcript, example.turn, vocabulary)
        return target_row(example, renderings[example.id])

    def rows_of_epoch(rng: np.random.Generator) -> list[Row]:
        rows = []
        for example in full:
            if rng.random() < recipe.augmented:
                changed = augment(example, full, rng)
                rows.append(target_row(changed, render(changed.transcript, changed.turn, vocabulary)))
            else:
                rows.append(row(example))
        drawn = min(recipe.partial, len(partial))
        if drawn:
            rows += [row(partial[i]) for i in rng.choice(len(partial), drawn, replace=False, p=chances)]
        return rows

    return fit(reader, rows_of_epoch, recipe, report)


def score_with(
    reader: Reader, examples: Sequence[Example], vocabulary: Vocabulary, graph: Path
) -> list[Scores]:
    """Scores by the exported 8-bit graph: the one that ships, rounding and all."""
    from onnxruntime import InferenceSession

    from builder.model.encoder import session_options
    from builder.model.training.export import export

    export(reader, graph)
    session = InferenceSession(str(graph), session_options(), providers=["CPUExecutionProvider"])
    return [score(session, render(e.transcript, e.turn, vocabulary)) for e in examples]


def scored_examples(
    full: Sequence[Example], scores: dict[str, Scores], vocabulary: Vocabulary
) -> list[Scored]:
    """Examples with their out-of-fold scores; what has no score is left out."""
    surfaces: dict[tuple[str, str], dict[int, Surface]] = {}
    found = []
    for e in full:
        if e.id in scores:
            key = (e.source, e.transcript.id)
            if key not in surfaces:
                surfaces[key] = read_surfaces(e.transcript)
            rendering = render(e.transcript, e.turn, vocabulary)
            found.append(Scored(e, rendering, surfaces[key][e.turn], scores[e.id]))
    return found


def tell_out_of_fold(scored: Sequence[Scored]) -> list[Told]:
    """Readings whose decisions and calibration, too, saw nothing of their source.

    With a single source, nothing of their fifth of the conversations.
    """
    sources = sorted({s.example.source for s in scored})
    told: list[Told] = []
    for part in range(5) if len(sources) == 1 else range(len(sources)):
        held = [s for s in scored if _part(s, sources) == part]
        kept = [s for s in scored if _part(s, sources) != part]
        if held and kept:
            told += tell(held, calibrated_decisions(kept))
    return told


def _part(scored: Scored, sources: Sequence[str]) -> int:
    if len(sources) == 1:
        return rank(2, scored.example.transcript.id) % 5
    return sources.index(scored.example.source)


def calibrated_decisions(scored: Sequence[Scored], parts: int = 5) -> Decisions:
    """Decisions with confidence calibrated on readings of conversations that the decisions were not fitted on."""
    said: list[tuple[str, float, bool]] = []
    for part in range(parts):
        inside = [s for s in scored if rank(1, s.example.transcript.id) % parts == part]
        outside = [s for s in scored if rank(1, s.example.transcript.id) % parts != part]
        if inside and outside:
            said += [(t.stratum, t.reading.confidence, t.right) for t in tell(inside, fit_decisions(outside))]
    return replace(fit_decisions(scored), calibration=calibrate(said))


def tell(scored: Sequence[Scored], decisions: Decisions) -> list[Told]:
    """Readings of scored examples, each conversation in order, threads as the readings make them."""
    told: list[Told] = []
    threads: dict[tuple[str, str], dict[int, int]] = {}
    for s in sorted(scored, key=lambda s: (s.example.source, s.example.transcript.id, s.example.turn)):
        users = [
            t.number for t in s.example.transcript.turns if t.role == "user" and t.number < s.example.turn
        ]
        known = threads.setdefault((s.example.source, s.example.transcript.id), {users[0]: users[0]})
        for before, number in pairwise(users):
            known.setdefault(number, known[before])
        reading = decide(s.scores, s.rendering, s.surface, decisions, {n: known[n] for n in users})
        known[s.example.turn] = reading.thread
        told.append(Told(s.example, reading))
    return told


def write_model(
    folder: Path, reader: Reader, base: Base, decisions: Decisions, card: dict[str, Any], markdown: str
) -> None:
    """A model folder: graph, tokenizer, stop words, decisions, manifest with digests, card."""
    from builder.model.training.export import export

    folder.mkdir(parents=True, exist_ok=True)
    export(reader, folder / "reader.onnx")
    shutil.copyfile(base.tokenizer_file, folder / "tokenizer.json")
    shutil.copyfile(base.stop_words_file, folder / "stop_words.json")
    (folder / "decisions.json").write_text(json.dumps(decisions_to_json(decisions)) + "\n", encoding="utf-8")
    digests = {name: digest_bytes((folder / name).read_bytes()) for name in FILES}
    manifest = {"files": digests, "base": base.digest}
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    (folder / "card.json").write_text(
        json.dumps({**card, "files": digests}, indent=1) + "\n", encoding="utf-8"
    )
    (folder / "MODEL_CARD.md").write_text(markdown, encoding="utf-8")


def _draw_chances(partial: Sequence[Example]) -> np.ndarray:
    """Chance of each partial example: sources weigh by the root of their size, a pivot four times as much."""
    sizes: dict[str, int] = {}
    for example in partial:
        sizes[example.source] = sizes.get(example.source, 0) + 1
    weights = np.array([sizes[e.source] ** -0.5 * (4 if e.pivot else 1) for e in partial], float)
    return weights / weights.sum() if len(weights) else weights


def _to_lists(scores: Scores) -> list[list[float]]:
    return [scores.whole.tolist(), scores.antecedent.tolist(), scores.subject.tolist()]


def _from_lists(row: list[list[float]]) -> Scores:
    return Scores(*(np.array(values) for values in row))
