"""The canonical shape of a conversation, and the small conversions that every format needs on the way to it."""

from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from typing import Any

from builder.core.hashing import digest

Row = dict[str, Any]

ID_FIELDS = (
    "conversation_id",
    "conv_id",
    "conversation_hash",
    "session_id",
    "thread_id",
    "chat_id",
    "dialogue_id",
    "id",
    "_id",
    "uuid",
)
_CITED_AS = ("id", "_id", "document_id", "doc_id", "passage_id", "source")
_MILLISECONDS = 1e11


class Malformed(Exception):
    """A record that cannot become a transcript.

    Attributes:
        reason: A fixed phrase that can be counted.
        detail: Field, value and remedy.
    """

    def __init__(self, reason: str, detail: str) -> None:
        self.reason = reason
        self.detail = detail
        super().__init__(f"{reason}: {detail}")


def shown(value: object) -> str:
    """`value` as it is shown in a message: at most 60 characters."""
    text = f'"{value}"' if isinstance(value, str) else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def misfit(kind: str, error: Exception, value: object) -> tuple[str, str]:
    """Reason, and field or value with the remedy, for a record that broke off a format's reader with `error`."""
    missing = isinstance(error, KeyError)
    what = f"a field is missing ({error})" if missing else f"a value is of another kind in {shown(value)}"
    return "unexpected shape", f"not the shape of {kind}: {what}; correct the record or set [read] format"


def is_messages(value: object, *names: str) -> bool:
    """Whether `value` is a list whose first entry is an object with all the fields `names`."""
    return (
        isinstance(value, list)
        and bool(value)
        and isinstance(value[0], dict)
        and all(n in value[0] for n in names)
    )


def text_id(value: object) -> str:
    """An id as text; "" when there is none.

    Raises:
        Malformed: It is neither text nor a whole number.
    """
    if value is None or value == "":
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise Malformed("no conversation id", f"conversation id is {shown(value)}; give text or a number")
    return str(value)


def find_id(value: Mapping[str, Any]) -> str:
    """The conversation id of a record, under the first known name that holds one; "" when none does."""
    for name in ID_FIELDS:
        if value.get(name) not in (None, ""):
            return text_id(value[name])
    return ""


def content_id(messages: list[Row]) -> str:
    """An id for a conversation that has none: a digest of what was said."""
    return "c_" + digest([[m.get("role"), m.get("content")] for m in messages])[:16]


def text_of(content: object, where: str) -> str:
    """The text of a message: itself, or the text parts of a list; a part that is no text becomes `[its type]`.

    Raises:
        Malformed: It is neither.
    """
    if isinstance(content, str):
        return content
    if isinstance(content, int | float) and not isinstance(content, bool):
        return str(content)
    if isinstance(content, dict) and isinstance(content.get("parts"), list):
        content = content["parts"]
    if isinstance(content, list):
        return "\n".join(_part(part, where) for part in content)
    raise Malformed(
        "message without text", f"{where} has content {shown(content)}; give text or a list of parts"
    )


def _part(part: object, where: str) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, dict):
        text = part.get("text", part.get("input_text"))
        if isinstance(text, str):
            return text
        if isinstance(part.get("type"), str):
            return f"[{part['type']}]"
    raise Malformed(
        "message without text", f"{where} has a part {shown(part)}; give a part with a type or a text"
    )


def citations_of(value: object, where: str) -> tuple[str, ...]:
    """Passage ids without repeats, in order: a list of ids or of objects with an id, or text with `;` or `|` between ids.

    Raises:
        Malformed: An entry has no id.
    """
    if not value:
        return ()
    if type(value) is list and set(map(type, value)) == {str}:
        return tuple(dict.fromkeys(value))
    if isinstance(value, str):
        value = [cell.strip() for cell in value.replace("|", ";").split(";") if cell.strip()]
    if not isinstance(value, list | tuple):
        raise Malformed(
            "citations without ids", f"{where} has citations {shown(value)}; give a list of passage ids"
        )
    return tuple(dict.fromkeys(_cited(entry, where) for entry in value))


def _cited(entry: object, where: str) -> str:
    if isinstance(entry, dict):
        entry = next((entry[name] for name in _CITED_AS if entry.get(name) not in (None, "")), None)
    if isinstance(entry, bool) or not isinstance(entry, str | int):
        raise Malformed("citations without ids", f"{where} cites {shown(entry)}; give the passage's id")
    return str(entry)


def iso_time(value: object) -> str:
    """A time as ISO 8601: text as it is, seconds or milliseconds since 1970 in UTC; "" when there is none."""
    if value is None or value == "" or isinstance(value, bool):
        return ""
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, int | float):
        seconds = value / 1000 if abs(value) > _MILLISECONDS else value
        try:
            return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")
        except (OverflowError, ValueError, OSError):
            raise Malformed(
                "time out of range", f"time is {shown(value)}; give seconds since 1970 or ISO 8601"
            ) from None
    return str(value)


def value_at(value: object, path: str) -> Any:
    """What stands under a dotted path (`payload.chat.0.text`); None when nothing does.

    A key that has dots in its own name is found before the path is taken apart.
    """
    if isinstance(value, dict) and path in value:
        return value[path]
    for step in path.split("."):
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and step.lstrip("-").isdigit() and -len(value) <= int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


def said(role: str, content: object) -> Row:
    """One message in the canonical shape."""
    return {"role": role, "content": content}


def one(conversation_id: str, messages: list[Row], **values: Any) -> Iterator[Row]:
    """One conversation in the canonical shape, as an iterator."""
    yield {"conversation_id": conversation_id, "messages": messages, **values}
