"""What a message lacks, by its wording, and which of the shown things fills the gap."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from builder.core.records import Entity, Turn
from builder.core.terms import key, occurs
from builder.scope.shown import FindEntities, Shown
from builder.scope.tongue import lexicon_for
from builder.scope.wording import SHORT, points_back, pronoun_points
from builder.text.cues import Cues, read_cues
from builder.text.entities import COMMON
from builder.text.lexicon import Lexicon
from builder.text.words import content_words

PLACES = frozenset({"region", "place", "location", "city", "country", "site", "building", "room"})
"""Types that "there" can stand for, where one is known."""

SUBJECT_WORDS = 2
"""Words of the last exchange's subject that stand in for what the message leaves out."""

MOST_WORDS = 6
"""Words of an earlier question that a fragment inherits at most."""


@dataclass(frozen=True, slots=True)
class _Scene:
    """What is shown, read: names by turn with the latest message's own apart, and the shown slots."""

    latest: str
    cues: Cues
    lex: Lexicon
    own: tuple[Entity, ...]
    turns: tuple[Turn, ...]
    named: tuple[tuple[Entity, ...], ...]
    slots: tuple[Entity, ...]
    find: FindEntities

    @property
    def own_types(self) -> frozenset[str]:
        return frozenset(entity.type for entity in self.own)

    def by_salience(self) -> list[Entity]:
        """Shown entities, the likeliest referent first: last question, last answer, the question before, ...; slots last."""
        ranked = [entity for named in reversed(_question_first(self.turns, self.named)) for entity in named]
        unique = {entity.name: entity for entity in (*ranked, *self.slots)}
        taken = {entity.name for entity in self.own}
        return [entity for name, entity in unique.items() if name not in taken]


def _question_first(turns: Sequence[Turn], named: Sequence[tuple[Entity, ...]]) -> list[tuple[Entity, ...]]:
    """Names by turn in order of weight: an answer weighs less than the question it answers."""
    order: list[tuple[Entity, ...]] = []
    for place, turn in enumerate(turns):
        is_answer = (
            turn.role == "assistant" and place and turns[place - 1].role == "user" and named[place - 1]
        )
        order.insert(len(order) - 1 if is_answer else len(order), named[place])
    return order


def missing_things(latest: str, shown: Shown, find: FindEntities) -> list[str]:
    """The terms that fill what `latest` lacks, taken from what is shown; empty when it lacks nothing or nothing fits.

    In the order of the taxonomy's forms: a selector takes the member of the list shown last; a pronoun the likeliest
    entity; a fragment what the question before it asked, or about what; a bare type or part of a name its bearer.
    """
    lex = lexicon_for(" ".join([latest, *(turn.content for turn in shown.turns)]))
    cues = read_cues(latest, lex)
    if cues.not_a_query or not (shown.turns or shown.entities):
        return []
    slots = tuple(Entity(slot.name, slot.type) for slot in sorted(shown.entities, key=lambda s: -s.mentioned))
    named = tuple(_names(find(turn.content)) for turn in shown.turns)
    scene = _Scene(latest, cues, lex, _names(find(latest)), tuple(shown.turns), named, slots, find)
    found: list[str] = []
    for term in _fill(scene):
        if not occurs(term, latest) and not any(occurs(term, other) for other in found):
            found.append(term)
    return found


def _names(entities: Iterable[Entity]) -> tuple[Entity, ...]:
    return tuple(entity for entity in entities if entity.type != COMMON)


def _fill(scene: _Scene) -> list[str]:
    cues = scene.cues
    if cues.selector:
        return _selected(scene)
    described = _described(scene)
    if pronoun_points(cues, bool(scene.own)):
        return [*(described or _referent(scene)), *_subject(scene)]
    if cues.pivot_marker:
        return described
    if points_back(cues, bool(scene.own)):
        return [*_continued(scene), *_subject(scene)]
    if described or (not scene.own and cues.n_content <= SHORT):
        return [*(described or _others(scene.by_salience(), ())), *_subject(scene)]
    return []


def _selected(scene: _Scene) -> list[str]:
    """The members chosen from the list shown last, and what was asked when the message does not say."""
    members, kind = _last_list(scene)
    position = scene.cues.position
    wording = scene.cues.selector
    chosen = members
    if "other" in wording or "rest" in wording or "remain" in wording:
        current = next((e.name for e in scene.by_salience() if e.type == kind), "")
        chosen = [name for name in members if name != current]
    elif position and members:
        place = position - 1 if position > 0 else len(members) - 1
        chosen = members[place : place + 1]
    asked = _asked(scene, {kind}) if scene.cues.n_content < 2 else []
    return [*chosen, *asked]


