"""What tells a required or forbidden word from the others: facts of a word in its conversation, as numbers."""

from builder.text.cues import strip_openers
from builder.text.entities import COMMON, Mention
from builder.text.place import STEM, Place
from builder.text.scene import TurnWords, frequency, units
from builder.text.words import Word

_SUFFIXES = ("ing", "ed", "ly", "tion", "ment", "er", "able", "al")
_DESCRIBING = ("ing", "ed", "ly", "able", "ible", "ive", "ous", "ful")
_NO_LIST = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


WHOLE = (
    *("has_answer", "n_content", "pivot", "returns", "d_live", "ordinal", "pronoun", "ellipsis", "definite"),
    *("carryover", "n_antecedents", "follow_up_names", "answer_shares_antecedent"),
)
WORD = (
    *("name", "code", "number", "capital", "entity", "common", "generic", "frequency", "length", "spaceless"),
    *(f"ends_{suffix}" for suffix in _SUFFIXES),
)
REQUIRED_FEATURES = (
    *WHOLE,
    *WORD,
    *(
        "in_follow_up",
        "n_sources",
        "in_answer",
        "stem_in_answer",
        "answer_order",
        "answer_clause",
        "answer_count",
    ),
    *("place", "from_end", "is_first", "after_stop", "before_stop", "joined", "part_of_entity"),
    *("source_is_user", "source_clause", "source_order", "source_count", "source_distance", "in_asked"),
    *(
        "user_turns",
        "turns",
        "same_turns",
        "other_turns",
        "in_last_user",
        "in_last_answer",
        "first",
        "introduced",
    ),
    *(
        "selected",
        "listed",
        "list_size",
        "list_place",
        "list_in_answer",
        "siblings_in_answer",
        "opens_thread",
    ),
)
FORBIDDEN_FEATURES = (
    *WHOLE,
    *WORD,
    *("in_answer", "stem_in_answer", "answer_order", "in_antecedent", "turns", "user_turns", "same_turns"),
    *(
        "other_turns",
        "n_same",
        "n_other",
        "nearest",
        "nearest_user",
        "nearest_other",
        "first",
        "in_last_user",
    ),
    *(
        "in_last_answer",
        "clause",
        "order",
        "count",
        "opens_thread",
        "in_other_thread_last",
        "sibling_required",
    ),
    *("selected", "listed", "list_size", "part_of_entity", "is_last"),
)


def _word_facts(spot: Place, key: str, word: Word, mention: Mention | None) -> tuple[float, ...]:
    lex, small = spot.scene.lex, word.text.lower()
    return (
        float(key in spot.scene.names),
        float(word.is_code),
        float(word.is_number),
        float(word.text[0].isupper()),
        float(mention is not None and mention.entity.type != COMMON),
        float(mention is not None and mention.entity.type == COMMON),
        float(key in lex.generic or small in lex.generic),
        float(frequency(lex.language).get(key, 0)),
        float(min(len(small), 20)),
        float(word.is_spaceless),
        *(float(small.endswith(suffix)) for suffix in _SUFFIXES),
    )


def required_candidates(spot: Place) -> list[str]:
    """Keys of the words that could be required: those of the follow-up, then those of its antecedent turns."""
    own = spot.follow_up
    opened = len(strip_openers(own.turn.content, spot.scene.lex)[0])
    # "d'accord, et le samedi ?": the opener is no part of the query, unless nothing else is there.
    body = [key for key, word in own.first.items() if word.end > opened and not _only_selects(spot, word)]
    keys = dict.fromkeys(body or own.first)
    for turn in spot.antecedents:
        named = [key for key, word in turn.first.items() if not _only_selects(spot, word)]
        keys.update(dict.fromkeys(named or turn.first))
    return list(keys)


def _only_selects(spot: Place, word: Word) -> bool:
    """Whether a word in a script without spaces is a position in a list ("第三档"), which names nothing by itself."""
    return (
        word.is_spaceless and len(word.text) < 5 and bool(spot.scene.lex.pattern("ordinals").match(word.text))
    )


def required_features(spot: Place, key: str) -> list[float]:
    """The facts of one candidate for a required term, in the order of `REQUIRED_FEATURES`."""
    own, scene, reading = spot.follow_up, spot.scene, spot.reading
    sources = [turn for turn in spot.antecedents if key in turn.counts]
    source = sources[-1] if sources else None
    home = own if key in own.counts else source or own
    word, order = home.first[key], home.order[key]
    mention = own.entities.get(key) or (source.entities.get(key) if source else None)
    with_key = [n for n in scene.places.get(key, ()) if n < reading.turn]
    listed = spot.lists[source.turn.number].get(key, _NO_LIST) if source else _NO_LIST
    before, behind = _neighbours(home.turn.content, word.start, word.end)
    return [
        *spot.facts,
        *_word_facts(spot, key, word, mention),
        float(key in own.counts),
        float(len(sources)),
        *_answer_facts(spot, key),
        order / max(len(home.words), 1),
        float(min(len(home.words) - 1 - order, 10)),
        float(order == 0),
        before,
        behind,
        float(order > 0 and home.words[order - 1].end + 1 >= word.start),
        float(mention is not None and mention.end - mention.start > len(word.text)),
        *_source_facts(spot, key, source, any(turn.turn.role == "user" for turn in sources)),
        float(sum(n in spot.users for n in with_key)),
        float(len(with_key)),
        sum(n in spot.same for n in with_key) / max(len(spot.same), 1),
        sum(n in spot.other for n in with_key) / max(len(spot.other), 1),
        float(bool(spot.users) and spot.users[-1] in with_key),
        float(reading.turn - 1 in with_key),
        float(min(reading.turn - with_key[0], 12)) if with_key else 0.0,
        float(bool(with_key) and with_key[0] == reading.turn - 1),
        *listed,
        float(bool(spot.same) and min(spot.same) in with_key),
    ]


