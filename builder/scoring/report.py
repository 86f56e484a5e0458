"""One page about a judgement that opens from disk: plots, tables, and every item with its terms marked."""

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from builder.core.tables import fixed
from builder.core.taxonomy import STRATA
from builder.scoring.gate import FAIL, PASS, TOO_FEW, Verdict, passes
from builder.scoring.item_views import ItemView, Marked
from builder.scoring.judgement import Judged, Judgement, commonest_contaminants
from builder.scoring.metrics import METRICS, PLACE
from builder.scoring.outcomes import QUADRANTS
from builder.scoring.panels import (
    distance_panel,
    high_end,
    interval_panel,
    low_end,
    quadrant_rows,
    tone,
    waterfall,
)
from builder.scoring.strata import ALL
from builder.scoring.tables import (
    change_table,
    gate_sentence,
    is_change,
    left_out_lines,
    points,
    rule_text,
    set_lines,
    strata_table,
)

PLOTTED = ("recall", "contamination", "coverage")
_TILES = ("recall", "contamination", "coverage", "unusable")
_URGENCY = (FAIL, TOO_FEW, PASS)


@dataclass(frozen=True, slots=True)
class Parts:
    """The files that a page is made of: template, style sheet and script, as text."""

    template: str
    style: str
    script: str


def render_report(judgement: Judgement, items: Sequence[ItemView], parts: Parts) -> str:
    """The page. Everything a person wrote is escaped; the policy in its head allows this style and script and nothing else."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(parts.template).render(
        style=Marked(parts.style),
        script=Marked(parts.script),
        policy=content_policy(parts),
        **_context(judgement),
        items=items,
        quadrant_labels=QUADRANTS,
        strata_shown=sorted({view.item.reference_type for view in items}),
    )


def content_policy(parts: Parts) -> str:
    """A content security policy under which the page can fetch nothing and run nothing but its own script."""
    style, script = (
        b64encode(sha256(text.encode()).digest()).decode() for text in (parts.style, parts.script)
    )
    return (
        f"default-src 'none'; style-src 'sha256-{style}'; script-src 'sha256-{script}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _context(judgement: Judgement) -> dict[str, Any]:
    judged = judgement.judged
    verdicts = judgement.verdicts
    return {
        "judgement": judgement,
        "run": judged.run.name,
        "baseline": judgement.baseline.run.name if judgement.baseline else "",
        "n": len(judged.outcomes),
        "k": judged.k,
        "tiles": _tiles(judgement),
        "gate": {
            "passed": passes(verdicts),
            "sentence": gate_sentence(verdicts),
            "rows": [_verdict_row(v) for v in sorted(verdicts, key=lambda v: _URGENCY.index(v.verdict))],
        }
        if verdicts
        else None,
        "panels": [panel for name in PLOTTED if (panel := interval_panel(judgement, name))],
        "waterfalls": [waterfall(judgement, place) for place in range(len(judgement.decompositions))],
        "set_lines": ["\n".join(set_lines(split, judged.k)) for split in judgement.set_decompositions],
        "quadrants": quadrant_rows(judgement),
        "contaminants": commonest_contaminants(judged.outcomes),
        "maps": [
            drawn
            for drawn in (distance_panel(judged, "recall"), distance_panel(judged, "contamination"))
            if drawn
        ],
        "strata": strata_table(judged),
        "changes": change_table(judgement) if judgement.comparison else None,
        "facets": _facet_rows(judged),
        "conditions": {s.name: (s.condition, s.catches) for s in STRATA},
        "left_out": left_out_lines(judgement),
        "metrics": [
            (metric.label.format(k=judged.k), metric.definition.format(k=judged.k)) for metric in METRICS
        ],
    }


def _tiles(judgement: Judgement) -> list[dict[str, Any]]:
    tiles = []
    for name in _TILES:
        cell = judgement.judged.table.cell(ALL, name)
        if cell:
            change = judgement.comparison.change(ALL, name) if judgement.comparison else None
            metric = METRICS[PLACE[name]]
            tiles.append(
                {
                    "label": metric.label.format(k=judgement.judged.k),
                    "value": fixed(cell.mean),
                    "interval": f"{fixed(low_end(cell))} to {fixed(high_end(cell))}",
                    "change": points(change.difference) if change else "",
                    "tone": tone(change.difference, metric) if change else "",
                }
            )
    return tiles


def _verdict_row(verdict: Verdict) -> dict[str, str]:
    sign = is_change(verdict)
    return {
        "rule": rule_text(verdict),
        "n": str(verdict.n),
        "measured": fixed(verdict.measured, 3, sign),
        "interval": f"{fixed(verdict.low, 3, sign)} to {fixed(verdict.high, 3, sign)}"
        if verdict.n
        else "no items",
        "verdict": verdict.verdict,
        "tone": "better" if verdict.verdict == "pass" else "worse" if verdict.verdict == "fail" else "unsure",
    }


def _facet_rows(judged: Judged) -> list[tuple[str, str, list[str]]]:
    rows = []
    seats = dict(judged.table.seats)
    for facet in judged.table.facets:
        cells = [judged.table.cell(facet, name) for name in PLOTTED]
        texts = [f"{fixed(c.mean)} [{fixed(c.low)}, {fixed(c.high)}]" if c else "-" for c in cells]
        rows.append((facet, str(seats[facet]), texts))
    return rows
