"""What a rewriter is shown, and what a design remembers of a conversation between two messages."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from builder.core.records import Entity, Turn
from builder.core.terms import SPACELESS

_WIDE = re.compile(f"[{SPACELESS}]")

FindEntities = Callable[[str], tuple[Entity, ...]]
"""The entities that a text names, each once, in order of mention."""

Embed = Callable[[Sequence[str]], Sequence[Sequence[float]]]
"""One vector for each text; cosines of vectors are all that is used of them."""


@dataclass(frozen=True, slots=True)
class Slot:
    """What is known of one entity of a conversation.

    Attributes:
        name: The entity.
        type: Its type; entities of one type can supersede each other.
        introduced: Turn that opened the slot.
        mentioned: Turn that referred to it last.
        status: live, stale, superseded or evicted.
    """

    name: str
    type: str
    introduced: int
    mentioned: int
    status: str


@dataclass(frozen=True, slots=True)
class Thread:
    """The turns of a conversation that are about one subject, wherever they stand.

    Attributes:
        turns: Their numbers, ascending.
        total: Sum of their unit vectors; answers count for less.
    """

    turns: tuple[int, ...]
    total: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class State:
    """A design's memory after some turn. An immutable value: stepping gives a new one.

    Attributes:
        turn: Number of the last turn taken in; 0 at the start.
        slots: One per entity, in order of introduction (liveness).
        segment_start: First turn of the current segment (segments).
        total: Sum of the unit vectors of the segment's user turns (segments).
        threads: One per subject, the one talked about last at the end (threads).
        needed: Turns that the message needs, from labels (oracle only: production cannot know them).
    """

    turn: int = 0
    slots: tuple[Slot, ...] = ()
    segment_start: int = 1
    total: tuple[float, ...] = ()
    threads: tuple[Thread, ...] = ()
    needed: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """What a rewriter said beside its query, for the designs that listen to it.

    Attributes:
        topic_shift: The message opens a new subject.
        entities: The entities that its query is about.
    """

    topic_shift: bool = False
    entities: tuple[Entity, ...] = ()


SAID_NOTHING = Report()


@dataclass(frozen=True, slots=True)
class Shown:
    """What a design shows of the history for one message.

    Attributes:
        turns: The turns shown, in order.
        entities: The slots shown.
        text: The rewriter's input as it would be sent.
        why: One line on how the choice was made.
        pass_through: The design sends the message on as it stands: no rewriter is called.
    """

    turns: tuple[Turn, ...]
    entities: tuple[Slot, ...]
    text: str
    why: str
    pass_through: bool = False


Show = Callable[[Sequence[Turn], str, State], Shown]
Step = Callable[[State, Turn, Report], State]


def keep_turn(state: State, turn: Turn, _report: Report) -> State:
    """The step of a design that remembers nothing but where it is."""
    return replace(state, turn=turn.number)


@dataclass(frozen=True, slots=True)
class Design:
    """A way to choose what a rewriter sees.

    Attributes:
        name: The name it was made by, argument included.
        show: (prefix turns, latest message, state) -> Shown; pure.
        step: (state, turn, report) -> the state after that turn; pure.
        listens: Its state is filled by what the rewriter reports on each user turn, so each must be rewritten.
        summary: One line for tables.
    """

    name: str
    show: Show
    step: Step = keep_turn
    listens: bool = False
    summary: str = ""


def lay_out(
    latest: str, turns: Sequence[Turn] = (), entities: Sequence[Slot] | None = None, instruction: str = ""
) -> str:
    """The rewriter's input: instruction, live entities, recent turns, latest message; empty sections are left out.

    `entities` is None for designs without slots; an empty table of slots is shown as such, since "nothing is live"
    is itself a fact about scope.
    """
    parts = [instruction] if instruction else []
    if entities is not None:
        lines = [f"- {slot.name} ({slot.type}), last named in turn {slot.mentioned}" for slot in entities]
        parts.append("\n".join(["Entities in scope:", *(lines or ["- none"])]))
    if turns:
        heading = "Recent turns:" if entities is not None else "Conversation:"
        parts.append(
            "\n".join([heading, *(f"[{turn.number}] {turn.role}: {turn.content}" for turn in turns)])
        )
    parts.append(f"Latest message: {latest}")
    return "\n\n".join(parts)


def estimate_tokens(text: str) -> int:
    """Tokens of `text` by rule: four characters each, or one each in scripts written without spaces.

    A model's own count, where there is one, replaces it; the rule is within some 15% for English prose.
    """
    wide = len(_WIDE.findall(text))
    return wide + -(-(len(text) - wide) // 4)
