"""The model card: what it was trained on, how good it is on sources it did not see, what it is not for."""

from collections.abc import Mapping, Sequence
from typing import Any

from builder.model.training.figures import Told, by_source, confusion, figures, reliability

REAL = ("mtrag",)
"""Sources of real conversations; all others were authored."""

USE = (
    "Reads each follow-up of a support or search conversation with its history and gives the taxonomy's labels: to"
    " measure the mix of reference patterns and to draw candidates for a set. English first; German, Spanish, French,"
    " Portuguese, Chinese and Japanese with less certainty."
)
LIMITS = (
    "Not for judging a single conversation or a person: a label can be wrong, its confidence says how often.",
    "Not for items without a check: the mix must be corrected with the confusion matrix or with second labels.",
    "`unresolvable` is rare in the data and is mostly missed.",
    "Long histories are shortened; turns that found no room are recorded with each reading.",
    "A pivot is decided by the harm test, on which careful readers agree at kappa 0.85 only.",
)


def make_card(
    told: Sequence[Told],
    stages: Sequence[Mapping[str, Any]],
    folds: Sequence[Sequence[str]],
    data: Mapping[str, str],
    base: str,
) -> dict[str, Any]:
    """The card's figures: every reading comes from a network and decisions that did not see the reading's fold."""
    real = [t for t in told if t.example.source in REAL]
    authored = [t for t in told if t.example.source not in REAL]
    groups = {
        "all authored": sorted({t.example.source for t in authored}),
        "all English authored": sorted(
            {t.example.source for t in authored if "multilingual" not in t.example.source}
        ),
        "all other languages": sorted(
            {t.example.source for t in authored if "multilingual" in t.example.source}
        ),
        "all real": sorted({t.example.source for t in real}),
    }
    return {
        "use": USE,
        "limits": list(LIMITS),
        "n_follow_ups": len(told),
        "stages": [dict(stage) for stage in stages],
        "folds": [list(fold) for fold in folds],
        "data": dict(data),
        "base": base,
        "figures": {**by_source(told, groups), "all": figures(told)},
        "confusion": {
            "pooled": confusion(told),
            **({"authored": confusion(authored)} if authored else {}),
            **({"real": confusion(real)} if real else {}),
        },
        "calibration": reliability(told),
        "label_error": _label_error(told),
    }


def to_markdown(card: Mapping[str, Any]) -> str:
    """The card for people."""
    lines = [
        "# Model card: the offline reader",
        "",
        card["use"],
        "",
        "## Figures, each on sources left out",
        "",
    ]
    lines += [
        "| source | follow-ups | needs-history | macro-F1 | kappa | pivot P / R / F1 (always) | returns P / R "
        "| d_live exact | long-range P / R | calibration error |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    lines += [_row(name, row) for name, row in card["figures"].items()]
    lines += [
        "",
        "## Strata, all sources",
        "",
        "| stratum | precision | recall | F1 | n | expected label error |",
    ]
    lines.append("|---|---|---|---|---|---|")
    for name, row in card["figures"]["all"]["per_stratum"].items():
        error = card["label_error"].get(name)
        lines.append(
            f"| {name} | {row['precision']:.2f} | {row['recall']:.2f} | {row['f1']:.2f} | {row['n']} | "
            f"{'' if error is None else f'{error:.2f}'} |"
        )
    lines += ["", *_confusion(card["confusion"]["pooled"]), "", *_calibration(card["calibration"])]
    lines += ["", "## Limits", "", *(f"- {limit}" for limit in card["limits"])]
    for name, row in card.get("left_out_public", {}).items():
        lines.append(f"- {name}: " + ", ".join(f"{key} {value}" for key, value in row.items()))
    lines += [f"- {note}" for note in card.get("notes", ())]
    if card.get("tried"):
        lines += ["", "## Tried", "", *(f"- {line}" for line in card["tried"])]
    lines += ["", "## Making", "", f"Base: SHA-256 {card['base']}.", ""]
    for number, stage in enumerate(card["stages"], 1):
        lines.append(f"{number}. " + ", ".join(f"{name} {value}" for name, value in stage.items() if value))
    folds = "; ".join(", ".join(fold) or "conversations by hash" for fold in card["folds"])
    lines += ["", f"Folds: {folds}.", ""]
    return "\n".join(lines)


def _label_error(told: Sequence[Told]) -> dict[str, float]:
    """Per predicted stratum, the share of its follow-ups that belong elsewhere."""
    said: dict[str, list[bool]] = {}
    for t in told:
        said.setdefault(t.stratum, []).append(t.right)
    return {name: round(1 - sum(right) / len(right), 3) for name, right in sorted(said.items())}


def _row(name: str, row: Mapping[str, Any]) -> str:
    pivot, returns = row["pivot"], row["returns"]
    far = row["per_stratum"].get("long_range", {"precision": 0.0, "recall": 0.0})
    return (
        f"| {name} | {row['n_follow_ups']} | {row['needs_history_accuracy']:.3f} | {row['macro_f1']:.3f} "
        f"| {row['kappa']:.3f} | {pivot['precision']:.2f} / {pivot['recall']:.2f} / {pivot['f1']:.3f} "
        f"({row['pivot_f1_always_shift']:.2f}) | {returns['precision']:.2f} / {returns['recall']:.2f} "
        f"| {row['d_live_exact_on_dependent']:.3f} | {far['precision']:.2f} / {far['recall']:.2f} "
        f"| {row['calibration_error']:.3f} |"
    )


def _confusion(matrix: Mapping[str, Any]) -> list[str]:
    labels = matrix["labels"]
    lines = ["## Confusion, counts", "", "| true, predicted | " + " | ".join(labels) + " |"]
    lines.append("|---" * (len(labels) + 1) + "|")
    for name, counts in zip(labels, matrix["matrix"], strict=True):
        lines.append(f"| {name} | " + " | ".join(map(str, counts)) + " |")
    return lines


def _calibration(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = ["## Calibration", "", "| confidence from | follow-ups | mean confidence | share right | |"]
    lines.append("|---|---|---|---|---|")
    for row in rows:
        bar = "█" * round(20 * row["right"])
        lines.append(
            f"| {row['from']:.1f} | {row['n']} | {row['confidence']:.2f} | {row['right']:.2f} | {bar} |"
        )
    return lines
