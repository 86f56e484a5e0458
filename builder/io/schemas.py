"""The contract with the outside: what a JSON Schema of schemas/ says of a value, each fault with its remedy."""

from functools import cache
from typing import Any

from builder.core.errors import Problem, nearest
from builder.core.wording import by_number
from builder.io.resources import schemas_folder
from builder.io.store import read_json

_SHOWN = 80


@cache
def _validator(kind: str) -> Any:
    from jsonschema import Draft202012Validator

    schema = read_json(schemas_folder() / f"{kind}.json", "schema")
    return Draft202012Validator(schema)


def schema(kind: str) -> Any:
    """The schema called `kind`: transcript, follow_up, item, quotas, manifest, run or review."""
    return _validator(kind).schema


def schema_problems(kind: str, value: Any, where: str) -> list[Problem]:
    """Every fault of `value` against the schema called `kind`, in order of place."""
    errors = sorted(
        _validator(kind).iter_errors(value), key=lambda error: (by_number(error.json_path), error.message)
    )
    problems = []
    for error in errors:
        problems += _explain(error, where)
    return problems


def _explain(error: Any, where: str) -> list[Problem]:
    path = error.json_path.removeprefix("$").removeprefix(".")
    place = f"{where}: {path}" if path else where
    if error.validator == "required":
        missing = [name for name in error.validator_value if name not in error.instance]
        # One error stands for each missing field; the message names which.
        name = next(name for name in missing if f"'{name}'" in error.message)
        return [Problem(place, f'lacks the field "{name}"', _meaning(error, name))]
    if error.validator == "additionalProperties" and error.validator_value is False:
        known = error.schema.get("properties", {})
        extra = sorted(name for name in error.instance if name not in known)
        return [Problem(place, f'unknown field "{name}"', _did_you_mean(name, known)) for name in extra]
    what, fix = _value_fault(error)
    return [Problem(place, what, fix)]


def _meaning(error: Any, name: str) -> str:
    about = error.schema.get("properties", {}).get(name, {}).get("description", "")
    hint = f" ({about.rstrip('.')})" if about else ""
    return (
        f"add it{hint}; `followups upgrade` fills in what can be derived"
        if _is_item(error)
        else f"add it{hint}"
    )


def _is_item(error: Any) -> bool:
    return bool(error.schema.get("title") == "Item")


def _did_you_mean(name: str, known: Any) -> str:
    close = nearest(name, known)
    return f"did you mean {close}?" if close else f"remove it; known are {', '.join(known)}"


def _value_fault(error: Any) -> tuple[str, str]:
    shown = _shown(error.instance)
    rule, wanted = error.validator, error.validator_value
    if rule == "enum":
        return f"is {shown}", f"one of {', '.join(map(str, wanted))}"
    if rule == "type":
        names = wanted if isinstance(wanted, str) else " or ".join(wanted)
        return f"is {shown}", f"give a value of type {names}"
    if rule in ("minimum", "maximum"):
        return f"is {shown}", f"give a number of {'at least' if rule == 'minimum' else 'at most'} {wanted}"
    if rule in ("minItems", "minLength"):
        return f"is {shown}", f"give at least {wanted} {'entry' if rule == 'minItems' else 'character'}"
    if rule == "uniqueItems":
        return f"lists an entry twice ({shown})", "list each entry once"
    if rule == "pattern":
        blank = isinstance(error.instance, str) and not error.instance.strip()
        return f"is {shown}", "give some text" if blank else f"must match {wanted}"
    return f"is {shown} ({error.message[:_SHOWN]})", "see the schema"


def _shown(value: Any) -> str:
    import json

    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
