import json
from pathlib import Path

import pytest

from builder.core.taxonomy import FORMS, STRATA
from builder.text.prompting import example_labels, render_prompt
from builder.text.second_label import ANSWER_SCHEMA
from tests.stages.second_reader import second_prompt


def test_the_prompt_holds_every_form_and_stratum_in_the_taxonomys_order(root: Path) -> None:
    system = second_prompt(root).system
    forms = [system.index(f"- {form.name}: {form.definition}") for form in FORMS]
    strata = [system.index(f"{row}. {s.name}: {s.condition}") for row, s in enumerate(STRATA, start=1)]
    assert forms == sorted(forms)
    assert strata == sorted(strata)
    assert "{{" not in system


def test_the_prompt_says_the_long_range_distance_that_is_set(root: Path) -> None:
    folder = root / "builder/prompts"
    rules = json.loads((folder / "second_label.rules.json").read_text())
    prompt = render_prompt("second_label.1", (folder / "second_label.1.md").read_text(), rules, long_range=6)
    assert "long_range: d_live >= 6" in prompt.system
    assert "d_live >= 4" not in prompt.system


def test_the_worked_example_comes_out_as_the_taxonomy_has_it(root: Path) -> None:
    rules = json.loads((root / "builder/prompts/second_label.rules.json").read_text())
    table = [
        (f.turn, f.reference_type, f.form, f.antecedent_turns, f.d_live, f.d_stale, f.pivot, f.returns)
        for f in example_labels(rules["example"])
    ]
    assert table == [
        (3, "ordinal", "ordinal", (2,), 1, 1, False, False),
        (5, "standalone", "none", (), 0, 1, False, False),
        (7, "post_pivot_standalone", "none", (), 0, 1, True, False),
        (9, "ellipsis", "ellipsis", (7,), 2, 2, True, False),
        (11, "long_range", "pronoun", (6,), 5, 1, True, True),
    ]


def test_every_text_of_the_answer_has_a_longest_length() -> None:
    def texts(schema: object) -> list[dict[str, object]]:
        if isinstance(schema, dict):
            inner = [found for value in schema.values() for found in texts(value)]
            return [schema, *inner] if schema.get("type") in ("string", "array") else inner
        return []

    found = texts(ANSWER_SCHEMA)
    assert len(found) > 8
    assert all("maxLength" in each or "maxItems" in each or "enum" in each for each in found)


def test_objects_of_the_answer_are_closed_and_complete() -> None:
    def objects(schema: object) -> list[dict[str, object]]:
        if not isinstance(schema, dict):
            return []
        inner = [found for value in schema.values() for found in objects(value)]
        return [schema, *inner] if schema.get("type") == "object" else inner

    for each in objects(ANSWER_SCHEMA):
        assert each["additionalProperties"] is False
        assert each["required"] == list(each["properties"])  # type: ignore[call-overload]


@pytest.mark.parametrize("name", ["second_label.1.md", "second_label.rules.json"])
def test_prompt_files_stand_in_the_package(root: Path, name: str) -> None:
    assert (root / "builder/prompts" / name).stat().st_size > 1000