def _answer_facts(spot: Place, key: str) -> tuple[float, ...]:
    answer = spot.answer
    has_stem = float(key[:STEM] in spot.stems)
    if answer is None or key not in answer.counts:
        return 0.0, has_stem, 50.0, 6.0, 0.0
    return (
        1.0,
        has_stem,
        float(min(answer.order[key], 40)),
        float(min(answer.clause[key], 5)),
        float(min(answer.counts[key], 5)),
    )


def _source_facts(spot: Place, key: str, source: TurnWords | None, is_user: bool) -> tuple[float, ...]:
    if source is None:
        return 0.0, 7.0, 70.0, 0.0, 0.0, 0.0
    number = source.turn.number
    return (
        float(is_user),
        float(min(source.clause[key], 6)),
        float(min(source.order[key], 60)),
        float(min(source.counts[key], 5)),
        float(min(spot.reading.turn - number, 12)),
        float(number > 1 and key in spot.scene.at(number - 1).counts),
    )


def _neighbours(text: str, start: int, end: int) -> tuple[float, float]:
    """Whether a small word stands close before, and whether the sentence goes on behind."""
    before = text[max(start - 4, 0) : start].strip()
    return float(before.isalpha() and before.islower()), float(text[end : end + 1] == " ")


def forbidden_candidates(spot: Place) -> list[str]:
    """Keys of the words that could be forbidden: those of the prefix that the follow-up lacks, the nearest first."""
    keys: dict[str, None] = {}
    for number in range(spot.reading.turn - 1, 0, -1):
        keys.update(dict.fromkeys(spot.scene.at(number).first))
    return [key for key in keys if key not in spot.follow_up.counts and _may_mislead(spot, key)]


def _may_mislead(spot: Place, key: str) -> bool:
    """Whether a word names something: no generic word, unit, bare number, common verb or adjective."""
    scene = spot.scene
    word = scene.at(scene.places[key][0]).first[key]
    small, lex = word.text.lower(), scene.lex
    if word.is_number or key in lex.generic or small in lex.generic or small in units():
        return False
    if key in scene.names:
        return True
    return frequency(lex.language).get(key, 0) < 3 and not (
        lex.language == "en" and small.endswith(_DESCRIBING)
    )


def forbidden_features(spot: Place, key: str, required_types: frozenset[str]) -> list[float]:
    """The facts of one candidate for a forbidden term, in the order of `FORBIDDEN_FEATURES`.

    `required_types` are the types of the names that the required terms belong to.
    """
    scene, turn, answer = spot.scene, spot.reading.turn, spot.answer
    with_key = [n for n in scene.places[key] if n < turn]
    users = [n for n in with_key if n in spot.users]
    others = [n for n in with_key if n in spot.other]
    home = scene.at(with_key[-1])
    word = home.first[key]
    mention = scene.mention(key, with_key)
    last_user = spot.users[-1] if spot.users else 1
    listed = next((spot.lists[n][key] for n in reversed(with_key) if key in spot.lists.get(n, {})), _NO_LIST)
    return [
        *spot.facts,
        *_word_facts(spot, key, word, mention),
        float(answer is not None and key in answer.counts),
        float(key[:STEM] in spot.stems),
        float(min(answer.order[key], 40)) if answer and key in answer.counts else 50.0,
        float(any(n in spot.reading.antecedent_turns for n in with_key)),
        float(len(with_key)),
        float(len(users)),
        sum(n in spot.same for n in with_key) / max(len(spot.same), 1),
        len(others) / max(len(spot.other), 1),
        float(len(spot.same)),
        float(len(spot.other)),
        float(min(turn - with_key[-1], 12)),
        float(min(turn - users[-1], 12)) if users else 13.0,
        float(min(turn - others[-1], 12)) if others else 13.0,
        float(min(turn - with_key[0], 16)),
        float(last_user in with_key),
        float(turn - 1 in with_key),
        float(min(home.clause[key], 6)),
        float(min(home.order[key], 60)),
        float(min(sum(scene.at(n).counts[key] for n in with_key), 10)),
        float(bool(spot.same) and min(spot.same) in with_key),
        float(any(n >= last_user for n in others)),
        float(mention is not None and mention.entity.type in required_types),
        *listed[:3],
        float(mention is not None and mention.end - mention.start > len(word.text)),
        float(home.order[key] == len(home.words) - 1),
    ]