def _last_list(scene: _Scene) -> tuple[list[str], str]:
    """Names of one type that the most recent turn lists side by side, and their type; ([], "") when none does."""
    for named in reversed(scene.named):
        by_type: dict[str, list[str]] = {}
        for entity in named:
            by_type.setdefault(entity.type, []).append(entity.name)
        longest = max(by_type.items(), key=lambda pair: len(pair[1]), default=("", []))
        if len(longest[1]) > 1:
            return longest[1], longest[0]
    return [], ""


def _referent(scene: _Scene) -> list[str]:
    """What a pronoun stands for: the likeliest shown entity, a place for "there"; else the last question's words."""
    candidates = scene.by_salience()
    if scene.cues.pronoun_kind == "locatives":
        candidates = [e for e in candidates if e.type in PLACES] or candidates
    fresh = [entity for entity in candidates if entity.type not in scene.own_types] or candidates
    return [fresh[0].name] if fresh else _asked(scene, set())[:2]


def _described(scene: _Scene) -> list[str]:
    """The shown entity that the message names by its type or by a part of its name."""
    own = {word.key for word in content_words(scene.latest, scene.lex)}
    for entity in scene.by_salience():
        parts = key(entity.name).split()
        by_type = entity.type not in scene.own_types and key(entity.type.replace("_", " ")) in own
        by_part = len(parts) > 1 and not own.isdisjoint(parts) and not scene.own
        if by_type or by_part:
            return [entity.name]
    return []


def _continued(scene: _Scene) -> list[str]:
    """What a fragment inherits: the question when it brings a new member, the entity when it brings a new aspect."""
    shown = scene.by_salience()
    sibling, like = _sibling(scene)
    if sibling:
        return [sibling, *_asked(scene, {like})]
    siblings = {entity.type for entity in shown} & scene.own_types
    if scene.own and siblings:
        return [*_asked(scene, siblings), *_others(shown, scene.own_types)]
    if scene.cues.is_bare or not scene.cues.n_content:
        return [*_others(shown, set()), *_asked(scene, set())]
    return _others(shown, scene.own_types) or _asked(scene, scene.own_types)


def _subject(scene: _Scene) -> list[str]:
    """The words that the last shown exchange is about: those that question and answer share, else the first ones said.

    Names are left to the entities.
    """
    counts: Counter[str] = Counter()
    first: dict[str, tuple[int, int, str]] = {}
    for age, (turn, named) in enumerate(zip(scene.turns[-2:], scene.named[-2:], strict=True)):
        parts = {part for entity in named for part in key(entity.name).split()}
        for place, word in enumerate(content_words(turn.content, scene.lex)):
            if word.key in scene.lex.generic or word.key in parts or word.is_number:
                continue
            if first.get(word.key, (-1, 0, ""))[0] != age:
                counts[word.key] += 1
            first[word.key] = (age, first[word.key][1] if word.key in first else place, word.text)
    ranked = sorted(counts, key=lambda k: (-counts[k], first[k][1], k))
    return [first[k][2] for k in ranked][:SUBJECT_WORDS]


def _sibling(scene: _Scene) -> tuple[str, str]:
    """The entity that a word of the message makes of a shown one ("the reporting one" of "billing export"), and its type."""
    if scene.own:
        return "", ""
    for entity in scene.by_salience():
        parts = key(entity.name).split()
        for word in content_words(scene.latest, scene.lex) if len(parts) > 1 else ():
            for place in range(len(parts)):
                found = scene.find(" ".join([*parts[:place], word.key, *parts[place + 1 :]]))
                if len(found) == 1 and found[0].name != entity.name and found[0].type == entity.type:
                    return found[0].name, entity.type
    return "", ""


def _others(entities: Sequence[Entity], without: Iterable[str]) -> list[str]:
    taken = set(without)
    return [entity.name for entity in entities if entity.type not in taken][:1]


def _asked(scene: _Scene, without: Iterable[str]) -> list[str]:
    """Words of the last shown question that asks something by itself, less the names of the given types."""
    taken = set(without)
    for turn, named in zip(reversed(scene.turns), reversed(scene.named), strict=True):
        if turn.role != "user":
            continue
        dropped = {part for e in named if e.type in taken for part in key(e.name).split()}
        kept = [w.text for w in content_words(turn.content, scene.lex) if w.key not in dropped]
        if len(kept) > 1 or (kept and turn is scene.turns[0]):
            return kept[:MOST_WORDS]
    return []
