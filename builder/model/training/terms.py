"""Fit the trees that choose required and forbidden terms, and measure them on sources left out.

Run again with: python -m builder.model.training.terms LABELS... --out builder/weights
"""

import argparse
import json
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builder.core.hashing import digest_bytes
from builder.core.records import Catalogue, Reading, Terms
from builder.core.rows import transcript_from_row
from builder.core.terms import has_spaceless_script, key, occurs
from builder.text.entities import EntityIndex, catalogue_from_json, mine_entities
from builder.text.place import Place, place
from builder.text.scene import lay_out
from builder.text.subjects import threads_of
from builder.text.term_features import (
    FORBIDDEN_FEATURES,
    REQUIRED_FEATURES,
    forbidden_candidates,
    forbidden_features,
    required_candidates,
    required_features,
)
from builder.text.term_labels import aliases_of, assemble_forbidden, assemble_required, required_types

SETTINGS = {
    "max_iter": 130,
    "learning_rate": 0.09,
    "max_leaf_nodes": 12,
    "min_samples_leaf": 25,
    "l2_regularization": 2.0,
}
FOLDS = 4
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Labelled:
    """A labelled follow-up: where it comes from, its row, its place in the conversation."""

    source: str
    row: Row
    spot: Place


def read_source(labels: Path) -> list[Labelled]:
    """The labelled follow-ups of a label file; its transcripts and entities.json stand beside it."""
    transcripts_file = labels.with_name(labels.name.replace("labels", "transcripts"))
    lines = transcripts_file.read_text(encoding="utf-8").splitlines()
    transcripts = {t.id: t for t in (transcript_from_row(json.loads(line)) for line in lines)}
    entities = labels.with_name("entities.json")
    listed = (
        catalogue_from_json(json.loads(entities.read_text(encoding="utf-8")))
        if entities.exists()
        else Catalogue()
    )
    index = EntityIndex(mine_entities(transcripts.values(), listed))
    rows: dict[str, list[Row]] = defaultdict(list)
    for line in labels.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        rows[row["conversation_id"]].append(row)
    source = labels.parent.name if labels.name == "labels.jsonl" else labels.name.split(".")[0]
    found = []
    for name, listed_rows in rows.items():
        scene = lay_out(transcripts[name], index)
        readings = readings_of(listed_rows)
        threads = threads_of(transcripts[name], [reading for _, reading in readings])
        found += [
            Labelled(source, row, place(scene, reading, threads))
            for row, reading in readings
            if row["required_in_rewrite"]
        ]
    return found


def readings_of(rows: Sequence[Row]) -> list[tuple[Row, Reading]]:
    """The readings that label rows of one conversation stand for; equal subjects are one thread."""
    found: list[tuple[Row, Reading]] = []
    opened: dict[str, int] = {}
    current = 1
    for row in sorted(rows, key=lambda row: int(row["turn"])):
        turn, subject = int(row["turn"]), str(row.get("subject") or "")
        antecedents = tuple(sorted(row["antecedent_turns"]))
        if subject in opened:
            current = opened[subject]
        elif row["pivot"]:
            asked = [reading.thread for _, reading in found if antecedents and reading.turn <= antecedents[0]]
            current = (asked[-1] if asked else 1) if row["returns"] else turn
        if subject:
            opened.setdefault(subject, current)
        stratum = row["reference_type"]
        reading = Reading(
            turn,
            current,
            stratum != "not_a_query",
            stratum != "unresolvable",
            row["form"],
            row["pivot"],
            row["returns"],
            antecedents,
            1.0,
            subject=subject,
        )
        found.append((row, reading))
    return found


def is_part(word: str, terms: Sequence[str]) -> bool:
    """Whether a word is a part of one of the terms."""
    for term in terms:
        if has_spaceless_script(word) or has_spaceless_script(term):
            if len(key(word)) > 1 and (key(word) in key(term) or key(term) in key(word)):
                return True
        elif set(key(word).split()) & set(key(term).split()):
            return True
    return False


