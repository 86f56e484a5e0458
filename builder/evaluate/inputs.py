"""What the second trip reads: items of a release, or labelled follow-ups beside their transcripts made into items."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from builder.core.errors import INVALID_DATA, BuilderError, unknown_name
from builder.core.identity import item_id
from builder.core.records import Catalogue, Entity, Item, Transcript, Turn
from builder.core.rows import Row, aliases_from_row
from builder.core.taxonomy import ITEM_STRATA, d_introduced, d_live, d_stale, intervening_turns
from builder.io.corpus import load_catalogue
from builder.io.embed import minilm
from builder.io.items import iter_transcripts
from builder.scope.liveness import UNTYPED
from builder.scope.shown import Embed, FindEntities
from builder.scope.tongue import lexicon_for
from builder.scope.vectors import word_vectors
from builder.text.entities import COMMON, EntityIndex, mine_entities
from builder.text.language import detect
from builder.text.lexicon import lexicon
from builder.text.words import content_words, words

EVERYWHERE = 0.1
"""Share of the conversations above which a mined name, such as the product's own, names no subject."""


def read_transcripts(paths: Iterable[Path]) -> dict[str, Transcript]:
    """Transcripts in the canonical shape, by conversation id."""
    return {transcript.id: transcript for path in paths for transcript in iter_transcripts(path)}


def read_catalogue(path: Path | None, items: Sequence[Item]) -> Catalogue:
    """The operator's catalogue and the names that the items' own prefixes repeat."""
    listed = load_catalogue(path) if path else Catalogue()
    longest: dict[str, Item] = {}
    for item in items:
        known = longest.get(item.conversation_id)
        if known is None or item.turn > known.turn:
            longest[item.conversation_id] = item
    said = [
        Transcript(name, (*item.prefix, follow_up_of(item)), language=item.language)
        for name, item in longest.items()
    ]
    return _without_everywhere(mine_entities(said, listed), said)


def _without_everywhere(catalogue: Catalogue, said: Sequence[Transcript]) -> Catalogue:
    """The catalogue with names by look alone that many conversations hold marked as common: they tell nothing apart."""
    find = entity_finder(catalogue)
    counts: Counter[str] = Counter()
    for transcript in said:
        counts.update({entity.name for turn in transcript.turns for entity in find(turn.content)})
    most = max(EVERYWHERE * len(said), 2)
    return Catalogue(
        tuple(
            replace(e, type=COMMON) if e.type in UNTYPED and counts[e.name] > most else e
            for e in catalogue.entities
        )
    )


def follow_up_of(item: Item) -> Turn:
    """The follow-up of an item as a turn."""
    return Turn(item.turn, "user", item.follow_up)


def entity_finder(catalogue: Catalogue) -> FindEntities:
    """The extractor over a catalogue: the entities that a text names, each once, the longest name at each place."""
    index = EntityIndex(catalogue)

    @lru_cache(maxsize=16384)
    def find(text: str) -> tuple[Entity, ...]:
        found = index.find(words(text, lexicon_for(text)))
        return tuple({mention.entity.name: mention.entity for mention in found}.values())

    return find


@lru_cache(maxsize=16384)
def content_keys(text: str, language: str) -> frozenset[str]:
    """One key for each word of `text` that carries content, for the checks; words that name nothing are left out."""
    lex = lexicon(language)
    return frozenset(word.key for word in content_words(text, lex) if word.key not in lex.generic)


def items_from_labels(rows: Iterable[Row], transcripts: Mapping[str, Transcript]) -> list[Item]:
    """An item for each label of a stratum that has items; distances are derived anew, weights are 1.

    Raises:
        BuilderError: A label names a conversation or turn that the transcripts do not hold.
    """
    listed = list(rows)
    subjects: dict[str, dict[int, str]] = {}
    for row in listed:
        subjects.setdefault(row["conversation_id"], {})[row["turn"]] = row.get("subject") or ""
    items = []
    for row in listed:
        name, turn = row["conversation_id"], row["turn"]
        transcript = transcripts.get(name)
        if transcript is None or not 1 < turn <= len(transcript.turns):
            raise BuilderError(
                f"{name}#{turn}",
                "no such turn in the transcripts",
                "give the transcripts the labels were made for",
            )
        if row["reference_type"] in ITEM_STRATA:
            items.append(_item(row, transcript, subjects[name]))
    if not items:
        raise BuilderError(
            "labels", f"none of {len(listed)} labels can be an item", "check reference_type", INVALID_DATA
        )
    return items


def _item(row: Row, transcript: Transcript, subjects: Mapping[int, str]) -> Item:
    turn, turns = row["turn"], transcript.turns
    aliases = aliases_from_row(row.get("aliases") or {})
    antecedents = tuple(sorted(row["antecedent_turns"]))
    required, forbidden = tuple(row["required_in_rewrite"]), tuple(row["forbidden_in_rewrite"])
    prefix = turns[: turn - 1]
    return Item(
        id=item_id(transcript.id, turn),
        conversation_id=transcript.id,
        turn=turn,
        prefix=prefix,
        follow_up=turns[turn - 1].content,
        gold=tuple(row.get("gold") or ()),
        reference_type=row["reference_type"],
        forbidden_in_rewrite=forbidden,
        required_in_rewrite=required,
        aliases=aliases,
        reference_rewrite=row.get("reference_rewrite"),
        form=row["form"],
        pivot=row["pivot"],
        returns=row["returns"],
        antecedent_turns=antecedents,
        d_live=d_live(turn, antecedents),
        d_stale=d_stale(turn, forbidden, prefix, dict(aliases)),
        d_introduced=d_introduced(turn, required, antecedents, turns[:turn], dict(aliases)),
        intervening_turns=intervening_turns(turn, antecedents, subjects, row.get("subject") or ""),
        language=row.get("language") or transcript.language or detect(turns[turn - 1].content),
        origin="sampled",
        weight=float(row.get("weight", 1.0)),
        inclusion_probability=1.0,
        labelled_by="human",
        confidence=1.0,
        subject=row.get("subject") or "",
    )


EMBEDDERS: dict[str, Embed] = {"words": word_vectors, "minilm": minilm}
"""Name -> sentence vectors. Both are deterministic; minilm needs the extra `embed`."""


def make_embedder(name: str) -> Embed:
    """The embedder called `name`, each text computed once.

    Raises:
        BuilderError: There is none.
    """
    if name not in EMBEDDERS:
        raise unknown_name("--embed", "embedder", name, EMBEDDERS)
    embed = EMBEDDERS[name]
    one = lru_cache(maxsize=65536)(lambda text: tuple(embed([text])[0]))
    return lambda texts: [one(text) for text in texts]
