"""The card and the change log: generated anew each time, with what people wrote kept."""

import yaml

from builder.core.versions import Diff
from builder.stages.card import Section, front_of, merge_cards, render_card
from builder.stages.changelog import extend_changelog

FRONT = {
    "pretty_name": "Support",
    "license": "apache-2.0",
    "tags": ["evaluation"],
    "configs": [{"config_name": "items", "data_files": "data/items/*"}],
}
OLD = [Section("mix", "The mix", "Pronouns: 18%."), Section("limits", "Known limits", "Few.")]
NEW = [Section("mix", "The mix", "Pronouns: 21%."), Section("limits", "Known limits", "Fewer.")]


def card(sections: list[Section]) -> str:
    return render_card(FRONT, "Support", sections)


def test_an_untouched_card_is_generated_anew() -> None:
    assert merge_cards(card(NEW), card(OLD)) == card(NEW)
    assert merge_cards(card(NEW), "") == card(NEW)


def test_merging_twice_changes_nothing_more() -> None:
    edited = card(OLD).replace("Few.", "Few, says Ada.")
    once = merge_cards(card(NEW), edited)
    assert merge_cards(card(NEW), once) == once


def test_an_edited_section_stands_and_the_others_follow() -> None:
    merged = merge_cards(card(NEW), card(OLD).replace("Few.", "Few, says Ada."))
    assert "Few, says Ada." in merged
    assert "Pronouns: 21%." in merged
    assert "Pronouns: 18%." not in merged


def test_a_section_of_a_persons_own_stands_where_it_stood() -> None:
    edited = card(OLD).replace("<!-- section: limits", "## Who asks\n\nCustomers.\n\n<!-- section: limits")
    merged = merge_cards(card(NEW), edited)
    assert merged.index("## The mix") < merged.index("## Who asks") < merged.index("## Known limits")


def test_configs_tags_and_keys_of_people_survive() -> None:
    text = card(OLD)
    front = front_of(text)
    front["configs"].append({"config_name": "extra", "data_files": "extra/*"})
    front["tags"].append("telecom")
    front["thumbnail"] = "picture.png"
    edited = f"---\n{yaml.safe_dump(front, sort_keys=False)}---\n" + text.split("---\n", 2)[2]
    merged = front_of(merge_cards(card(NEW), edited))
    assert [c["config_name"] for c in merged["configs"]] == ["items", "extra"]
    assert merged["tags"] == ["evaluation", "telecom"]
    assert merged["thumbnail"] == "picture.png"
    assert merged["license"] == "apache-2.0"


def test_the_change_log_grows_on_top_and_takes_the_notes_in() -> None:
    first = extend_changelog("", "1.0.0", "2026-09-30", None, 150)
    assert first == "# Changelog\n\n## v1.0.0 (2026-09-30)\n\nFirst release: 150 items.\n"
    noted = first.replace("# Changelog\n", "# Changelog\n\n## Unreleased\n\nWe dropped the beta region.\n")
    diff = Diff(
        ("fu_b",), ("fu_a",), (), (), ("fu_c",), (), (), False, (("pronoun", 1, 0), ("ellipsis", 0, 1))
    )
    second = extend_changelog(noted, "1.1.0", "", diff, 150)
    assert second.startswith("# Changelog\n\n## v1.1.0\n\n1 item added; 1 item retired.\n")
    assert "### Notes\n\nWe dropped the beta region." in second
    assert "Unreleased" not in second
    assert second.endswith(first.removeprefix("# Changelog\n").lstrip())
    assert "| pronoun | 1 | 0 |" in second