def wordings(terms: Sequence[str], row: Row) -> list[str]:
    """The terms with their aliases."""
    aliases = row.get("aliases") or {}
    return [wording for term in terms for wording in (term, *aliases.get(term, ()))]


def same_thing(term: str, terms: Sequence[str], row: Row, index: EntityIndex) -> bool:
    """Whether a term and one of a row's terms name the same thing: equal, one within the other, or by an alias."""
    own = (term, *aliases_of(term, index))
    return any(key(a) == key(b) or occurs(a, b) or occurs(b, a) for a in own for b in wordings(terms, row))


def examples(found: Sequence[Labelled], kind: str) -> Iterator[tuple[list[float], bool, int]]:
    """(features, whether the word is in a labelled term, number of the follow-up) of every candidate."""
    for number, each in enumerate(found):
        spot, row = each.spot, each.row
        required = wordings(row["required_in_rewrite"], row)
        if kind == "required":
            for word in required_candidates(spot):
                yield required_features(spot, word), is_part(word, required), number
            continue
        forbidden = wordings(row["forbidden_in_rewrite"], row)
        types = required_types(spot, row["required_in_rewrite"])
        for word in forbidden_candidates(spot):
            if not is_part(word, required):
                yield forbidden_features(spot, word, types), is_part(word, forbidden), number


def fold_of(source: str, sources: Sequence[str]) -> int:
    """The fold of a source: whole sources are left out, writers of one log together."""
    names = sorted({name.rpartition("-")[0] if name.startswith("labels-") else name for name in sources})
    return names.index(source.rpartition("-")[0] if source.startswith("labels-") else source) % FOLDS


