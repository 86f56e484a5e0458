"""A follow-up in its conversation: what its labels say about each earlier turn, read once for all of its words."""

from collections.abc import Mapping
from dataclasses import dataclass

from builder.core.records import Reading
from builder.text.cues import read_cues
from builder.text.scene import Scene, TurnWords, answer_after, lists_in
from builder.text.subjects import thread_at

STEM = 5
"""First letters that stand for a word's stem."""


@dataclass(frozen=True, slots=True)
class Place:
    """A follow-up in its scene, with what its labels say about each earlier turn.

    Attributes:
        scene: The conversation.
        reading: The follow-up's labels.
        follow_up: Its words.
        antecedents: Words of the antecedent turns.
        answer: Words of the answer that followed; None when there is none.
        stems: First letters of the answer's words.
        same: Numbers of earlier turns with the follow-up's subject.
        other: Numbers of earlier turns with another subject.
        users: Numbers of earlier user turns.
        lists: Turn -> key -> facts of the list that the word stands in there.
        facts: Facts of the follow-up as a whole.
    """

    scene: Scene
    reading: Reading
    follow_up: TurnWords
    antecedents: tuple[TurnWords, ...]
    answer: TurnWords | None
    stems: frozenset[str]
    same: frozenset[int]
    other: frozenset[int]
    users: tuple[int, ...]
    lists: Mapping[int, Mapping[str, tuple[float, ...]]]
    facts: tuple[float, ...]


def place(scene: Scene, reading: Reading, threads: Mapping[int, int]) -> Place:
    """The follow-up of `reading` in its scene; `threads` maps user turns to their threads."""
    own = threads.get(reading.turn, reading.thread)
    known = {n: t for n, t in threads.items() if n <= reading.turn}
    same = frozenset(n for n in range(1, reading.turn) if thread_at(n, known) == own)
    follow_up, answer = scene.at(reading.turn), answer_after(scene, reading.turn)
    antecedents = tuple(scene.at(n) for n in reading.antecedent_turns)
    position = read_cues(follow_up.turn.content, scene.lex).position
    shown = {turn.turn.number: turn for turn in (*antecedents, scene.at(reading.turn - 1))}
    return Place(
        scene,
        reading,
        follow_up,
        antecedents,
        answer,
        frozenset(key[:STEM] for key in answer.counts) if answer else frozenset(),
        same,
        frozenset(range(1, reading.turn)) - same,
        tuple(n for n in range(1, reading.turn) if scene.at(n).turn.role == "user"),
        {number: _list_facts(turn, position, answer) for number, turn in shown.items()},
        _whole_facts(scene, reading, follow_up, antecedents, answer),
    )


def _whole_facts(
    scene: Scene,
    reading: Reading,
    follow_up: TurnWords,
    antecedents: tuple[TurnWords, ...],
    answer: TurnWords | None,
) -> tuple[float, ...]:
    held = {key for turn in antecedents for key in turn.counts}
    share = sum(k in held for k in answer.counts) / max(len(answer.counts), 1) if answer and held else 0.0
    return (
        float(answer is not None),
        float(len(follow_up.words)),
        float(reading.pivot),
        float(reading.returns),
        float(min(max((reading.turn - n for n in reading.antecedent_turns), default=0), 12)),
        *(
            float(reading.form == form)
            for form in ("ordinal", "pronoun", "ellipsis", "definite", "carryover")
        ),
        float(len(reading.antecedent_turns)),
        float(sum(key in scene.names for key in follow_up.counts)),
        share,
    )


def _list_facts(turn: TurnWords, position: int, answer: TurnWords | None) -> dict[str, tuple[float, ...]]:
    """Key -> (selected, listed, size, place, in the answer, siblings in the answer) for the names a turn lists."""
    answered = {m.entity.name for m in answer.mentions} if answer else set()
    found: dict[str, tuple[float, ...]] = {}
    for listed in lists_in(turn):
        names = [mention.entity.name for mention in listed]
        n_answered = sum(name in answered for name in names)
        for key, mention in turn.entities.items():
            if key not in found and mention.entity.name in names:
                at = names.index(mention.entity.name) + 1
                is_answered = mention.entity.name in answered
                chosen = position != 0 and position in (at, at - len(names) - 1)
                found[key] = (
                    float(chosen),
                    1.0,
                    float(len(names)),
                    float(at),
                    float(is_answered),
                    float(n_answered - is_answered),
                )
    return found
