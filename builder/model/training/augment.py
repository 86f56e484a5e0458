"""New examples out of labelled ones: turns spliced in, turns left out, openers and names changed, labels recomputed."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from builder.core.records import Transcript, Turn
from builder.core.taxonomy import Facts, d_live, reference_type
from builder.model.training.examples import Example

OPENERS = (
    "ok, ",
    "and ",
    "also, ",
    "hm. ",
    "thanks. ",
    "got it. ",
    "ok thanks, ",
    "sorry, ",
    "great, ",
    "so ",
    "right. ",
)
PIVOT_OPENERS = (
    "different question: ",
    "new topic: ",
    "switching gears, ",
    "unrelated: ",
    "another thing - ",
    "something else: ",
    "by the way, ",
    "one more thing, ",
    "next: ",
)
_OPENING = re.compile(
    r"^(?:(?:ok(?:ay)?|thanks?(?: you)?|great|got it|alright|sorry|and|also|btw|by the way|hm+|so|right|unrelated"
    r"|(?:a )?(?:totally |completely )?(?:different|new|other|another|next|separate) (?:question|topic|thing|subject)"
    r"|one more thing|something else|switching (?:gears|topics))[\s,.:;!–—-]+)+",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{3,}\b")
Pool = Sequence[Example]


def augment(example: Example, pool: Pool, rng: np.random.Generator) -> Example:
    """A changed example with honest labels; the example itself where no change applies."""
    order = rng.permutation(len(CHANGES))
    changed = example
    for n in order:
        found = CHANGES[n](example, pool, rng)
        if found is not None:
            changed = found
            break
    if rng.random() < 0.25:
        changed = _with_message(changed, changed.transcript.turns[changed.turn - 1].content.rstrip(" ?？"))
    return changed


def splice_before(example: Example, pool: Pool, rng: np.random.Generator) -> Example | None:
    """Distractor exchanges right before the follow-up: now a pivot, a return if its subject was there before.

    Only where the message still reads the same after them: it stands alone, names its thing, or reached over turns
    already. A pronoun would now point at the distractor.
    """
    stays = (
        example.needs is False or example.form in ("definite", "carryover") or example.stratum == "long_range"
    )
    if not stays or example.resolvable is False:
        return None
    donor = _donor(example, pool, rng, int(rng.integers(1, 3)))
    if donor is None:
        return None
    moved = _insert(example, example.turn - 1, donor)
    if not example.is_query:
        return moved
    returns = any(same for _, same in example.same_subject)
    known = bool(example.same_subject)
    return _restate(replace(moved, pivot=True, returns=returns if known else example.returns))


def splice_early(example: Example, pool: Pool, rng: np.random.Generator) -> Example | None:
    """Distractor exchanges somewhere before the previous user turn: distances grow, pivot and return stay."""
    previous = _previous_user(example)
    places = [t.number - 1 for t in example.transcript.turns[:previous] if t.role == "user"]
    donor = _donor(example, pool, rng, int(rng.integers(1, 3)))
    if donor is None or not places:
        return None
    return _restate(_insert(example, int(rng.choice(places)), donor))


def leave_out(example: Example, _pool: Pool, rng: np.random.Generator) -> Example | None:
    """Exchanges left out that supply nothing: distances shrink, a return may become a first mention."""
    if not example.resolvable:
        return None
    needed = set(example.antecedent_turns or ())
    previous = _previous_user(example)
    users = [t.number for t in example.transcript.turns[: example.turn - 1] if t.role == "user"]
    bounds = [*users[1:], example.turn]
    exchanges = [range(a, b) for a, b in zip(users, bounds, strict=True)]
    free = [e for e in exchanges if not needed & set(e) and previous not in e]
    chosen = [e for e in free if rng.random() < 0.6]
    if not chosen:
        return None
    return _restate(_delete(example, {n for e in chosen for n in e}))


def other_prefix(example: Example, pool: Pool, rng: np.random.Generator) -> Example | None:
    """A self-contained message after another conversation: a pivot that needs nothing."""
    if example.needs is not False or not example.is_query:
        return None
    donor = _donor(example, pool, rng, int(rng.integers(1, 5)))
    if donor is None:
        return None
    everything = {t.number for t in example.transcript.turns[: example.turn - 1]}
    bare = _delete(example, everything)
    moved = _insert(bare, 0, donor)
    return _restate(replace(moved, pivot=True, returns=False))


def change_opener(example: Example, _pool: Pool, rng: np.random.Generator) -> Example | None:
    """An opener added or taken away: discourse markers decide nothing by themselves."""
    text = example.transcript.turns[example.turn - 1].content
    if not text.isascii() or example.is_query is False or "multilingual" in example.source:
        return None
    bare = _OPENING.sub("", text)
    if bare != text and len(bare) >= 8:
        return _with_message(example, bare)
    openers = PIVOT_OPENERS + OPENERS if example.pivot else OPENERS
    return _with_message(example, openers[int(rng.integers(len(openers)))] + text)


def swap_names(example: Example, pool: Pool, rng: np.random.Generator) -> Example | None:
    """Up to three names replaced throughout by names from another conversation."""
    turns = example.transcript.turns[: example.turn]
    names = sorted(set(_NAME.findall(" ".join(t.content for t in turns))))
    other = pool[int(rng.integers(len(pool)))].transcript
    donors = sorted(set(_NAME.findall(" ".join(t.content for t in other.turns))) - set(names))
    if len(names) < 3 or len(donors) < 3:
        return None
    pairs = dict(zip(rng.permutation(names)[:3].tolist(), rng.permutation(donors)[:3].tolist(), strict=True))
    pattern = re.compile(r"\b(" + "|".join(map(re.escape, pairs)) + r")\b")
    swapped = tuple(replace(t, content=pattern.sub(lambda m: pairs[m.group()], t.content)) for t in turns)
    return replace(example, transcript=replace(example.transcript, messages=swapped))


Change = Callable[[Example, Pool, np.random.Generator], Example | None]
CHANGES: tuple[Change, ...] = (
    splice_before,
    splice_before,
    splice_early,
    leave_out,
    other_prefix,
    change_opener,
    swap_names,
)


def _donor(example: Example, pool: Pool, rng: np.random.Generator, exchanges: int) -> tuple[Turn, ...] | None:
    """The first exchanges of another conversation that shares no long word with the follow-up."""
    wanted = _long_words(example.transcript.turns[example.turn - 1].content)
    for _ in range(8):
        other = pool[int(rng.integers(len(pool)))]
        near = other.source == example.source
        if other.transcript.id == example.transcript.id or (not near and rng.random() < 0.75):
            continue
        turns = other.transcript.turns
        starts = [t.number for t in turns if t.role == "user"]
        end = starts[exchanges] - 1 if exchanges < len(starts) else len(turns)
        donor = turns[starts[0] - 1 : end]
        while donor and donor[-1].role == "user":  # a message nobody answered would run into the next one
            donor = donor[:-1]
        if donor and not wanted & _long_words(" ".join(t.content for t in donor if t.role == "user")):
            return donor
    return None


def _insert(example: Example, at: int, donor: Sequence[Turn]) -> Example:
    """The example with `donor` after turn `at`, numbers moved; stratum not yet restated."""
    turns = example.transcript.turns[: example.turn]
    k = len(donor)
    number = {t.number: t.number + (k if t.number > at else 0) for t in turns}
    users = [at + n for n, t in enumerate(donor, 1) if t.role == "user"]
    same = [(number[n], yes) for n, yes in example.same_subject]
    if example.same_subject:
        same += [(n, False) for n in users]
    return _moved(example, (*turns[:at], *donor, *turns[at:]), number, same)


def _delete(example: Example, gone: set[int]) -> Example:
    kept = [t for t in example.transcript.turns[: example.turn] if t.number not in gone]
    number = {t.number: n for n, t in enumerate(kept, 1)}
    same = [(number[n], yes) for n, yes in example.same_subject if n in number]
    moved = _moved(example, kept, number, same)
    if example.returns and example.same_subject and not any(yes for _, yes in same):
        return replace(moved, returns=False)
    return moved


def _moved(
    example: Example, turns: Sequence[Turn], number: dict[int, int], same: Sequence[tuple[int, bool]]
) -> Example:
    messages = tuple(replace(t, number=n) for n, t in enumerate(turns, 1))
    antecedents = example.antecedent_turns
    return replace(
        example,
        transcript=Transcript(example.transcript.id, messages),
        turn=number[example.turn],
        antecedent_turns=None
        if antecedents is None
        else tuple(number[n] for n in antecedents if n in number),
        same_subject=tuple(sorted(same)),
    )


def _restate(example: Example) -> Example:
    """The example with the stratum that its labels now imply."""
    if example.stratum is None or example.form is None or example.antecedent_turns is None:
        return example
    distance = d_live(example.turn, example.antecedent_turns)
    return replace(example, stratum=reference_type(Facts(example.form, bool(example.pivot), distance)))


def _previous_user(example: Example) -> int:
    return max(t.number for t in example.transcript.turns[: example.turn - 1] if t.role == "user")


def _with_message(example: Example, text: str) -> Example:
    turns = example.transcript.turns
    messages = (*turns[: example.turn - 1], replace(turns[example.turn - 1], content=text))
    return replace(example, transcript=replace(example.transcript, messages=messages))


def _long_words(text: str) -> set[str]:
    return {word for word in re.findall(r"\w+", text.casefold()) if len(word) >= 5}
