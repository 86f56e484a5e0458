"""The prompt for second labels: one rendering of the taxonomy, filled into the prompt file, so that neither can drift."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from builder.core.records import FollowUp, Transcript, Turn
from builder.core.taxonomy import FORMS, LONG_RANGE, STRATA
from builder.text.quoting import quote_conversation, quote_text
from builder.text.second_label import Answer, labels_from, read_answer

SHOWN = (7, 11)
"""Turns of the worked example whose whole answer is shown; the others stand in its table."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A rendered prompt.

    Attributes:
        version: Name and version of the prompt file.
        system: The instructions.
    """

    version: str
    system: str


def render_prompt(
    version: str, template: str, rules: Mapping[str, Any], long_range: int = LONG_RANGE
) -> Prompt:
    """The prompt file with definitions, tests, strata and worked example in their places.

    Args:
        version: Name of the prompt file without its ending, such as `second_label.1`.
        template: Its text, with {{places}}.
        rules: The sentences of the tests and term rules, and the worked example.
        long_range: Distance from which a reference is long-range.
    """
    parts = {
        "forms": "\n".join(f"- {form.name}: {form.definition}" for form in FORMS),
        "strata": "\n".join(
            f"{row}. {s.name}: {s.condition} ({s.catches})" for row, s in enumerate(STRATA, 1)
        ).replace(f"d_live >= {LONG_RANGE}", f"d_live >= {long_range}"),
        "example": _example(rules["example"], long_range),
        **{name: "\n".join(rules[name]) for name in ("needs_history_test", "harm_test", "term_rules")},
    }
    text = template
    for name, part in parts.items():
        text = text.replace("{{" + name + "}}", part)
    return Prompt(version, text)


def example_labels(example: Mapping[str, Any], long_range: int = LONG_RANGE) -> tuple[FollowUp, ...]:
    """The labels that our own rules derive from the answers of the worked example."""
    turns = tuple(Turn(number, role, text) for number, (role, text) in enumerate(example["turns"], start=1))
    transcript = Transcript("example", turns)
    labelled = []
    for row in example["answers"]:
        answer = read_answer(json.dumps({name: value for name, value in row.items() if name != "turn"}))
        assert isinstance(answer, Answer), f"worked example, turn {row['turn']}: {answer}"
        blank = FollowUp("example", row["turn"], "", "", "none", False, False, (), 0, 0, (), (), None, 1.0)
        labelled.append(labels_from(answer, blank, transcript, long_range))
    return tuple(labelled)


def _example(example: Mapping[str, Any], long_range: int) -> str:
    lines = [f'{number} {role}: "{text}"' for number, (role, text) in enumerate(example["turns"], start=1)]
    lines += ["", "What follows from the right answers:", ""]
    for label in example_labels(example, long_range):
        needs = ", ".join(map(str, label.antecedent_turns)) or "nothing"
        pivot = "; changes the subject" + (" back" if label.returns else "") if label.pivot else ""
        lines.append(
            f"- turn {label.turn}: needs {needs}; form {label.form}{pivot}; stratum {label.reference_type}; "
            f"required {', '.join(label.required_in_rewrite)}; forbidden {', '.join(label.forbidden_in_rewrite)}"
        )
    for row in example["answers"]:
        if row["turn"] in SHOWN:
            answer = {name: value for name, value in row.items() if name != "turn"}
            lines += ["", f"The answer for turn {row['turn']}:", json.dumps(answer, ensure_ascii=False)]
    return "\n".join(lines)


def user_message(transcript: Transcript, turn: int) -> str:
    """The quoted conversation with the follow-up at `turn`, and the task in one line."""
    return f"{quote_conversation(transcript.turns, turn)}\n\nLabel the follow-up, turn {turn}."


def returned_message(message: str, answer: str, problems: list[str]) -> str:
    """The same material with an answer that contradicts the rules, quoted, and what is wrong with it."""
    listed = "\n".join(f"- {quote_text(problem)[1:-1]}" for problem in problems)
    return (
        f"{message}\n\nAn earlier answer was:\n<earlier_answer>\n{quote_text(answer)}\n</earlier_answer>\n"
        f"It breaks these rules:\n{listed}\nAnswer again, in full, without these faults."
    )
