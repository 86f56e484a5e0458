"""Rewriters that need no model: each sees the latest message and what a design shows, and nothing else."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from builder.core.errors import unknown_name
from builder.core.terms import key, occurs
from builder.scope.resolve import missing_things
from builder.scope.shown import SAID_NOTHING, FindEntities, Report, Shown, estimate_tokens
from builder.scope.tongue import lexicon_for
from builder.text.cues import read_cues, strip_openers
from builder.text.lexicon import Lexicon
from builder.text.words import content_words

EXPANSION = 8
"""Terms that `expand` adds at most."""

NAME_WEIGHT = 2
"""How much more a name or code counts than another word."""


@dataclass(frozen=True, slots=True)
class Rewritten:
    """What a rewriter gives back for one message, and what it took.

    Attributes:
        query: The search query; None where none came back.
        report: What it said beside the query.
        calls: Model calls made.
        input_tokens: Tokens read; by rule where no model counted them.
        output_tokens: Tokens written; likewise.
        latency_ms: Time of the calls; None where none was made.
    """

    query: str | None
    report: Report = SAID_NOTHING
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    latency_ms: float | None = None


Asked = tuple[str, str, Shown]
"""(a name for messages to people, latest message, what is shown)."""

Rewriter = Callable[[Sequence[Asked]], Sequence[Rewritten]]
"""Rewrites a batch; the results stand in the order of the questions."""


def paste(latest: str, shown: Shown, find: FindEntities) -> Rewritten:
    """The message with everything shown pasted behind it: the baseline that does no rewriting at all."""
    pasted = [*(slot.name for slot in shown.entities), *(turn.content for turn in shown.turns)]
    return _measured(latest, shown, " ".join([latest, *pasted]), find)


def expand(latest: str, shown: Shown, find: FindEntities) -> Rewritten:
    """The message with the most salient terms of what is shown behind it: classic expansion by history.

    A term's salience is how often the shown turns hold it, twice as much for a name or code; ties go to the more recent.
    A shown slot counts as one more mention. The message is never judged: it is expanded even where it is complete.
    Source: historical query expansion as in Lin et al., Multi-stage conversational passage retrieval, TOIS 2021.
    """
    lex = lexicon_for(" ".join([latest, *(turn.content for turn in shown.turns)]))
    added: list[str] = []
    for term in _salient(shown, lex):
        if len(added) == EXPANSION:
            break
        if not occurs(term, latest) and not any(occurs(term, other) for other in added):
            added.append(term)
    return _measured(latest, shown, " ".join([latest, *added]), find)


def _salient(shown: Shown, lex: Lexicon) -> list[str]:
    counts: Counter[str] = Counter()
    last: dict[str, tuple[int, str]] = {}
    for slot in shown.entities:
        counts[key(slot.name)] += NAME_WEIGHT
        last[key(slot.name)] = (slot.mentioned, slot.name)
    for turn in shown.turns:
        for word in content_words(turn.content, lex):
            if word.key not in lex.generic and not word.is_number:
                counts[word.key] += NAME_WEIGHT if word.is_name else 1
                last[word.key] = (turn.number, word.text)
    ranked = sorted(counts, key=lambda k: (-counts[k], -last[k][0], k))
    return [last[k][1] for k in ranked]


def resolve(latest: str, shown: Shown, find: FindEntities) -> Rewritten:
    """The message with what it lacks filled in from what is shown; one that lacks nothing is left alone.

    The wording says what is lacking (`resolve.missing_things`); a marker of another subject in front is dropped.
    """
    filled = missing_things(latest, shown, find)
    body = _without_markers(latest)
    return _measured(latest, shown, " ".join([body, *filled]), find)


def _without_markers(latest: str) -> str:
    lex = lexicon_for(latest)
    body = strip_openers(latest, lex)[1]
    marker = lex.leading("pivot_markers").match(body.lower())
    if marker and marker.end() < len(body):
        body = body[marker.end() :]
    return body.strip() or latest


def leave(latest: str, _shown: Shown, find: FindEntities) -> Rewritten:
    """The message as it stands: what retrieval does with the raw follow-up."""
    return Rewritten(latest, _report(latest, latest, find))


def _measured(latest: str, shown: Shown, query: str, find: FindEntities) -> Rewritten:
    """`query` with the tokens that a model in this rewriter's place would read and write, by rule."""
    report = _report(latest, query, find)
    return Rewritten(query, report, 0, estimate_tokens(shown.text), estimate_tokens(query))


def _report(latest: str, query: str, find: FindEntities) -> Report:
    """What the offline rewriters can say: an announced change of subject, and the names in the query."""
    return Report(bool(read_cues(latest, lexicon_for(latest)).pivot_marker), find(query))


OFFLINE: dict[str, Callable[[str, Shown, FindEntities], Rewritten]] = {
    "none": leave,
    "paste": paste,
    "expand": expand,
    "resolve": resolve,
}
"""Name -> rewriter that needs no model."""

ONLINE = ("openai",)


def offline_rewriter(name: str, find: FindEntities) -> Rewriter:
    """The offline rewriter called `name`.

    Raises:
        BuilderError: There is none.
    """
    if name not in OFFLINE:
        raise unknown_name("--rewriter", "rewriter", name, [*OFFLINE, *ONLINE])
    rewrite = OFFLINE[name]
    return lambda asked: [rewrite(latest, shown, find) for _, latest, shown in asked]


def passed_through(latest: str) -> Rewritten:
    """The message that a design sent on without asking a rewriter."""
    return Rewritten(latest)
