"""The ceiling of a release or a label file, gathered into one value and written as text or page."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

from builder.core.records import Turn
from builder.core.rows import Row
from builder.core.tables import render_table
from builder.evaluate.pictures import html_table, lines, page, paragraphs, shaded_grid, stacked_bars
from builder.scope.ceiling import (
    Case,
    Cut,
    Segmentation,
    Verdict,
    cut_table,
    no_window,
    right_by_stratum,
    segmentation,
    window_table,
)
from builder.scope.shown import Embed, FindEntities
from builder.scope.slot_ceiling import GridRow, best_choice, conversation_of, liveness_grid

MOST_WINDOWS = 16
"""Window lengths that tables and plots show; longer ones are in the JSON."""


@dataclass(frozen=True, slots=True)
class Ceiling:
    """What scope alone can reach.

    Attributes:
        n: Follow-ups judged.
        left_out: Labels that ask for nothing or cannot be resolved.
        windows: Shares for every window length.
        strata: Share right for every window length, by stratum.
        no_window: Shares by why no window is right.
        segments: The best that cutting can do.
        cuts: What cutting by cosine does at each threshold; empty without transcripts.
        grid: What liveness shows under each pair of horizons; empty without transcripts.
        choice: What a perfect choice per entity shows; None without transcripts.
    """

    n: int
    left_out: int
    windows: tuple[tuple[int, Verdict], ...]
    strata: tuple[tuple[int, Mapping[str, float]], ...]
    no_window: Mapping[str, float]
    segments: Segmentation
    cuts: tuple[Cut, ...] = ()
    grid: tuple[GridRow, ...] = ()
    choice: Verdict | None = None


def make_ceiling(
    cases: Sequence[Case],
    left_out: int,
    pivots: Mapping[str, Sequence[int]] | None,
    conversations: Mapping[str, Sequence[Turn]] | None = None,
    find: FindEntities = lambda _text: (),
    embed: Embed | None = None,
    progress: Callable[[], object] = lambda: None,
) -> Ceiling:
    """The ceiling over `cases`; the parts that need texts only where `conversations` gives them."""
    windows = window_table(cases)
    strata = tuple((length, right_by_stratum(cases, length)) for length, _ in windows)
    plain = (len(cases), left_out, tuple(windows), strata, no_window(cases), segmentation(cases, pivots))
    if conversations is None:
        return Ceiling(*plain)
    by_conversation: dict[str, list[Case]] = {}
    for case in cases:
        by_conversation.setdefault(case.conversation_id, []).append(case)
    read = [conversation_of(conversations[name], group, find) for name, group in by_conversation.items()]
    held = {name: conversations[name] for name in by_conversation}
    cuts = tuple(cut_table(held, cases, embed)) if embed else ()
    return Ceiling(*plain, cuts, tuple(liveness_grid(read, progress=progress)), best_choice(read))


def ceiling_to_row(ceiling: Ceiling) -> Row:
    """The ceiling as one JSON object."""
    row = asdict(ceiling)
    row["windows"] = [{"w": length, **asdict(shares)} for length, shares in ceiling.windows]
    row["strata"] = [{"w": length, **shares} for length, shares in ceiling.strata]
    return row


def ceiling_lines(ceiling: Ceiling) -> list[str]:
    """The ceiling as text: tables of shares of production."""
    tables = [f"\n{title}\n{render_table(head, rows)}" for title, head, rows in _tables(ceiling)]
    return [*_summary(ceiling), *tables]


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"


def _summary(ceiling: Ceiling) -> list[str]:
    best = max(ceiling.windows, key=lambda row: row[1].right)
    none = ceiling.no_window
    said = [
        f"{ceiling.n} follow-ups; {ceiling.left_out} labels that ask for nothing or cannot be resolved are left out",
        f"best window: length {best[0]}, right for {_percent(best[1].right)}",
        f"no window is right for {_percent(none['same_turn'] + none['nearer_stale'])}: stale term in the antecedent's own turn"
        f" {_percent(none['same_turn'])}, nearer than the antecedent {_percent(none['nearer_stale'])}",
        f"best segmentation: {_percent(ceiling.segments.contiguous)} have a contiguous scope;"
        f" {_percent(ceiling.segments.consistent)} are right under the best cuts of each conversation",
    ]
    if ceiling.segments.at_pivots is not None:
        shows = ceiling.segments.at_pivots
        said.append(
            f"cuts at the labelled pivots: right for {_percent(shows.right)}, early for"
            f" {_percent(ceiling.segments.early_at_pivots)}, stale shown for {_percent(shows.shows_stale)}"
        )
    if ceiling.grid:
        top = max(ceiling.grid, key=lambda row: row.slots.right)
        said.append(
            f"best liveness horizons: stale {top.horizons.stale}, evict {top.horizons.evict}, superseding"
            f" {'on' if top.horizons.supersede else 'off'}: right for {_percent(top.slots.right)} by slots alone,"
            f" {_percent(top.beside.right)} with the last two turns beside them"
        )
    if ceiling.choice:
        said.append(
            f"a perfect choice per entity (the labels' own): right for {_percent(ceiling.choice.right)}"
        )
    return said


def _tables(ceiling: Ceiling) -> list[tuple[str, list[str], list[list[str]]]]:
    shown = ceiling.windows[:MOST_WINDOWS]
    strata = list(dict.fromkeys(name for _, shares in ceiling.strata for name in shares))
    found = [
        (
            "windows: share of production",
            ["w", "right", "reaches too little", "shows stale"],
            [
                [str(w), _percent(v.right), _percent(v.reaches_too_little), _percent(v.shows_stale)]
                for w, v in shown
            ],
        ),
        (
            "windows: share right, by stratum",
            ["w", *strata],
            [
                [str(w), *(_percent(shares.get(name)) for name in strata)]
                for w, shares in ceiling.strata[:MOST_WINDOWS]
            ],
        ),
    ]
    if ceiling.cuts:
        head = ["threshold", "cuts", "right", "early", "conversations", "cost", "shows stale"]
        rows = [
            [
                f"{c.threshold:.2f}",
                f"{c.cuts:.2f}",
                *map(_percent, (c.shows.right, c.early, c.early_conversations, c.cost, c.shows.shows_stale)),
            ]
            for c in ceiling.cuts
        ]
        found.append(("segments by cosine: cuts in a conversation, shares", head, rows))
    if ceiling.grid:
        found += [_grid_table(ceiling, supersede) for supersede in (True, False)]
    return found


def _grid(ceiling: Ceiling, supersede: bool) -> tuple[list[int], list[int], list[list[float]]]:
    rows = [row for row in ceiling.grid if row.horizons.supersede == supersede]
    stale = sorted({row.horizons.stale for row in rows})
    evict = sorted({row.horizons.evict for row in rows})
    right = {(row.horizons.stale, row.horizons.evict): row.slots.right for row in rows}
    return stale, evict, [[right[s, e] for e in evict] for s in stale]


def _grid_table(ceiling: Ceiling, supersede: bool) -> tuple[str, list[str], list[list[str]]]:
    stale, evict, values = _grid(ceiling, supersede)
    title = f"liveness: share right by slots alone, superseding {'on' if supersede else 'off'} (rows stale, columns evict)"
    rows = [[str(s), *(f"{value:.3f}" for value in row)] for s, row in zip(stale, values, strict=True)]
    return title, ["", *map(str, evict)], rows


def ceiling_page(ceiling: Ceiling, title: str) -> str:
    """The ceiling as a page with pictures."""
    shown = ceiling.windows[:MOST_WINDOWS]
    ticks = [str(length) for length, _ in shown]
    parts = [
        ("right", [v.right for _, v in shown]),
        ("needed turn cut off", [v.short for _, v in shown]),
        ("stale term shown", [v.stale for _, v in shown]),
        ("both", [v.both for _, v in shown]),
    ]
    strata = list(dict.fromkeys(name for _, shares in ceiling.strata for name in shares))
    chosen = [
        name
        for name in ("post_pivot_standalone", "long_range", "ordinal", "pronoun", "ellipsis")
        if name in strata
    ]
    series = [(name, [shares.get(name) for _, shares in ceiling.strata[:MOST_WINDOWS]]) for name in chosen]
    sections = [
        ("In short", paragraphs(_summary(ceiling))),
        ("Every window length is wrong on somebody", stacked_bars(ticks, parts, "window length, turns")),
        ("Which strata a window length serves", lines(ticks, series, "window length, turns")),
    ]
    if ceiling.cuts:
        cut_ticks = [f"{c.threshold:.2f}".lstrip("0") for c in ceiling.cuts]
        cut_series = [
            ("right", [c.shows.right for c in ceiling.cuts]),
            ("needed turn cut off", [c.early for c in ceiling.cuts]),
            ("stale term shown", [c.shows.shows_stale for c in ceiling.cuts]),
            ("right but for the last cut", [c.cost for c in ceiling.cuts]),
        ]
        sections.append(("Cutting by cosine", lines(cut_ticks, cut_series, "threshold")))
    if ceiling.grid:
        grids = ""
        for supersede in (True, False):
            stale, evict, values = _grid(ceiling, supersede)
            name = f"share right by slots alone, superseding {'on' if supersede else 'off'}"
            grids += shaded_grid([f"stale {s}" for s in stale], [f"ev. {e}" for e in evict], values, name)
        sections.append(("Liveness horizons", grids))
    sections += [(name, html_table(head, rows)) for name, head, rows in _tables(ceiling)]
    return page(title, sections)
