"""Counts with their noun, and places in the order of the numbers in them."""

import re

_NUMBER = re.compile(r"(\d+)")


def counted(n: int, noun: str) -> str:
    """`1 record`, `2 records`."""
    return f"{n} {noun}{'' if n == 1 else 's'}"


def by_number(text: str) -> list[str | int]:
    """A sort key under which `log:2` stands before `log:11`."""
    return [int(part) if n % 2 else part for n, part in enumerate(_NUMBER.split(text))]
