"""What went wrong, where, and what to do about it: the one error type and its exit codes."""

from collections.abc import Iterable
from dataclasses import dataclass

OK = 0
ERROR = 1
USAGE = 2
GATE_FAILED = 3
INVALID_DATA = 4
DRIFT_OR_SHORT = 5
BUDGET_REACHED = 6


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One fault in data: its place, what is wrong (with the value), and the remedy."""

    where: str
    what: str
    fix: str

    def __str__(self) -> str:
        """`where: what; fix`, on one line."""
        return f"{self.where}: {self.what}; {self.fix}"


class BuilderError(Exception):
    """A mistake that a person can mend; printed as one sentence, never as a traceback.

    Attributes:
        problem: The place, the fault and the remedy.
        code: The exit code that the command line ends with.
        problems: Every further fault found in the same pass, in order of place.
    """

    def __init__(
        self, where: str, what: str, fix: str, code: int = ERROR, problems: Iterable[Problem] = ()
    ) -> None:
        self.problem = Problem(where, what, fix)
        self.code = code
        self.problems = tuple(problems)
        super().__init__(str(self.problem))


def nearest(name: str, known: Iterable[str]) -> str:
    """The known name that looks most like `name`, or "" when none is close."""
    from difflib import get_close_matches

    found = get_close_matches(name, list(known), n=1, cutoff=0.5)
    return found[0] if found else ""


def unknown_name(where: str, kind: str, name: str, known: Iterable[str]) -> BuilderError:
    """The error for a choice by name that does not exist; lists what does."""
    names = list(known)
    close = nearest(name, names)
    hint = f"did you mean {close}? " if close else ""
    return BuilderError(where, f'unknown {kind} "{name}"', f"{hint}one of {', '.join(names)}", USAGE)
