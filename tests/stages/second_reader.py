"""A second reader that answers from known labels, for tests: gold in the shape of the model's answer."""

import json
from pathlib import Path
from typing import Any

from builder.core.records import FollowUp, Transcript
from builder.core.rows import transcript_from_row
from builder.core.taxonomy import d_live
from builder.text.prompting import Prompt, render_prompt, user_message

Row = dict[str, Any]


def load(transcripts: Path, labels: Path) -> tuple[dict[str, Transcript], dict[str, Row]]:
    """Transcripts by id, and label rows by follow-up id."""
    read = [json.loads(line) for line in transcripts.read_text().splitlines()]
    rows = [json.loads(line) for line in labels.read_text().splitlines()]
    by_id = {row["conversation_id"]: transcript_from_row(row) for row in read}
    return by_id, {f"{row['conversation_id']}#{row['turn']}": row for row in rows}


def second_prompt(root: Path) -> Prompt:
    folder = root / "builder/prompts"
    rules = json.loads((folder / "second_label.rules.json").read_text())
    return render_prompt("second_label.1", (folder / "second_label.1.md").read_text(), rules)


def classified(row: Row) -> FollowUp:
    """The follow-up of a label row as a rather poor classifier would have read it."""
    return FollowUp(
        conversation_id=row["conversation_id"],
        turn=row["turn"],
        subject="",
        reference_type="standalone",
        form="none",
        pivot=False,
        returns=False,
        antecedent_turns=(),
        d_live=0,
        d_introduced=0,
        required_in_rewrite=(),
        forbidden_in_rewrite=(),
        d_stale=None,
        confidence=0.5,
    )


def gold_answer(row: Row, rows: dict[str, Row], transcript: Transcript) -> Row:
    """What a careful reader would answer, from the label."""
    turn = row["turn"]
    users = [each.number for each in transcript.turns[: turn - 1] if each.role == "user"]
    known = {n: rows.get(f"{transcript.id}#{n}", {}).get("subject") for n in users}
    same = {n for n in users if known[n] == row["subject"]}
    same = same - {users[-1]} if row["pivot"] else same | {users[-1]}
    if row["pivot"] and row["returns"] and not same:
        same = {users[0]}
    if row["pivot"] and not row["returns"]:
        same = set()
    query = row["reference_type"] != "not_a_query"
    missing = [{"what": "the thing the message points back to", "turn": n} for n in row["antecedent_turns"]]
    if row["reference_type"] == "unresolvable":
        missing = [{"what": "what it is about", "turn": 0}]
    aliases = row.get("aliases") or {}
    return {
        "analysis": f"The message is about {row['subject']}; its form follows from the turns it needs.",
        "is_query": query,
        "missing": missing if query else [],
        "form": row["form"] if query else "none",
        "subject": row["subject"],
        "same_subject_turns": sorted(same),
        "required": [{"term": t, "aliases": aliases.get(t, [])} for t in row["required_in_rewrite"]],
        "forbidden": [{"term": t, "aliases": aliases.get(t, [])} for t in row["forbidden_in_rewrite"]],
        "standalone_query": row.get("reference_rewrite") or "",
    }


def answers_by_message(transcripts: dict[str, Transcript], rows: dict[str, Row]) -> dict[str, str]:
    """The gold answer as text, by the message that asks for it."""
    return {
        user_message(transcripts[row["conversation_id"]], row["turn"]): json.dumps(
            gold_answer(row, rows, transcripts[row["conversation_id"]]), ensure_ascii=False
        )
        for row in rows.values()
    }


def asked_for(message: str) -> str:
    """The message without an earlier answer that was sent back with it."""
    return message.split("\n\nAn earlier answer was:")[0]


def distance(row: Row) -> int:
    return d_live(row["turn"], row["antecedent_turns"])
