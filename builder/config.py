"""dataset.toml to frozen Settings: an unknown or impossible value is an error with the nearest known key."""

import tomllib
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from builder.core.errors import BuilderError, nearest
from builder.core.settings import Settings


def load_settings(path: Path | None) -> Settings:
    """The settings in `path`, or the defaults when it is None.

    Raises:
        BuilderError: The file does not exist or is not TOML, or a section, key or value is not known.
    """
    if path is None:
        return Settings()
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BuilderError(str(path), "no such settings file", "give the path of a dataset.toml") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BuilderError(str(path), f"not TOML ({error})", "correct the line it names") from None
    return with_values(Settings(), tables, str(path))


def with_values(settings: Settings, tables: dict[str, Any], where: str) -> Settings:
    """`settings` with the values of `tables` ({section: {key: value}}) in place of the old ones."""
    sections = {f.name: getattr(settings, f.name) for f in fields(Settings)}
    for name, table in tables.items():
        if name not in sections:
            _refuse(where, f"unknown section [{name}]", name, sections)
        if not isinstance(table, dict):
            raise BuilderError(
                where, f"{name} is not a section ({table!r})", f"write it as a table, [{name}]"
            )
        hints = get_type_hints(type(sections[name]))
        values = {}
        for key, value in table.items():
            if key not in hints:
                _refuse(where, f"[{name}] unknown key {key}", key, hints)
            values[key] = _value(value, hints[key], f"{where}: [{name}] {key}")
        sections[name] = replace(sections[name], **values)
    return replace(settings, **sections)


def _refuse(where: str, what: str, name: str, known: dict[str, Any]) -> None:
    close = nearest(name, known)
    raise BuilderError(where, what, f"did you mean {close}?" if close else f"one of {', '.join(known)}")


def _value(value: object, kind: Any, where: str) -> object:
    """`value` as the type that the settings dataclass declares."""
    if get_origin(kind) is tuple:
        inner = get_args(kind)[0]
        if isinstance(value, dict):
            return tuple(
                (str(k), _value(v, get_args(inner)[1], f"{where}.{k}")) for k, v in sorted(value.items())
            )
        if get_origin(inner) is tuple:
            raise BuilderError(where, f"expects a table, got {value!r}", "write key = value pairs under it")
        listed = [value] if isinstance(value, inner) else value
        if not isinstance(listed, list):
            raise BuilderError(where, f"expects a list, got {value!r}", "put the values in [ ]")
        return tuple(_value(v, inner, where) for v in listed)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise BuilderError(where, f"expects {kind.__name__}, got {value!r}", f"give a {kind.__name__}")
    if isinstance(value, int | float) and not isinstance(value, bool) and value < 0:
        raise BuilderError(where, f"is negative ({value})", "give 0 or more")
    return value
