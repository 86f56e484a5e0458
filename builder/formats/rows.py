"""Tables with one message per record, and the mapping of any other export: fields named in the settings."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from zlib import crc32

from builder.core.located import Located, Part
from builder.core.records import Dropped
from builder.formats.shape import ID_FIELDS, Malformed, Row, find_id, one, shown, text_id, value_at

COLUMNS: dict[str, tuple[str, ...]] = {
    "conversation_id": (*ID_FIELDS[:-3], "convo_id", "dialog_id", "conversation", "session", "thread"),
    "role": ("role", "speaker", "sender", "author", "from", "participant"),
    "content": ("content", "text", "message", "utterance", "body", "value"),
    "order": (
        "order",
        "position",
        "message_index",
        "turn_index",
        "turn_number",
        "turn",
        "index",
        "seq",
        "sequence",
    ),
    "at": ("at", "timestamp", "created_at", "sent_at", "time", "date"),
    "citations": ("citations", "sources"),
    "language": ("language", "lang"),
}
"""What a column holds -> names it goes by, the likeliest first."""
_NEEDED = ("conversation_id", "role", "content")


def is_row(value: Any) -> bool:
    """A flat record with a conversation id, a role and a text."""
    return isinstance(value, dict) and all(_column(value, name) for name in _NEEDED)


def _column(value: Mapping[str, Any], name: str) -> str:
    return next((column for column in COLUMNS[name] if column in value), "")


@dataclass(slots=True)
class _Open:
    """A conversation whose rows are still coming in."""

    where: str
    position: int
    known_id: str
    rows: list[tuple[Any, Any, Row]] = field(default_factory=list)
    language: Any = None


Grouped = tuple[Located, Row]


def group_rows(
    records: Iterable[Located | Dropped], fields: Mapping[str, str], part: Part
) -> Iterator[Grouped | Dropped]:
    """One conversation per id, its rows in order, wherever they stood; a row without an id is dropped alone.

    Rows are ordered by the order column when every row of the conversation has one, then by time, then as they stand.

    Args:
        records: Rows.
        fields: Columns that the settings name; the others are found by their usual names.
        part: Which conversations are meant.
    """
    opened: dict[str, _Open] = {}
    columns = _Columns(fields)
    for record in records:
        if isinstance(record, Dropped):
            if part.index == 0:
                yield record
            continue
        try:
            conversation, row = columns.read(record.value)
        except Malformed as fault:
            if part.index == 0:
                yield Dropped(record.where, "read", fault.reason, fault.detail, shown(record.value))
            continue
        if part.parts > 1 and crc32(conversation.encode()) % part.parts != part.index:
            continue
        group = opened.get(conversation)
        if group is None:
            group = opened[conversation] = _Open(record.where, record.position, record.known_id)
        group.rows.append(row)
        group.language = group.language or columns.value(record.value, "language")
    for conversation, group in opened.items():
        messages = [message for _, _, message in sorted_rows(group.rows)]
        place = Located(group.where, None, group.position)
        yield place, {"conversation_id": conversation, "messages": messages, "language": group.language}


@dataclass(slots=True)
class _Columns:
    """Reads rows; remembers which column holds what for each set of keys it has met."""

    fields: Mapping[str, str]
    _known: dict[tuple[str, ...], dict[str, str]] = field(default_factory=dict)

    def value(self, value: Mapping[str, Any], name: str) -> Any:
        """The value of one field; None when the row has none."""
        if name in self.fields:
            return value_at(value, self.fields[name])
        keys = tuple(value)
        if keys not in self._known:
            self._known[keys] = {known: _column(value, known) for known in COLUMNS}
        return value.get(self._known[keys][name])

    def read(self, value: Any) -> tuple[str, tuple[Any, Any, Row]]:
        """(conversation id, (order, time, message)) of a row."""
        if not isinstance(value, dict):
            raise Malformed(
                "unexpected shape", f"row is {shown(value)}; give an object or a table row with a header"
            )
        conversation = text_id(self.value(value, "conversation_id"))
        if not conversation:
            raise Malformed(
                "no conversation id",
                f"fields are {shown(', '.join(map(str, value)))}; give each message the id of its conversation",
            )
        at = self.value(value, "at")
        message = {
            "role": self.value(value, "role"),
            "content": self.value(value, "content"),
            "citations": self.value(value, "citations"),
            "at": at,
        }
        return conversation, (self.value(value, "order"), at, message)


def sorted_rows(rows: list[tuple[Any, Any, Row]]) -> list[tuple[Any, Any, Row]]:
    """Rows (order, time, message) by order, then time, as far as every row has them; equal ones as they stand."""
    by_time = _keys([at for _, at, _ in rows], _moment)
    by_order = _keys([order for order, _, _ in rows], float)
    return [rows[n] for n in sorted(range(len(rows)), key=lambda n: (by_order[n], by_time[n]))]


def _keys(values: list[Any], number: Callable[[Any], float]) -> list[Any]:
    if any(value in (None, "") for value in values):
        return [0] * len(values)
    try:
        return [number(value) for value in values]
    except (TypeError, ValueError):
        return [str(value) for value in values]


def _moment(value: Any) -> float:
    if isinstance(value, int | float):
        return float(value)
    moment = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def from_mapped(value: Any, fields: Mapping[str, str]) -> Iterator[Row]:
    """One conversation of an export whose fields the settings name; paths inside a message start at the message.

    Raises:
        Malformed: There is no list of messages where the settings say.
    """
    path = fields["messages"]
    listed = value_at(value, path)
    if not isinstance(listed, list):
        raise Malformed(
            "no messages", f"field {path} is {shown(listed)}; correct messages under [read.fields]"
        )
    named = {name: fields.get(name, name) for name in ("role", "content", "citations", "at")}
    messages = []
    for entry in listed:
        row = {name: value_at(entry, place) for name, place in named.items()}
        messages.append((value_at(entry, fields["order"]) if "order" in fields else None, row["at"], row))
    if "order" in fields:
        messages = sorted_rows(messages)
    conversation = value_at(value, fields["conversation_id"]) if "conversation_id" in fields else None
    known = (
        text_id(conversation)
        if "conversation_id" in fields
        else find_id(value)
        if isinstance(value, dict)
        else ""
    )
    language = value_at(value, fields["language"]) if "language" in fields else None
    yield from one(known, [row for _, _, row in messages], language=language)
