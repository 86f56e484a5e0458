"""read: records of an export in any known format in, transcripts out; a record that cannot be read is dropped alone."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from builder.core.errors import BuilderError, unknown_name
from builder.core.hashing import canonical_json
from builder.core.identity import Outline, said_digest
from builder.core.located import WHOLE, Located, Part
from builder.core.records import Dropped, Transcript, Turn
from builder.core.rows import synthesis_from_row
from builder.core.settings import ReadSettings
from builder.formats import chat, dialogues, rows, search, shape
from builder.formats.shape import Malformed, Row, citations_of, content_id, iso_time, shown, text_id, text_of

Made = TypeVar("Made")

STAGE = "read"
ROLES = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "tool": "tool",
    "developer": "system",
    "function": "tool",
}
"""Role names that mean the same in every format, in small letters."""
COUNTED = ("user", "assistant")
ROWS = "rows"
MAPPED = "mapped"
_EXCERPT = 200


@dataclass(frozen=True, slots=True)
class Format:
    """A format of exports.

    Attributes:
        recognises: Whether a record has this format's shape.
        convert: A record to conversations in the canonical shape; None for tables, whose rows are grouped first.
        roles: Its role names, in small letters, beside `ROLES`.
    """

    recognises: Callable[[Any], bool]
    convert: Callable[[Any], Iterator[Row]] | None
    roles: Mapping[str, str] = field(default_factory=dict)


FORMATS: dict[str, Format] = {
    "canonical": Format(chat.is_canonical, chat.from_canonical),
    "sharegpt": Format(chat.is_sharegpt, chat.from_sharegpt, chat.SHAREGPT_ROLES),
    "mtrag": Format(search.is_mtrag, search.from_mtrag, search.SPEAKERS),
    "cast": Format(search.is_cast, search.from_cast),
    "ikat": Format(search.is_ikat, search.from_ikat),
    "sgd": Format(dialogues.is_sgd, dialogues.from_sgd, dialogues.SGD_ROLES),
    "gecor": Format(dialogues.is_gecor, dialogues.from_gecor),
    "abcd": Format(dialogues.is_abcd, dialogues.from_abcd, dialogues.ABCD_ROLES),
    "tau-bench": Format(chat.is_tau, chat.from_tau),
    "tau-bench-text": Format(chat.is_tau_text, chat.from_tau_text),
    "followup": Format(dialogues.is_pair, dialogues.from_pair),
    ROWS: Format(rows.is_row, None),
}
"""Name of a format -> how it is known and read. The first that recognises a record is its format."""


def detect_format(values: Sequence[Any], settings: ReadSettings) -> str:
    """The format of an export by its first records: the one most of them have; "" when none is known.

    `settings.format` overrides it; named fields without a format make it `mapped` (or `rows`, when none names messages).

    Raises:
        BuilderError: `settings.format` is no known format, or a role is mapped to something that is no role.
    """
    _check(settings)
    if settings.format:
        return settings.format
    if settings.fields:
        return MAPPED if "messages" in dict(settings.fields) else ROWS
    found = Counter(
        name
        for value in values
        if (name := next((n for n, kind in FORMATS.items() if kind.recognises(value)), ""))
    )
    best = max(found, key=lambda name: found[name], default="")
    # Rows without a header have no names to go by: most of them must look like the format.
    unsure = best and isinstance(values[0], list) and 2 * found[best] <= len(values)
    return "" if unsure else best


def _check(settings: ReadSettings) -> None:
    names = [*FORMATS, MAPPED]
    if settings.format and settings.format not in names:
        raise unknown_name("[read] format", "format", settings.format, names)
    if settings.format == MAPPED and "messages" not in dict(settings.fields):
        raise BuilderError(
            "[read.fields]",
            "messages is not named",
            'give the path of the list of messages, such as messages = "log.turns"',
        )
    for name, role in settings.roles:
        if role not in ROLES.values():
            raise BuilderError(
                "[read.roles]", f'{name} is mapped to "{role}"', "give user, assistant, system or tool"
            )


def read_transcripts(
    records: Iterable[Located | Dropped], kind: str, settings: ReadSettings, part: Part = WHOLE
) -> Iterator[Transcript | Dropped]:
    """A transcript for each conversation among `records`, or what was dropped and why.

    Args:
        records: Records of one export (of all tables of the log together, for rows).
        kind: Name of the format, from `detect_format`.
        settings: Role and field names.
        part: Which conversations of a table are meant.
    """
    for _, result in read_placed(records, kind, settings, part):
        yield result


def read_placed(
    records: Iterable[Located | Dropped], kind: str, settings: ReadSettings, part: Part = WHOLE
) -> Iterator[tuple[int, Transcript | Dropped]]:
    """What `read_transcripts` gives, each with the position of the record it came from (-1 when that is not known)."""
    return _read(records, kind, settings, part, _transcript)


def read_outlines(
    records: Iterable[Located | Dropped], kind: str, settings: ReadSettings, part: Part = WHOLE
) -> Iterator[tuple[int, Outline | Dropped]]:
    """The outlines of what `read_placed` gives, checked just the same, without the cost of making every turn."""
    return _read(records, kind, settings, part, _outline)


def _read(
    records: Iterable[Located | Dropped],
    kind: str,
    settings: ReadSettings,
    part: Part,
    make: Callable[[Row, Located, Mapping[str, str]], Made],
) -> Iterator[tuple[int, Made | Dropped]]:
    fields = dict(settings.fields)
    roles = _role_names(settings, kind)
    if kind == ROWS:
        for group in rows.group_rows(records, fields, part):
            if isinstance(group, Dropped):
                yield -1, group
            else:
                yield group[0].position, _attempt(make, group[1], group[0], roles)
        return
    convert = _converter(kind, fields)
    for record in records:
        if isinstance(record, Dropped):
            yield -1, record
            continue
        try:
            for row in convert(record.value):
                yield record.position, _attempt(make, row, record, roles)
        except Malformed as fault:
            yield record.position, _dropped(record, fault.reason, fault.detail, record.value)
        except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
            yield record.position, _dropped(record, *shape.misfit(kind, error, record.value), record.value)


def _converter(kind: str, fields: Mapping[str, str]) -> Callable[[Any], Iterator[Row]]:
    if kind == MAPPED:
        return lambda value: rows.from_mapped(value, fields)
    convert = FORMATS[kind].convert
    assert convert is not None
    return convert


def _role_names(settings: ReadSettings, kind: str) -> dict[str, str]:
    own = FORMATS[kind].roles if kind in FORMATS else {}
    return {**ROLES, **own, **{name.lower(): role for name, role in settings.roles}}


def _attempt(
    make: Callable[[Row, Located, Mapping[str, str]], Made],
    row: Row,
    record: Located,
    roles: Mapping[str, str],
) -> Made | Dropped:
    try:
        return make(row, record, roles)
    except Malformed as fault:
        return _dropped(record, fault.reason, fault.detail, record.value if record.value is not None else row)


def _dropped(record: Located, reason: str, detail: str, value: Any) -> Dropped:
    return Dropped(record.where, STAGE, reason, detail, _start_of(value))


def _start_of(value: Any) -> str:
    """The first characters of a record, for people who look for it."""
    try:
        return canonical_json(value)[:_EXCERPT]
    except (TypeError, ValueError):
        return repr(value)[:_EXCERPT]


def _transcript(row: Row, record: Located, roles: Mapping[str, str]) -> Transcript:
    listed = _messages(row)
    turns: list[Turn] = []
    number = 0
    for place, message in enumerate(listed, start=1):
        turn = _turn(message, place, number + 1, roles)
        number += turn.number > 0
        turns.append(turn)
    known = text_id(row["conversation_id"]) or record.known_id or content_id(listed)
    started = row.get("started_at")
    return Transcript(
        known,
        tuple(turns),
        iso_time(started) if started else turns[0].at,
        _text(row, "language"),
        _text(row, "source"),
        synthesis_from_row(row["synthesis"]) if row.get("synthesis") else None,
    )


def _outline(row: Row, record: Located, roles: Mapping[str, str]) -> Outline:
    listed = _messages(row)
    said: list[str] = []
    for place, message in enumerate(listed, start=1):
        said += _said(message, place, roles)
        if cited := message.get("citations"):
            citations_of(cited, f"message {place}")
        if at := message.get("at"):
            iso_time(at)
    if row.get("started_at"):
        iso_time(row["started_at"])
    known = text_id(row["conversation_id"]) or record.known_id or content_id(listed)
    return Outline(known, said[::2].count("user"), said_digest(said))


def _messages(row: Row) -> list[Any]:
    listed: list[Any] = row["messages"]
    if not listed:
        raise Malformed("no messages", "the conversation has no messages; remove it or check the export")
    return listed


def _text(row: Row, name: str) -> str:
    value = row.get(name)
    return value if isinstance(value, str) else ""


def _turn(message: Any, place: int, number: int, roles: Mapping[str, str]) -> Turn:
    role, content = _said(message, place, roles)
    cited = message.get("citations")
    at = message.get("at")
    return Turn(
        number if role in COUNTED else 0,
        role,
        content,
        citations_of(cited, f"message {place}") if cited else (),
        iso_time(at) if at else "",
    )


def _said(message: Any, place: int, roles: Mapping[str, str]) -> tuple[str, str]:
    """(role, text) of a message."""
    try:
        role = roles[message["role"]]
        content = message["content"]
    except (KeyError, TypeError):
        role, content = _role(message, place, roles), None
    return (role, content) if type(content) is str else _without_text(message, role, place)


def _role(message: Any, place: int, roles: Mapping[str, str]) -> str:
    """The role of a message whatever its case."""
    if not isinstance(message, dict):
        detail = f"message {place} is {shown(message)}; give an object with role and content"
        raise Malformed("unexpected shape", detail)
    given = message.get("role")
    role = roles.get(given.strip().lower()) if isinstance(given, str) else None
    if role is None:
        fix = "map it under [read.roles] to user, assistant, system or tool"
        raise Malformed("unknown role", f"message {place} has role {shown(given)}; {fix}")
    return role


def _without_text(message: Mapping[str, Any], role: str, place: int) -> tuple[str, str]:
    """(role, text) of a message whose content is no plain text: a call of a tool was not said, so it is no turn."""
    content = message.get("content", message.get("text"))
    if content is not None:
        return role, text_of(content, f"message {place}")
    calls = message.get("tool_calls") or message.get("function_call")
    if calls:
        return "tool", canonical_json(calls)
    if isinstance(message.get("refusal"), str):
        return role, message["refusal"]
    if role not in COUNTED:
        return role, ""
    raise Malformed("message without text", f"message {place} ({role}) has no content; give its text")
