from decimal import Decimal
from xml.etree import ElementTree

import orjson

from builder.core.records import Item
from builder.evaluate.score import score_run
from builder.scoring.gate import Gate, Rule
from builder.scoring.judgement import (
    Costs,
    Judged,
    Judgement,
    commonest_contaminants,
    conclude,
    count_quadrants,
)
from builder.scoring.outputs import judgement_to_markdown, judgement_to_row, verdicts_to_junit
from builder.scoring.runs import Run, RunRow
from builder.scoring.strata import tabulate
from builder.scoring.tables import gate_sentence, judgement_lines
from tests.scoring.sample import ORDINAL, PIVOT, outcome

GOLD = {"fu_pivot": ("docs/billing-export#pagination",), "fu_ordinal": ("docs/dublin#sla",)}
ITEMS = (PIVOT, ORDINAL)


def judged(name: str, pivot: str | None, ordinal: str | None, items: tuple[Item, ...] = ITEMS) -> Judgement:
    gate = Gate(
        (
            Rule("ordinal", "recall", "floor", 0.99),
            Rule("post_pivot_standalone", "contamination", "ceiling", 0.9),
        )
    )
    new = Run(
        name, {"fu_pivot": RunRow(pivot, GOLD["fu_pivot"]), "fu_ordinal": RunRow(ordinal, GOLD["fu_ordinal"])}
    )
    old = Run("before", {"fu_pivot": RunRow(None, ()), "fu_ordinal": RunRow("Dublin uptime", ())})
    return conclude("halyard v1.0.0", score_run(items, new, draws=50), score_run(items, old, draws=50), gate)


CONTAMINATED = judged("last | turns <b>", "billing export in Dublin", "Dublin uptime commitment")


def test_json_holds_every_item_with_its_contaminants_and_their_turns() -> None:
    row = orjson.loads(orjson.dumps(judgement_to_row(CONTAMINATED)))
    by_id = {item["id"]: item for item in row["items"]}
    assert by_id["fu_pivot"]["contaminants"] == [{"term": "Dublin", "turns": [2, 4, 5, 6]}]
    assert by_id["fu_pivot"]["quadrant"] == "lucky"
    assert row["gate"]["passed"] is False
    assert row["baseline"]["run"] == "before"


def test_contributions_in_json_add_up_in_decimals() -> None:
    row = orjson.loads(orjson.dumps(judgement_to_row(CONTAMINATED)))
    for decomposition in row["decompositions"]:
        parts = sum((Decimal(str(part["contribution"])) for part in decomposition["parts"]), Decimal(0))
        assert parts == Decimal(str(decomposition["change"]))


def test_junit_names_each_rule_and_says_what_was_measured() -> None:
    root = ElementTree.fromstring(verdicts_to_junit(CONTAMINATED.verdicts, 'a "set" & <more>'))
    assert (root.get("name"), root.get("tests"), root.get("failures")) == ('a "set" & <more>', "2", "2")
    first, second = root.findall("testcase")
    assert first.get("name") == "ordinal recall floor 0.99"
    failure = second.find("failure")
    assert failure is not None
    assert failure.get("message") == "too few to tell"
    assert "measured 1.000" in (failure.text or "")


def test_an_undecided_rule_that_is_let_through_is_skipped_not_failed() -> None:
    gate = Gate((Rule("ordinal", "recall", "floor", 0.5),), undecided_passes=True)
    judgement = conclude("s", CONTAMINATED.judged, gate=gate)
    root = ElementTree.fromstring(verdicts_to_junit(judgement.verdicts, "s"))
    assert (root.get("failures"), root.get("skipped")) == ("0", "1")


def test_markdown_keeps_names_inside_their_cells() -> None:
    text = judgement_to_markdown(CONTAMINATED)
    assert text.startswith("## last \\| turns &lt;b&gt; on halyard v1.0.0\n")
    assert "❌ **gate NOT passed" in text
    assert "| post_pivot_standalone |" in text


def test_the_text_shows_strata_before_it_shows_the_change() -> None:
    lines = "\n".join(judgement_lines(CONTAMINATED))
    assert lines.index("post_pivot_standalone") < lines.index("against before (paired)")
    assert "clean and found 1; contaminated, yet found 1" in lines
    assert lines.endswith("gate NOT passed: of 2 rules 1 failed, 1 could not be told")


def test_between_versions_of_a_set_nothing_is_paired() -> None:
    small = score_run(
        [PIVOT], Run("old set", {"fu_pivot": RunRow("billing export", GOLD["fu_pivot"])}), draws=50
    )
    judgement = conclude("s", CONTAMINATED.judged, small, same_set=False)
    assert judgement.comparison is None
    assert judgement.decompositions == ()
    assert "no evidence, only one version of the set measures ordinal" in "\n".join(
        judgement_lines(judgement)
    )


def test_quadrants_and_contaminants_are_counted() -> None:
    outcomes = CONTAMINATED.judged.outcomes
    assert count_quadrants(outcomes)["lucky"] == 1
    assert commonest_contaminants(outcomes) == [("Dublin", 1)]


def test_a_mean_reads_the_same_in_the_table_and_in_the_decomposition() -> None:
    # 7 of 8, by weights whose sum is off in the last bits: 0.875 is 0.88 in every line, never 0.87.
    new = [outcome(f"i{at}", "standalone", weight=0.985765, recall=float(at > 0)) for at in range(8)]
    old = [outcome(f"i{at}", "standalone", weight=0.985765, recall=1.0) for at in range(8)]
    run = Run("r", {"i0": RunRow("x")})
    before, after = (Judged(run, 5, tuple(o), tabulate(o, draws=20), Costs()) for o in (old, new))
    lines = "\n".join(judgement_lines(conclude("set", after, before)))
    assert "0.88" in lines
    assert "0.87 " not in lines


def test_a_stratum_without_a_row_of_changes_is_told_with_the_reason() -> None:
    lines = judgement_lines(judged("same", None, "Dublin uptime"))
    assert "no row: contamination of every stratum changed in no item" in lines
    assert "no row: no item of ordinal can show needless rewriting" in lines
    assert any(line.startswith("no row: recall@5 of") and "changed in no item" in line for line in lines)


def test_a_gate_that_passes_with_undecided_rules_says_how_many() -> None:
    rules = (Rule("ordinal", "recall", "floor", 0.4), Rule("ordinal", "contamination", "ceiling", 1.0))
    run = Run(
        "r",
        {"fu_pivot": RunRow("billing export", ()), "fu_ordinal": RunRow("Dublin uptime", GOLD["fu_ordinal"])},
    )
    gate = Gate(rules, undecided_passes=True)
    verdicts = conclude("set", score_run(ITEMS, run, draws=20), gate=gate).verdicts
    assert gate_sentence(verdicts) == "gate passed: 2 rules, 1 of them undecided and let through"
