"""A judgement as files for machines: JSON, Markdown for the summary of a build, JUnit XML."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from builder.core.rows import Row
from builder.core.tables import fixed
from builder.scoring.decompose import Decomposition, SetDecomposition, round_to_sum
from builder.scoring.gate import LIMITS, PASS, Verdict, passes
from builder.scoring.judgement import Judged, Judgement, commonest_contaminants, count_quadrants
from builder.scoring.metrics import METRICS
from builder.scoring.outcomes import Outcome
from builder.scoring.tables import (
    change_table,
    decomposition_table,
    gate_sentence,
    label_of,
    left_out_lines,
    movement_sentence,
    note_on_strata,
    rule_text,
    strata_table,
    verdict_table,
)


def judgement_to_row(judgement: Judgement) -> Row:
    """The judgement as one JSON object; contributions are decimals that add up to the change."""
    baseline = judgement.baseline
    return {
        "set": judgement.set_name,
        **_judged_to_row(judgement.judged),
        "baseline": _judged_to_row(baseline) if baseline else None,
        "changes": [_slots(c) for c in judgement.comparison.changes] if judgement.comparison else [],
        "no_evidence": [list(pair) for pair in judgement.comparison.no_evidence]
        if judgement.comparison
        else [],
        "decompositions": [_decomposition_to_row(d) for d in judgement.decompositions],
        "set_decompositions": [_split_to_row(split) for split in judgement.set_decompositions],
        "gate": {
            "passed": passes(judgement.verdicts),
            "verdicts": [{**_slots(v), "rule": _slots(v.rule)} for v in judgement.verdicts],
        }
        if judgement.verdicts
        else None,
        "items": [_outcome_to_row(outcome) for outcome in judgement.judged.outcomes],
    }


def _judged_to_row(judged: Judged) -> Row:
    table = judged.table
    return {
        "run": judged.run.name,
        "k": judged.k,
        "n": len(judged.outcomes),
        "seats": dict(table.seats),
        "share": {group: round(share, 6) for group, share in table.share},
        "cells": [_slots(cell) for cell in table.cells],
        "quadrants": count_quadrants(judged.outcomes),
        "contaminants": [{"term": term, "items": n} for term, n in commonest_contaminants(judged.outcomes)],
        "costs": _slots(judged.costs),
    }


def _slots(record: Any) -> Row:
    values = {name: getattr(record, name) for name in record.__slots__}
    return {name: round(value, 6) if isinstance(value, float) else value for name, value in values.items()}


def _decomposition_to_row(decomposition: Decomposition) -> Row:
    shown = round_to_sum({p.stratum: p.contribution for p in decomposition.parts}, decomposition.change, 6)
    return {
        "metric": decomposition.metric,
        "before": round(float(decomposition.before), 6),
        "after": round(float(decomposition.after), 6),
        "change": float(sum(shown.values(), Fraction(0))),
        "movement": round(float(decomposition.movement), 6),
        "parts": [
            {"stratum": p.stratum, "share": round(float(p.share), 6), "before": round(float(p.before), 6),
             "after": round(float(p.after), 6), "contribution": float(shown[p.stratum])}
            for p in decomposition.parts
        ],
    }  # fmt: skip


def _split_to_row(split: SetDecomposition) -> Row:
    return {
        "metric": split.metric,
        "before": round(float(split.before), 6),
        "after": round(float(split.after), 6),
        "mix": round(float(split.mix), 6) if not split.no_evidence else None,
        "within": round(float(split.within), 6) if not split.no_evidence else None,
        "parts": [
            {"stratum": p.stratum, "mix": round(float(p.mix), 6), "within": round(float(p.within), 6)}
            for p in split.parts
        ],
        "no_evidence": list(split.no_evidence),
    }


def _outcome_to_row(outcome: Outcome) -> Row:
    row: Row = {"id": outcome.id, "reference_type": outcome.reference_type, "kind": outcome.kind}
    row["quadrant"] = outcome.quadrant
    for metric, value in zip(METRICS, outcome.values, strict=True):
        row[metric.name] = round(value, 6) if value is not None else None
    row["absent"] = list(outcome.absent)
    row["contaminants"] = [{"term": c.term, "turns": list(c.turns)} for c in outcome.contaminants]
    row["brought_in"] = list(outcome.brought_in)
    return row


def judgement_to_markdown(judgement: Judgement) -> str:
    """The judgement as GitHub Markdown, short enough for the summary of a build."""
    judged = judgement.judged
    title = f"## {_cell(judged.run.name)} on {_cell(judgement.set_name)}"
    parts = [title]
    if judgement.verdicts:
        mark = "✅" if passes(judgement.verdicts) else "❌"
        parts += [f"{mark} **{gate_sentence(judgement.verdicts)}**"]
        parts += [_markdown_table(*verdict_table(judgement.verdicts))]
    parts += ["### Strata", _markdown_table(*strata_table(judged)), f"<sub>{note_on_strata()}</sub>"]
    if judgement.comparison and judgement.baseline:
        parts += [
            f"### Against {_cell(judgement.baseline.run.name)}",
            _markdown_table(*change_table(judgement)),
            *left_out_lines(judgement),
        ]
    for decomposition in judgement.decompositions:
        parts += [f"### Where the change of {label_of(decomposition.metric, judged.k)} comes from"]
        parts += [_markdown_table(*decomposition_table(decomposition)), movement_sentence(decomposition)]
    return "\n\n".join(parts) + "\n"


def _cell(text: str) -> str:
    return escape(text.replace("|", "\\|").replace("\n", " ").replace("`", "'"))


def _markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(map(_cell, row)) + " |" for row in (head, rule, *rows))


def verdicts_to_junit(verdicts: Sequence[Verdict], name: str) -> str:
    """The verdicts as JUnit XML: a rule a test case; one that blocks is a failure, an undecided one let through is skipped."""
    failures = sum(v.blocks for v in verdicts)
    skipped = sum(v.verdict != PASS and not v.blocks for v in verdicts)
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuite name={quoteattr(name)} tests="{len(verdicts)}" failures="{failures}" errors="0" skipped="{skipped}">',
    ]
    for v in verdicts:
        case = f"  <testcase classname={quoteattr(v.rule.group)} name={quoteattr(rule_text(v))}"
        said = (
            f"{v.verdict}: measured {fixed(v.measured, 3)}, interval [{fixed(v.low, 3)}, {fixed(v.high, 3)}] on {v.n} items; "
            f"the rule wants that {LIMITS[v.rule.limit]} ({v.rule.value:g})"
        )
        if v.blocks:
            lines.append(
                f"{case}><failure message={quoteattr(v.verdict)}>{escape(said)}</failure></testcase>"
            )
        elif v.verdict != PASS:
            lines.append(f"{case}><skipped message={quoteattr(said)}/></testcase>")
        else:
            lines.append(f"{case}/>")
    return "\n".join([*lines, "</testsuite>", ""])
