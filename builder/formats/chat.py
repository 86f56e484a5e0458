"""Chat exports: the canonical transcript (OpenAI-style messages), ShareGPT, and tau-bench's two formats."""

import re
from collections.abc import Iterator
from typing import Any

from builder.formats.shape import Malformed, Row, find_id, is_messages, one, said, shown

MESSAGES_FIELDS = ("messages", "conversation", "chat", "dialogue", "dialog")
SHAREGPT_ROLES = {
    "human": "user",
    "user": "user",
    "gpt": "assistant",
    "chatgpt": "assistant",
    "bing": "assistant",
    "bard": "assistant",
    "assistant": "assistant",
    "system": "system",
    "tool": "tool",
    "function": "tool",
    "function_call": "tool",
    "function_response": "tool",
    "observation": "tool",
}
_DISPLAYED = re.compile(r"^(user|assistant|tool|system): ", re.MULTILINE)


def is_canonical(value: Any) -> bool:
    """A list of {role, content} messages, bare or under one of `MESSAGES_FIELDS`."""
    if isinstance(value, dict):
        return any(is_messages(value.get(name), "role") for name in MESSAGES_FIELDS) or (
            "messages" in value and not (value["messages"] and isinstance(value["messages"], list))
        )
    return is_messages(value, "role")


def from_canonical(value: Any) -> Iterator[Row]:
    """The record itself, its fields under their canonical names."""
    if isinstance(value, list):
        return one("", value)
    for name in MESSAGES_FIELDS:
        if isinstance(value.get(name), list):
            return one(
                find_id(value),
                value[name],
                started_at=value.get("started_at") or value.get("created_at") or value.get("timestamp"),
                language=value.get("language"),
                source=value.get("source"),
                synthesis=value.get("synthesis"),
            )
    given = next((name for name in MESSAGES_FIELDS if name in value), "")
    if given:
        detail = f"field {given} is {shown(value[given])}; give a list of messages with role and content"
        raise Malformed("no messages", detail)
    names = ", ".join(value)
    raise Malformed("no messages", f"fields are {shown(names)}; give a list of messages under messages")


def is_sharegpt(value: Any) -> bool:
    """{conversations: [{from, value}]}."""
    return isinstance(value, dict) and is_messages(value.get("conversations"), "from", "value")


def from_sharegpt(value: Any) -> Iterator[Row]:
    """One conversation; `from` is the role."""
    messages = [
        said(message["from"], message["value"]) | {"citations": message.get("citations")}
        for message in value["conversations"]
    ]
    return one(find_id(value), messages, language=value.get("language"))


def is_tau(value: Any) -> bool:
    """{task_id, traj: [OpenAI messages]}."""
    return isinstance(value, dict) and is_messages(value.get("traj"), "role")


def from_tau(value: Any) -> Iterator[Row]:
    """One run of a task; its id is the task and the trial."""
    known = [f"{name}-{value[name]}" for name in ("task_id", "trial") if name in value]
    return one("-".join(known).replace("task_id", "task"), value["traj"])


def is_tau_text(value: Any) -> bool:
    """{messages_display: one text of lines that start with their role}."""
    return isinstance(value, dict) and isinstance(value.get("messages_display"), str)


def from_tau_text(value: Any) -> Iterator[Row]:
    """One conversation from its printed form; `assistant: None` is a tool call, not something said."""
    pieces = _DISPLAYED.split(value["messages_display"])
    messages = []
    for role, content in zip(pieces[1::2], pieces[2::2], strict=True):
        called = role == "assistant" and content.strip() == "None"
        messages.append(said("tool" if called else role, "" if called else content.removesuffix("\n")))
    return one(find_id(value), messages)