def fit(rows: Any, truth: Any) -> Any:
    """A fitted ensemble; the same for the same rows."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(random_state=13, early_stopping=False, **SETTINGS).fit(rows, truth)


def to_row(model: Any, features: Sequence[str]) -> dict[str, Any]:
    """The ensemble as plain arrays for `builder.text.boosted`."""
    trees, depth = [], 0
    for (predictor,) in model._predictors:
        nodes = predictor.nodes
        own = list(range(len(nodes)))
        leaf = nodes["is_leaf"].astype(bool)
        depth = max(depth, int(nodes["depth"].max()))
        trees.append(
            {
                "feature": [0 if leaf[n] else int(nodes["feature_idx"][n]) for n in own],
                "threshold": [0.0 if leaf[n] else round(float(nodes["num_threshold"][n]), 6) for n in own],
                "left": [n if leaf[n] else int(nodes["left"][n]) for n in own],
                "right": [n if leaf[n] else int(nodes["right"][n]) for n in own],
                "value": [round(float(nodes["value"][n]), 5) if leaf[n] else 0.0 for n in own],
            }
        )
    start = round(float(model._baseline_prediction.ravel()[0]), 6)
    return {"features": list(features), "start": start, "depth": depth, "trees": trees}


def left_out(found: Sequence[Labelled], table: Any) -> Any:
    """The probability of each candidate by a model that saw no follow-up of its source."""
    import numpy as np

    rows, truth, numbers = table
    sources = [each.source for each in found]
    folds = np.array([fold_of(sources[number], sources) for number in numbers])
    scores = np.zeros(len(truth))
    for fold in range(FOLDS):
        model = fit(rows[folds != fold], truth[folds != fold])
        scores[folds == fold] = model.predict_proba(rows[folds == fold])[:, 1]
    return scores


def judge(
    found: Sequence[Labelled], required: Any, forbidden: Any, tables: Any
) -> dict[str, dict[str, float]]:
    """Term figures per source and over all, from left-out probabilities."""
    by_number = [
        _grouped(scores, table[2]) for scores, table in ((required, tables[0]), (forbidden, tables[1]))
    ]
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for number, each in enumerate(found):
        spot, keys = each.spot, required_candidates(each.spot)
        scores = dict(zip(keys, by_number[0][number], strict=True))
        terms = assemble_required(spot, scores)
        words = wordings(each.row["required_in_rewrite"], each.row)
        others = [k for k in forbidden_candidates(spot) if not is_part(k, words)]
        weights = dict(zip(others, by_number[1].get(number, []), strict=True))
        stale = assemble_forbidden(spot, terms, weights)
        for name in (each.source, "all"):
            counts[name].update(_counts(each, terms, stale))
    return {name: _figures(counted) for name, counted in counts.items()}


def _grouped(scores: Any, numbers: Any) -> dict[int, list[float]]:
    grouped: dict[int, list[float]] = defaultdict(list)
    for score, number in zip(scores, numbers, strict=True):
        grouped[int(number)].append(float(score))
    return grouped


def _counts(each: Labelled, terms: Terms, stale: Terms) -> dict[str, int]:
    row, index = each.row, each.spot.scene.index
    rewrite, gold = row.get("reference_rewrite") or "", row["required_in_rewrite"]
    needs = row["reference_type"] in ("post_pivot_standalone", "long_range")
    wrong = [t for t in stale if occurs(t, rewrite) or same_thing(t, gold, row, index)]
    return {
        "required": len(terms),
        "right": sum(same_thing(t, gold, row, index) for t in terms),
        "in_rewrite": sum(occurs(t, rewrite, aliases_of(t, index)) for t in terms),
        "gold": len(gold),
        "found": sum(any(same_thing(t, [g], row, index) for t in terms) for g in gold),
        "forbidden": len(stale),
        "listed": sum(
            same_thing(t, row["forbidden_in_rewrite"], row, index) for t in stale if t not in wrong
        ),
        "wrong": len(wrong),
        "needing": int(needs),
        "served": int(needs and len(stale) > len(wrong)),
    }


def _figures(c: Counter[str]) -> dict[str, float]:
    share = {
        "required_precision": c["right"] / max(c["required"], 1),
        "required_recall": c["found"] / max(c["gold"], 1),
        "required_in_reference_rewrite": c["in_rewrite"] / max(c["required"], 1),
        "forbidden_also_labelled": c["listed"] / max(c["forbidden"], 1),
        "forbidden_known_wrong": c["wrong"] / max(c["forbidden"], 1),
        "post_pivot_and_long_range_with_one": c["served"] / max(c["needing"], 1),
    }
    return {name: round(value, 3) for name, value in share.items()} | {"n_forbidden": c["forbidden"]}


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit on all sources, measure on each left out, write the trees and their card."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("labels", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args(arguments)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    import numpy as np

    found = [each for labels in options.labels for each in read_source(labels)]
    tables = []
    for kind in ("required", "forbidden"):
        rows, truth, numbers = zip(*examples(found, kind), strict=True)
        tables.append((np.array(rows, np.float64), np.array(truth), np.array(numbers)))
    sys.stderr.write(f"{len(found)} follow-ups, {[len(table[1]) for table in tables]} candidates\n")
    scores = [left_out(found, table) for table in tables]
    figures = judge(found, scores[0], scores[1], tables)
    for name, values in sorted(figures.items()):
        sys.stdout.write(f"{name} {json.dumps(values)}\n")
    card: dict[str, Any] = {"settings": SETTINGS, "left_out_by_source": figures, "sources": {}, "files": {}}
    for labels in options.labels:
        card["sources"][f"{labels.parent.name}/{labels.name}"] = digest_bytes(labels.read_bytes())
    names = (("required_terms", REQUIRED_FEATURES), ("forbidden_terms", FORBIDDEN_FEATURES))
    for (name, features), table in zip(names, tables, strict=True):
        data = json.dumps(to_row(fit(table[0], table[1]), features), separators=(",", ":")).encode() + b"\n"
        (options.out / f"{name}.json").write_bytes(data)
        card["files"][f"{name}.json"] = digest_bytes(data)
    (options.out / "terms_card.json").write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
