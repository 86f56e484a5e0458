"""`followups evaluate GOLD PREDICTED`: how good a classifier is, against known labels."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from builder.core.errors import INVALID_DATA, BuilderError, Problem

if TYPE_CHECKING:
    from builder.scoring.labels import LabelScores


def evaluate(
    gold: Annotated[
        Path, typer.Argument(help="Known labels: JSONL, one follow-up a line, or a folder of such files")
    ],
    predicted: Annotated[
        Path, typer.Argument(help="The classifier's labels: JSONL from `followups classify`")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object")] = False,
    html: Annotated[
        Path | None, typer.Option(help="Also write a page with the confusion heat map here")
    ] = None,
) -> None:
    """Score a classifier's labels against known ones.

    Example: followups evaluate data/halyard/labels-a.jsonl labels.jsonl
    """
    from builder.io.store import refuse_overwrite, to_json, write_text
    from builder.scoring.labels import evaluate_labels, scores_to_row

    if html:
        refuse_overwrite(html, (gold, predicted))
    known, said = read_labels(gold), read_labels(predicted, need=("reference_type",))
    if not known.keys() & said.keys():
        raise BuilderError(
            str(predicted),
            f"none of its labels ({len(said)}) is for one of the follow-ups ({len(known)}) in {gold}",
            "check that both speak of the same conversations",
            INVALID_DATA,
        )
    scores = evaluate_labels(known, said)
    parts = _by_file(gold, said)
    if html:
        write_text(html, _page(scores, str(gold), str(predicted)))
    if as_json:
        by_file = {"files": {name: scores_to_row(part) for name, part in parts.items()}} if parts else {}
        print(to_json({**scores_to_row(scores), **by_file}).decode())
    else:
        print("\n".join([*_lines(scores), *(("", _comparison(parts)) if parts else ())]))


def _by_file(gold: Path, said: dict[str, dict[str, Any]]) -> dict[str, "LabelScores"]:
    """Scores for each label file of a folder; empty for a single file."""
    from builder.scoring.labels import evaluate_labels

    parts = {}
    for file in sorted(gold.glob("*labels*.jsonl")) if gold.is_dir() else ():
        known = read_labels(file)
        parts[file.stem] = evaluate_labels(known, {name: row for name, row in said.items() if name in known})
    return parts if len(parts) > 1 else {}


COMPARED = ("macro_f1", "needs_history_accuracy", "pivot_f1", "d_live_exact", "kappa", "mix_error")
"""Figures that are put side by side for the files of a folder."""


def _comparison(parts: dict[str, "LabelScores"]) -> str:
    from builder.core.tables import render_table

    rows = [
        (
            name,
            str(part.n),
            *("-" if (v := part.figure(figure)) is None else f"{v:.3f}" for figure in COMPARED),
        )
        for name, part in parts.items()
    ]
    return render_table(("file", "n", *COMPARED), rows)


def read_labels(path: Path, need: tuple[str, ...] = ()) -> dict[str, dict[str, Any]]:
    """Label rows by follow-up id (`conversation_id#turn`), from one file or all label files of a folder.

    Raises:
        BuilderError: A file cannot be read, or a line is no label or names a follow-up twice; all are listed.
    """
    from builder.io.store import iter_jsonl

    files = sorted(path.glob("*labels*.jsonl")) if path.is_dir() else [path]
    if not files:
        raise BuilderError(str(path), "no *labels*.jsonl in this folder", "give the path of a label file")
    rows: dict[str, dict[str, Any]] = {}
    problems = []
    for file in files:
        for number, row in iter_jsonl(file, "label file"):
            if isinstance(row, Problem):
                problems.append(row)
            elif fault := _fault(f"{file}:{number}", row, rows, need):
                problems.append(fault)
            else:
                rows[f"{row['conversation_id']}#{row['turn']}"] = row
    if problems:
        first = problems[0]
        raise BuilderError(first.where, first.what, first.fix, INVALID_DATA, problems)
    if not rows:
        raise BuilderError(
            str(path), "no labels (0 lines)", "give a file with one label a line", INVALID_DATA
        )
    return rows


def _fault(where: str, row: Any, seen: dict[str, dict[str, Any]], need: tuple[str, ...]) -> Problem | None:
    from builder.core.taxonomy import STRATUM_NAMES

    if not isinstance(row, dict):
        return Problem(where, f"a label is an object, not {row!r:.40}", "write one JSON object a line")
    for name in ("conversation_id", "turn", *need):
        if row.get(name) is None:
            return Problem(where, f"no {name}", "give every label its conversation_id, turn and labels")
    stratum = row.get("reference_type")
    if stratum is not None and stratum not in STRATUM_NAMES:
        return Problem(where, f'unknown reference_type "{stratum}"', f"one of {', '.join(STRATUM_NAMES)}")
    name = f"{row['conversation_id']}#{row['turn']}"
    return Problem(where, f"{name} is labelled twice", "keep one of the lines") if name in seen else None


def _lines(scores: "LabelScores") -> list[str]:
    from builder.core.tables import render_table

    def cell(value: float | None) -> str:
        return "-" if value is None else f"{value:.3f}"

    head = ("stratum", "gold", "predicted", "precision", "recall", "F1", "surest third")
    rows = [
        (
            s.reference_type,
            str(s.n_gold),
            str(s.n_predicted),
            cell(s.precision),
            cell(s.recall),
            cell(s.f1),
            cell(s.confident_precision),
        )
        for s in scores.strata
    ]
    counted = f"{scores.n} follow-ups, {scores.n_missing} without a predicted label"
    extra = (
        f"; {scores.n_extra} predicted labels have no known one and are left out" if scores.n_extra else ""
    )
    figures = [(name, cell(value)) for name, value in scores.figures]
    return [
        counted + extra,
        *(("", render_table(head, rows)) if rows else ()),
        "",
        render_table(("figure", "value"), figures),
        *(("", "confusion (rows true, columns predicted)", _confusion(scores)) if rows else ()),
    ]


def _confusion(scores: "LabelScores") -> str:
    from builder.core.tables import render_table
    from builder.scoring.labels import confusion_table

    table = confusion_table(scores)
    head = ("", *(name[:9] for name in table["labels"]))
    counts = [[str(count or ".") for count in row] for row in table["matrix"]]
    return render_table(head, [(name, *row) for name, row in zip(table["labels"], counts, strict=True)])


def _page(scores: "LabelScores", gold: str, predicted: str) -> str:
    from html import escape

    from builder.scoring.heat_map import heat_map
    from builder.scoring.labels import confusion_table

    table = confusion_table(scores)
    title = f"{escape(predicted)} against {escape(gold)}"
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>'
        "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem}"
        "pre{overflow-x:auto}div{overflow-x:auto}</style></head><body>"
        f"<h1>Labels: {title}</h1><h2>Confusion</h2><p>Rows are true strata, columns predicted ones.</p>"
        f"<div>{heat_map(table['labels'], table['matrix'])}</div><h2>Figures</h2>"
        f"<pre>{escape(chr(10).join(_lines(scores)))}</pre></body></html>\n"
    )
