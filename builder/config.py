"""dataset.toml to frozen Settings: an unknown or impossible value is an error with the nearest known key."""

import re
import tomllib
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from builder.core.errors import USAGE, BuilderError, nearest, unknown_name
from builder.core.settings import RedactSettings, Settings, SynthesizeSettings


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
        raise BuilderError(
            str(path), "no such settings file", "give the path of a dataset.toml", USAGE
        ) from None
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise BuilderError(
            str(path), f"cannot be read ({reason})", "give the path of a dataset.toml", USAGE
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BuilderError(str(path), f"not TOML ({error})", "correct the line it names", USAGE) from None
    return with_values(Settings(), tables, str(path))


def with_values(settings: Settings, tables: dict[str, Any], where: str) -> Settings:
    """`settings` with the values of `tables` ({section: {key: value}}) in place of the old ones."""
    sections = {f.name: getattr(settings, f.name) for f in fields(Settings)}
    for name, table in tables.items():
        if name not in sections:
            _refuse(where, f"unknown section [{name}]", name, sections)
        if not isinstance(table, dict):
            raise BuilderError(
                where, f"{name} is not a section ({table!r})", f"write it as a table, [{name}]", USAGE
            )
        hints = get_type_hints(type(sections[name]))
        values = {}
        for key, value in table.items():
            if key not in hints:
                _refuse(where, f"[{name}] unknown key {key}", key, hints)
            values[key] = _value(value, hints[key], f"{where}: [{name}] {key}")
        sections[name] = replace(sections[name], **values)
    return replace(settings, **sections)


CHOICES: dict[tuple[str, str], tuple[str, ...]] = {
    ("redact", "kinds"): RedactSettings().kinds,
    ("classify", "method"): ("encoder", "rules"),
    ("adjudicate", "source"): ("none", "model", "review"),
    ("measure", "correction"): ("auto", "two_phase", "rogan_gladen", "uncorrected"),
    ("synthesize", "variants"): SynthesizeSettings().variants,
}
"""(section, key) -> the names it may hold: a misspelt one must not switch anything off in silence."""

_SET_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def check_settings(settings: Settings, where: str) -> None:
    """Refuse what a type cannot: unknown names, and a set name that is no plain folder name.

    Raises:
        BuilderError: One of them is wrong; it names the section, the key, the value and what is allowed.
    """
    for (section, key), known in CHOICES.items():
        value = getattr(getattr(settings, section), key)
        for name in (value,) if isinstance(value, str) else value:
            if name not in known:
                raise unknown_name(f"{where}: [{section}] {key}", "name", name, known)
    if not _SET_NAME.fullmatch(settings.set.name):
        raise BuilderError(
            f"{where}: [set] name",
            f'"{settings.set.name}" is no folder name',
            "use letters, digits, dots, dashes and underscores, a letter or digit first",
            USAGE,
        )


def _refuse(where: str, what: str, name: str, known: dict[str, Any]) -> None:
    close = nearest(name, known)
    fix = f"did you mean {close}?" if close else f"one of {', '.join(known)}"
    raise BuilderError(where, what, fix, USAGE)


_KINDS = {int: "an int", float: "a number", str: "a text in quotes", bool: "true or false"}


def _value(value: object, kind: Any, where: str) -> object:
    """`value` as the type that the settings dataclass declares."""
    if get_origin(kind) is tuple:
        inner = get_args(kind)[0]
        if isinstance(value, dict):
            return tuple(
                (str(k), _value(v, get_args(inner)[1], f"{where}.{k}")) for k, v in sorted(value.items())
            )
        if get_origin(inner) is tuple:
            raise BuilderError(
                where, f"expects a table, got {value!r}", "write key = value pairs under it", USAGE
            )
        listed = [value] if isinstance(value, inner) else value
        if not isinstance(listed, list):
            raise BuilderError(where, f"expects a list, got {value!r}", "put the values in [ ]", USAGE)
        return tuple(_value(v, inner, where) for v in listed)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise BuilderError(
            where, f"expects {kind.__name__}, got {value!r}", f"give {_KINDS.get(kind, kind.__name__)}", USAGE
        )
    if isinstance(value, int | float) and not isinstance(value, bool) and value < 0:
        raise BuilderError(where, f"is negative ({value})", "give 0 or more", USAGE)
    return value
