"""The report as a file: the items worth showing are read once more, so that the whole set need not be kept."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from builder.core.records import Item
from builder.io.items import iter_items
from builder.io.resources import PACKAGE
from builder.io.store import write_text
from builder.scoring.item_views import ItemView, change_of, choose_items, view_item
from builder.scoring.judgement import Judged, Judgement
from builder.scoring.report import Parts, render_report

_TEMPLATES = PACKAGE / "templates"


def write_report(path: Path, judgement: Judgement, items_file: Path) -> None:
    """Write the page about `judgement` to `path`; `items_file` is the item file it was scored on."""
    write_text(path, report_of(judgement, iter_items(items_file, frozenset(shown_ids(judgement)))))


def shown_ids(judgement: Judgement) -> tuple[str, ...]:
    """Ids of the items that the page shows, in its order."""
    old = judgement.baseline if judgement.comparison else None
    before = {outcome.id: outcome for outcome in old.outcomes} if old else {}
    return choose_items(judgement.judged.outcomes, before)


def report_of(judgement: Judgement, items: Iterable[Item]) -> str:
    """The page about `judgement`; `items` holds at least those of `shown_ids`."""
    judged, old = judgement.judged, judgement.baseline if judgement.comparison else None
    chosen = shown_ids(judgement)
    views = {view.item.id: view for view in _views(judged, old, set(chosen), items)}
    return render_report(judgement, [views[name] for name in chosen], report_parts())


def report_parts() -> Parts:
    """Template, style sheet and script of the page."""
    names = ("report.html.j2", "report.css", "report.js")
    return Parts(*((_TEMPLATES / name).read_text(encoding="utf-8") for name in names))


def _views(judged: Judged, old: Judged | None, chosen: set[str], items: Iterable[Item]) -> Iterator[ItemView]:
    runs = [(side, {outcome.id: outcome for outcome in side.outcomes}) for side in (judged, old) if side]
    for item in items:
        if item.id in chosen:
            listed = [(side.run.name, side.run.rows[item.id], by_id[item.id]) for side, by_id in runs]
            change = change_of(listed[0][2], listed[1][2] if old else None)
            yield view_item(item, listed, judged.k, change)
