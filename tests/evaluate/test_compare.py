from dataclasses import replace

from builder.core.records import Passage
from builder.evaluate.compare import Entry, change, compare_designs, comparison_row, measured
from builder.evaluate.compare_report import comparison_page, markdown, metric_table, notes_on, text_tables
from builder.io.retrieve import index_passages
from builder.scope.designs import Tools
from builder.scope.rewriters import offline_rewriter
from builder.scope.vectors import word_vectors
from tests.evaluate.test_rewrite import ITEMS
from tests.scope.conversation import find

PASSAGES = (
    Passage("dublin#sla", "Dublin", "Dublin has a 99.95% uptime commitment."),
    Passage("dublin#rto", "Dublin", "The RTO in Dublin is 60 minutes."),
    Passage("billing#pages", "Billing export API", "The billing export API pages its results by cursor."),
    Passage("oregon#rto", "Oregon", "The RTO in Oregon is 30 minutes."),
)
GOLD = {3: ("dublin#sla",), 7: ("billing#pages",), 11: ("dublin#rto",)}
REQUIRED = {3: ("Dublin", "uptime"), 7: ("billing export",), 11: ("Dublin", "RTO")}
SET = [
    replace(
        item,
        gold=GOLD[item.turn],
        required_in_rewrite=REQUIRED[item.turn],
        forbidden_in_rewrite=("Dublin",)
        if item.turn == 7
        else ("reporting export",)
        if item.turn == 11
        else (),
    )
    for item in ITEMS
]
DESIGNS = ("window:2", "window:8", "threads", "liveness", "oracle")
REWRITERS = {name: offline_rewriter(name, find) for name in ("expand", "resolve")}
TOOLS = Tools(find, word_vectors)
ENTRIES = compare_designs(SET, DESIGNS, REWRITERS, TOOLS, index_passages(PASSAGES), k=1)


def entry(name: str) -> Entry:
    return next(e for e in ENTRIES if e.name == name)


def test_every_design_meets_every_rewriter() -> None:
    assert [e.name for e in ENTRIES] == [
        f"{design} x {rewriter}" for rewriter in REWRITERS for design in DESIGNS
    ]


def test_a_window_that_reaches_the_old_subject_contaminates_expansion_at_the_pivot() -> None:
    assert entry("window:2 x expand").mean("contamination", "post_pivot_standalone") == 1.0
    assert entry("threads x expand").mean("contamination", "post_pivot_standalone") == 0.0


def test_a_short_window_loses_the_long_reference_and_the_oracle_finds_it() -> None:
    assert entry("window:2 x resolve").mean("coverage", "long_range") == 0.5
    assert entry("oracle x resolve").mean("coverage", "long_range") == 1.0
    assert entry("oracle x resolve").mean("recall") == 1.0


def test_a_row_carries_what_it_costs() -> None:
    costs = entry("window:8 x resolve").costs
    assert costs["calls"] == 1.0
    assert costs["input"] > entry("window:2 x resolve").costs["input"]


def test_best_cells_are_marked_and_the_oracle_takes_no_part() -> None:
    head, rows, best = metric_table(ENTRIES, "contamination")
    column = head.index("post_pivot_standalone")
    marked = {(rows[at][0], rows[at][1]) for at, col in best if col == column}
    assert ("threads", "expand") in marked
    assert not any(design == "oracle" for design, _ in marked)
    assert ("window:2", "expand") not in marked


def test_the_notes_say_what_shortening_moved_and_whether_scope_beats_windows() -> None:
    notes = notes_on(ENTRIES)
    assert len(notes) == 6
    assert notes[0].startswith("expand: from window:8 to window:2, recall moves post-pivot ")
    assert "beat" in notes[1]
    assert notes[2].startswith("expand: exactly the needed turns would give +")


def test_a_change_is_paired() -> None:
    paired = change(entry("window:2 x resolve"), entry("oracle x resolve"), "coverage")
    assert paired is not None
    assert (paired.n, paired.wins, paired.losses) == (3, 1, 0)


def test_the_report_is_whole_offline_and_hostile_names_are_inert() -> None:
    metrics = measured(ENTRIES)
    assert metrics == ["recall", "ndcg", "coverage", "contamination", "needless"]
    page = comparison_page(ENTRIES, metrics, 1, ["<script>alert(1)</script>"], "<b>set</b>")
    assert "<script" not in page
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")
    assert markdown(ENTRIES, metrics, 1, ["a note"]).count("\n## ") == len(metrics)
    assert (
        text_tables(ENTRIES, metrics, 1)[0]
        == "items: all 3, post_pivot_standalone 1, long_range 1, ordinal 1"
    )
    assert len(comparison_row(ENTRIES, [])["entries"]) == 10


def test_a_set_without_passages_is_compared_on_rewrites_alone() -> None:
    entries = compare_designs(SET, ("window:2", "threads"), REWRITERS, TOOLS, None)
    assert measured(entries) == ["coverage", "contamination", "needless"]
    assert "coverage" in notes_on(entries)[0]
