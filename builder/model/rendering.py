"""What the encoder reads for one follow-up: the message, then the earlier turns, newest first, each marked."""

from collections.abc import Sequence
from dataclasses import dataclass

from builder.core.records import Transcript, Turn
from builder.model.pieces import Vocabulary, shorten, shorten_message

CLS, SEP = 101, 102
_USER_MARKS, _ASSISTANT_MARKS = 1, 31
N_MARKS = 60
"""Piece ids 1 to 60 are marks that tell a turn's role and distance: 1 to 15 for user turns, 31 to 45 for assistant turns."""

ROOM = 192
_FOLLOW_UP_ROOM = 56
_NEAR_USER, _FAR_USER, _FARTHEST_USER = 40, 24, 14
_ASSISTANT_ROOM = (60, 28)
_FAR_ASSISTANT = 14

N_TURN_FACTS = 8
N_GLOBAL_FACTS = 8


@dataclass(frozen=True, slots=True)
class Rendering:
    """One follow-up as the encoder's input.

    Attributes:
        turn: The follow-up's turn number.
        ids: Piece ids: [CLS], the follow-up, [SEP], then each earlier turn behind its mark.
        kinds: 1 for a content piece that the follow-up and an earlier turn share, else 0.
        follow_up_end: Position of the [SEP] after the follow-up.
        marks: Position of each seen turn's mark, newest turn first.
        seen: Number of each seen turn, newest first.
        turn_facts: Surface facts of each seen turn, in the same order.
        global_facts: Surface facts of the follow-up.
        unseen: Earlier turns that there was no room for, ascending.
    """

    turn: int
    ids: tuple[int, ...]
    kinds: tuple[int, ...]
    follow_up_end: int
    marks: tuple[int, ...]
    seen: tuple[int, ...]
    turn_facts: tuple[tuple[float, ...], ...]
    global_facts: tuple[float, ...]
    unseen: tuple[int, ...]


def render(transcript: Transcript, turn: int, vocabulary: Vocabulary) -> Rendering:
    """The input for the follow-up at `turn`: the last exchange finds room first, then user turns, then answers."""
    turns = transcript.turns
    pieces = {t.number: vocabulary.encode(t.content) for t in turns[:turn]}
    follow_up = shorten_message(pieces[turn], _FOLLOW_UP_ROOM)
    wanted = frozenset(pieces[turn]) & vocabulary.content
    history = {n: frozenset(pieces[n]) & vocabulary.content for n in range(1, turn)}
    shown = _fit(turns[: turn - 1], pieces, wanted, vocabulary, ROOM - len(follow_up) - 2)
    ids, marks, seen = [CLS, *follow_up, SEP], [], sorted(shown, reverse=True)
    for number in seen:
        marks.append(len(ids))
        ids.append(mark(turns[number - 1].role, turn - number))
        ids.extend(shown[number])
    end = len(follow_up) + 1
    said = frozenset().union(*history.values())
    kinds = [int(i in wanted and (at > end or i in said)) for at, i in enumerate(ids)]
    return Rendering(
        turn,
        tuple(ids),
        tuple(kinds),
        end,
        tuple(marks),
        tuple(seen),
        tuple(_turn_facts(turns, turn, number, wanted, history) for number in seen),
        _global_facts(turns, turn, wanted, history, len(pieces[turn])),
        tuple(n for n in range(1, turn) if n not in shown),
    )


def mark(role: str, distance: int) -> int:
    """The piece id that marks a turn: its role, and its distance up to 12, then in three coarse steps."""
    step = distance if distance <= 12 else 13 if distance <= 16 else 14 if distance <= 24 else 15
    return (_USER_MARKS if role == "user" else _ASSISTANT_MARKS) + step - 1


def _fit(
    earlier: Sequence[Turn],
    pieces: dict[int, tuple[int, ...]],
    wanted: frozenset[int],
    vocabulary: Vocabulary,
    room: int,
) -> dict[int, tuple[int, ...]]:
    """The pieces shown of each earlier turn, as far as `room` reaches."""
    shown: dict[int, tuple[int, ...]] = {}
    users = [t.number for t in reversed(earlier) if t.role == "user"]
    answers = [t.number for t in reversed(earlier) if t.role != "user"]
    for number in [*users[:1], *answers[:1], *users[1:], *answers[1:]]:
        is_user = number in users
        order = (users if is_user else answers).index(number)
        limit = min(_room_of(is_user, order), room - 1)
        if limit >= 8 or 0 < len(pieces[number]) <= limit:
            text = pieces[number]
            cut = shorten_message(text, limit) if is_user else shorten(text, limit, wanted, vocabulary.ends)
            shown[number], room = cut, room - len(cut) - 1
    return shown


def _room_of(is_user: bool, order: int) -> int:
    """Room for the turn that is `order` user (or assistant) turns back."""
    if is_user:
        return _NEAR_USER if order < 1 else _FAR_USER if order < 5 else _FARTHEST_USER
    return _ASSISTANT_ROOM[order] if order < len(_ASSISTANT_ROOM) else _FAR_ASSISTANT


def _turn_facts(
    turns: Sequence[Turn], turn: int, number: int, wanted: frozenset[int], history: dict[int, frozenset[int]]
) -> tuple[float, ...]:
    """Language-independent facts of one earlier turn against the follow-up; all in [0, 1]."""
    shared = wanted & history[number]
    later = frozenset().union(*(history[n] for n in range(number + 1, turn)))
    distance = turn - number
    return (
        float(turns[number - 1].role == "user"),
        min(distance, 16) / 16,
        float(distance >= 4),
        len(shared) / max(len(wanted), 1),
        min(len(shared), 4) / 4,
        len(shared - later) / max(len(wanted), 1),
        min(len(history[number]), 60) / 60,
        float(number <= 2),
    )


def _global_facts(
    turns: Sequence[Turn], turn: int, wanted: frozenset[int], history: dict[int, frozenset[int]], length: int
) -> tuple[float, ...]:
    """Language-independent facts of the follow-up; all in [0, 1]."""
    said = frozenset().union(*history.values())
    last_user = max(n for n in range(1, turn) if turns[n - 1].role == "user")
    recent = frozenset().union(*(history[n] for n in range(last_user, turn)))
    earlier = frozenset().union(*(history[n] for n in range(1, last_user)))
    size = max(len(wanted), 1)
    return (
        min(len(wanted), 16) / 16,
        min(length, 40) / 40,
        len(wanted - said) / size,
        len(wanted & recent) / size,
        len((wanted & earlier) - recent) / size,
        min(turn, 20) / 20,
        float(turns[turn - 1].content.rstrip().endswith(("?", "？"))),
        float(not wanted),
    )
