import re
import time
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256

import pytest

from builder.core.records import Item, Turn
from builder.evaluate.report import report_of, report_parts
from builder.evaluate.score import score_run
from builder.scoring.gate import Gate, Rule
from builder.scoring.item_views import choose_items, mark_terms
from builder.scoring.judgement import Judgement, conclude
from builder.scoring.report import content_policy
from builder.scoring.runs import Run, RunRow
from tests.scoring.sample import ORDINAL, PIVOT, halyard_items, pasted_run

HOSTILE = "<script>alert('x')</script><img src=x onerror=alert(1)> & \"quoted\" </details>"


def hostile_judgement() -> tuple[Judgement, list[Item]]:
    item = replace(
        PIVOT,
        follow_up=HOSTILE,
        prefix=(Turn(1, "user", HOSTILE), Turn(2, "assistant", f"Dublin {HOSTILE}")),
        gold=(HOSTILE,),
        forbidden_in_rewrite=("Dublin", "script"),
        required_in_rewrite=(HOSTILE,),
        aliases=(),
        reference_rewrite=HOSTILE,
        turn=3,
    )
    rows = {item.id: RunRow(f"Dublin {HOSTILE}", (HOSTILE,), HOSTILE, (1,)), ORDINAL.id: RunRow(None)}
    run = score_run([item, ORDINAL], Run(HOSTILE, rows), draws=20)
    return conclude(HOSTILE, run, run, Gate((Rule("all", "recall", "floor", 0.5),))), [item, ORDINAL]


def test_terms_are_marked_and_all_else_is_escaped() -> None:
    assert mark_terms("<b>RPO</b> of the billing exports API & Dublin", PIVOT).html == (
        '&lt;b&gt;<mark class="bad">RPO</mark>&lt;/b&gt; of the <mark class="good">billing exports API</mark>'
        ' &amp; <mark class="bad">Dublin</mark>'
    )


def test_where_terms_overlap_the_forbidden_one_is_marked() -> None:
    item = replace(PIVOT, required_in_rewrite=("Dublin RPO",), forbidden_in_rewrite=("RPO",), aliases=())
    assert mark_terms("Dublin RPO", item).html == 'Dublin <mark class="bad">RPO</mark>'


def test_hostile_text_stays_text() -> None:
    page = report_of(*hostile_judgement())
    assert "<script>alert" not in page
    assert "<img" not in page
    assert page.count("<script>") == 1
    assert page.count("<details") == page.count("</details>")


def test_the_page_asks_for_nothing_outside() -> None:
    page = report_of(*hostile_judgement())
    assert not re.search(r'(?:src|href)="(?!#|data:,)', page)
    assert "http:" not in page
    assert "https:" not in page
    assert " style=" not in page


def test_the_policy_allows_exactly_the_style_and_script_of_the_page() -> None:
    page, policy = report_of(*hostile_judgement()), content_policy(report_parts())
    assert policy.startswith("default-src 'none';")
    for tag in ("style", "script"):
        (inner,) = re.findall(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        assert f"{tag}-src 'sha256-{b64encode(sha256(inner.encode()).digest()).decode()}'" in policy
    assert "unsafe" not in policy


def test_items_that_got_worse_come_first_and_the_order_is_settled() -> None:
    items = halyard_items()[:40]
    after, before = (score_run(items, pasted_run(items, n), draws=5).outcomes for n in (8, 0))
    chosen = choose_items(after, {o.id: o for o in before}, most=10)
    worse = {o.id for o, p in zip(after, before, strict=True) if o.values[4] == 1 and p.values[4] == 0}
    assert len(worse) >= 10
    assert set(chosen) <= worse
    assert chosen == choose_items(after[::-1], {o.id: o for o in before}, most=10)


def test_a_run_without_baseline_gate_or_retrieval_has_a_page_too() -> None:
    items = halyard_items()[:12]
    page = report_of(conclude("set", score_run(items, pasted_run(items, 2), draws=5)), items)
    assert "Stratum by stratum" in page
    assert "Where the change comes from" not in page


@pytest.mark.slow
def test_three_hundred_items_are_scored_and_drawn_in_two_seconds() -> None:
    items = halyard_items()[:300]
    assert len({item.reference_type for item in items}) == 8
    rows = {item.id: RunRow(item.reference_rewrite, item.gold, item.follow_up) for item in items}
    report_parts()
    started = time.process_time()
    run = score_run(items, Run("reference", rows), draws=2000)
    report_of(conclude("set", run, run, Gate((Rule("all", "recall", "floor", 0.5),))), items)
    assert time.process_time() - started < 2
