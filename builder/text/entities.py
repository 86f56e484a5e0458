"""The names a log is about: listed by the operator, or mined from the log itself; and where a text mentions them."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from builder.core.errors import INVALID_DATA, BuilderError
from builder.core.records import Catalogue, Entity, Passage, Transcript
from builder.core.terms import key
from builder.text.language import language_of
from builder.text.lexicon import Lexicon, lexicon
from builder.text.words import Word, is_content, words

COMMON = "common"
"""Type of a name that most conversations hold, such as the product's own: it tells no subject from another."""

_LONGEST = 5
_COMMON_SHARE = 0.3
_FEWEST_FOR_COMMON = 20
_BRACKETED = re.compile(
    r"([^\W\d_][\w.&+/-]*(?: [\w.&+/-]+){0,3}) ?\(([^()\s]{2,24}(?: [^()\s]{1,20}){0,2})\)"
)


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in a text: its entity, and where it stands."""

    entity: Entity
    start: int
    end: int


class EntityIndex:
    """A catalogue made ready for looking names up in texts."""

    def __init__(self, catalogue: Catalogue) -> None:
        """Index every name and alias by its words."""
        self.catalogue = catalogue
        self._by_words: dict[tuple[str, ...], Entity] = {}
        self._spaceless: dict[str, Entity] = {}
        for entity in catalogue.entities:
            for wording in (entity.name, *entity.aliases):
                spelled = tuple(key(wording).split())
                if spelled and len(spelled) <= _LONGEST:
                    self._by_words.setdefault(spelled, entity)
        self._firsts = frozenset(spelled[0] for spelled in self._by_words)

    def find(self, found: Sequence[Word]) -> tuple[Mention, ...]:
        """The names among the words of a text, the longest at each place, in order."""
        mentions: list[Mention] = []
        spelled = [part for word in found for part in _parts(word)]
        at = 0
        while at < len(spelled):
            step = 1
            if spelled[at][0] in self._firsts:
                for n in range(min(_LONGEST, len(spelled) - at), 0, -1):
                    entity = self._by_words.get(tuple(part for part, _ in spelled[at : at + n]))
                    if entity:
                        mentions.append(Mention(entity, spelled[at][1].start, spelled[at + n - 1][1].end))
                        step = n
                        break
            at += step
        return tuple(mentions)

    def get(self, wording: str) -> Entity | None:
        """The entity that has `wording` as a name or alias; None when there is none."""
        return self._by_words.get(tuple(key(wording).split()))


def _parts(word: Word) -> list[tuple[str, Word]]:
    return [(part, word) for part in word.key.split()]


def catalogue_from_json(value: Any, where: str = "entities") -> Catalogue:
    """The operator's catalogue: {"entity types": {type: [{name, aliases?}]}}, or a list of {name, type?, aliases?}.

    Raises:
        BuilderError: The value has neither shape.
    """
    rows: list[tuple[str, Any]] = []
    if isinstance(value, Mapping):
        table = value.get("entity types") or value.get("entities") or value
        if isinstance(table, Mapping):
            rows = [
                (str(kind), row)
                for kind, listed in table.items()
                if isinstance(listed, list)
                for row in listed
            ]
        elif isinstance(table, list):
            rows = [("", row) for row in table]
    elif isinstance(value, list):
        rows = [("", row) for row in value]
    entities = []
    for kind, row in rows:
        row = {"name": row} if isinstance(row, str) else row
        if not isinstance(row, Mapping) or not row.get("name"):
            raise BuilderError(
                where, f"an entity has no name ({row!r})", "give each one a name", INVALID_DATA
            )
        aliases = tuple(str(alias) for alias in row.get("aliases") or ())
        entities.append(Entity(str(row["name"]), str(row.get("type") or kind or "name"), aliases))
    if not entities:
        raise BuilderError(
            where, "no entities in it", 'write {"entity types": {"plan": [{"name": "Team"}]}}', INVALID_DATA
        )
    return Catalogue(tuple(entities))


def mine_entities(
    transcripts: Iterable[Transcript], listed: Catalogue | None = None, passages: Iterable[Passage] = ()
) -> Catalogue:
    """The listed entities and the names that the log itself repeats; the same for any order of transcripts.

    A name is a code, a path, an acronym or a run of capitalised words that at least two turns hold. A bracket behind a
    name ("Dublin (eu-west-1)") gives an alias. A name in most conversations gets the type `COMMON`.
    """
    turns: Counter[str] = Counter()
    conversations: Counter[str] = Counter()
    wordings: dict[str, Counter[str]] = defaultdict(Counter)
    pairs: Counter[tuple[str, str]] = Counter()
    n_conversations = 0
    for transcript in transcripts:
        n_conversations += 1
        lex = lexicon(language_of(transcript))
        here: set[str] = set()
        for turn in transcript.turns:
            names = {key(name): name for name in names_in(turn.content, lex)}
            turns.update(names.keys())
            here |= names.keys()
            for spelled, name in names.items():
                wordings[spelled][name] += 1
            pairs.update(set(bracketed(turn.content)))
        conversations.update(here)
    for passage in passages:
        for name in set(names_in(passage.title, lexicon("en"))):
            turns[key(name)] += 1
            wordings[key(name)][name] += 1
    common = {
        spelled
        for spelled, n in conversations.items()
        if n_conversations >= _FEWEST_FOR_COMMON and n > _COMMON_SHARE * n_conversations
    }
    mined = {spelled: _usual(wordings[spelled]) for spelled, n in turns.items() if n > 1}
    return merge(listed or Catalogue(), mined, common, _aliases(pairs))


def merge(
    listed: Catalogue, mined: Mapping[str, str], common: Iterable[str], aliases: Mapping[str, Sequence[str]]
) -> Catalogue:
    """The listed entities first, then mined names that they do not cover, by name."""
    known = {key(w) for entity in listed.entities for w in (entity.name, *entity.aliases)}
    everywhere = set(common)
    taken = set(known)
    entities = [
        Entity(e.name, e.type, tuple(dict.fromkeys((*e.aliases, *_new(aliases.get(key(e.name), ()), known)))))
        for e in listed.entities
    ]
    for spelled in sorted(mined):
        if spelled in taken:
            continue
        others = _new(aliases.get(spelled, ()), taken | {spelled})
        taken |= {key(other) for other in others}
        kind = COMMON if spelled in everywhere else kind_of(mined[spelled])
        entities.append(Entity(mined[spelled], kind, others))
    return Catalogue(tuple(entities))


def _new(wordings: Iterable[str], known: set[str]) -> tuple[str, ...]:
    return tuple(w for w in wordings if key(w) not in known)


def _usual(counted: Counter[str]) -> str:
    return min(counted, key=lambda wording: (-counted[wording], wording))


def kind_of(name: str) -> str:
    """code, acronym or name, by the look of it."""
    if any(c.isdigit() or c in "_/@" for c in name):
        return "code"
    return "acronym" if name.isupper() and len(name) <= 6 else "name"


def names_in(text: str, lex: Lexicon) -> list[str]:
    """The names in a text by their look: codes, acronyms, and runs of capitalised words inside a sentence."""
    names, run = [], list[Word]()
    for word in (*words(text, lex), None):
        fits = word is not None and _may_be_name(word, lex)
        if run and (word is None or not fits or text[run[-1].end : word.start] not in (" ", "-")):
            # A capital at the start of a sentence says nothing, unless the next word has one too.
            first = run[1:] if run[0].opens and len(run) == 1 and not run[0].is_code else run
            if first and any(w.is_name or w.is_code for w in first):
                names.append(text[first[0].start : first[-1].end])
            run = []
        if fits and word is not None:
            run.append(word)
    return names


def _may_be_name(word: Word, lex: Lexicon) -> bool:
    if word.is_spaceless or not is_content(word, lex):
        return False
    if word.is_code:
        return True
    # German writes every noun with a capital: there only codes and acronyms are names by their look.
    return word.text[0].isupper() and lex.language != "de"


def bracketed(text: str) -> list[tuple[str, str]]:
    """(name, wording in the bracket behind it) pairs, of which one is a code or an acronym."""
    found = []
    for match in _BRACKETED.finditer(text):
        outside, inside = match.group(1).strip(), match.group(2).strip()
        if (
            kind_of(inside) == "code"
            and inside.replace("-", "").replace(".", "").isalnum()
            and _has_both(inside)
        ):
            name = outside.split()[-1]
            if name[0].isupper():
                found.append((key(name), inside))
        elif inside.isupper() and inside.isalpha() and 2 <= len(inside) <= 6:
            tail = outside.split()[-len(inside) :]
            if "".join(w[0] for w in tail).upper() == inside:
                found.append((key(inside), " ".join(tail)))
    return found


def _has_both(code: str) -> bool:
    return any(c.isalpha() for c in code) and any(c.isdigit() for c in code)


def _aliases(pairs: Counter[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """Name -> its bracketed wordings; a name with more than three of them only shares a sentence with them."""
    found: dict[str, list[str]] = defaultdict(list)
    for (name, wording), _ in sorted(pairs.items()):
        found[name].append(wording)
    return {name: tuple(listed) for name, listed in found.items() if len(listed) <= 3}
