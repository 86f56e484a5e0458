"""The scope designs by name: each decides what a rewriter is shown of the conversation so far."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from builder.core.errors import USAGE, BuilderError, unknown_name
from builder.core.records import Turn
from builder.scope.liveness import Horizons, make_liveness
from builder.scope.segments import THRESHOLD, WORDING_THRESHOLD, make_flag_segments, make_segments
from builder.scope.shown import SAID_NOTHING, Design, Embed, FindEntities, Report, Shown, State, lay_out
from builder.scope.threads import THRESHOLD as THREAD_THRESHOLD
from builder.scope.threads import make_threads

REWRITE = "Rewrite the latest message as a search query that can be understood without the conversation."
HISTORY = (
    "The conversation may hold what the latest message refers to. Put it into the query where it is needed; "
    "do not answer. Return the message unchanged when it is complete."
)
COUNTERWEIGHT = (
    "When the latest message opens another subject, nothing of the earlier ones belongs in the query."
)
GATE_WORDS = 12


@dataclass(frozen=True, slots=True)
class Tools:
    """What designs may need from outside.

    Attributes:
        find: The extractor of entities (liveness).
        embed: Sentence vectors (segments).
    """

    find: FindEntities
    embed: Embed


def _plain(
    name: str, choose: Callable[[Sequence[Turn]], Sequence[Turn]], summary: str, instruction: str = REWRITE
) -> Design:
    def show(prefix: Sequence[Turn], latest: str, _state: State) -> Shown:
        turns = tuple(choose(prefix))
        return Shown(turns, (), lay_out(latest, turns, None, instruction), summary)

    return Design(name, show, summary=summary)


def _last(n: int) -> Callable[[Sequence[Turn]], Sequence[Turn]]:
    return lambda turns: turns[-n:] if n else ()


def _window(name: str, argument: str, _tools: Tools) -> Design:
    length = _whole(name, argument, "8")
    return _plain(name, _last(length), f"the last {length} turns")


def _segments(name: str, argument: str, tools: Tools) -> Design:
    kind, _, value = argument.partition(",")
    if kind == "flag" and not value:
        return make_flag_segments(name)
    fix = "write segments, segments:0.5, segments:wording[,0.5] or segments:flag"
    if kind == "wording":
        return make_segments(name, tools.embed, _threshold(name, value, WORDING_THRESHOLD, fix), tools.find)
    return make_segments(name, tools.embed, _threshold(name, argument, THRESHOLD, fix))


def _threads(name: str, argument: str, tools: Tools) -> Design:
    fix = "write threads or threads:0.3"
    return make_threads(name, tools.embed, tools.find, _threshold(name, argument, THREAD_THRESHOLD, fix))


def _threshold(name: str, given: str, default: float, fix: str) -> float:
    try:
        threshold = float(given) if given else default
    except ValueError:
        raise BuilderError("--design", f'"{name}" has no threshold that is a number', fix, USAGE) from None
    if not -1 <= threshold <= 1:
        what = f'"{name}": no cosine is {given}'
        raise BuilderError("--design", what, f"give a threshold from -1 to 1: {fix}", USAGE)
    return threshold


def _liveness(name: str, argument: str, tools: Tools) -> Design:
    parts = argument.split(",") if argument else []
    words = {part for part in parts if not part.isdigit()}
    numbers = [int(part) for part in parts if part.isdigit()]
    if words - {"keep", "report"} or len(numbers) not in (0, 2) or 0 in numbers:
        fix = "write liveness, liveness:3,8 (stale, evict), with ,keep (no superseding) or ,report (slots from the rewriter)"
        raise BuilderError("--design", f'"{name}" is not a liveness design', fix, USAGE)
    stale, evict = numbers or (Horizons().stale, Horizons().evict)
    if stale > evict:
        what = f'"{name}": slots would be evicted ({evict}) before they are stale ({stale})'
        raise BuilderError(
            "--design", what, f"give stale from 1 to evict, such as liveness:{evict},{stale}", USAGE
        )
    return make_liveness(name, Horizons(stale, evict, "keep" not in words), tools.find, "report" in words)


def _none(name: str, _argument: str, _tools: Tools) -> Design:
    return _plain(name, _last(0), "no history")


def _full(name: str, _argument: str, _tools: Tools) -> Design:
    return _plain(name, list, "the whole history")


def _oracle(name: str, _argument: str, _tools: Tools) -> Design:
    def show(prefix: Sequence[Turn], latest: str, state: State) -> Shown:
        turns = tuple(turn for turn in prefix if turn.number in state.needed)
        return Shown(turns, (), lay_out(latest, turns, None, REWRITE), "the turns that labels say are needed")

    return Design(name, show, summary="exactly the needed turns, from labels: a bound, not a product")


def _last_questions(name: str, _argument: str, _tools: Tools) -> Design:
    return _plain(
        name, lambda turns: [t for t in turns if t.role == "user"][-4:], "the last 4 questions, joined"
    )


def _gated_pairs(name: str, _argument: str, _tools: Tools) -> Design:
    def show(prefix: Sequence[Turn], latest: str, _state: State) -> Shown:
        n_words = len(latest.split())
        if n_words >= GATE_WORDS:
            return Shown((), (), lay_out(latest), f"{n_words} words: sent on as it stands", pass_through=True)
        turns = tuple(prefix[-4:])
        return Shown(turns, (), lay_out(latest, turns, None, REWRITE), f"{n_words} words: the last 2 pairs")

    summary = f"the last 2 pairs, for messages under {GATE_WORDS} words; longer ones are not rewritten"
    return Design(name, show, summary=summary)


def _shape(choose: Callable[[Sequence[Turn]], Sequence[Turn]], summary: str, instruction: str) -> "Maker":
    return lambda name, _argument, _tools: _plain(name, choose, summary, instruction)


Maker = Callable[[str, str, Tools], Design]

DESIGNS: dict[str, Maker] = {
    "none": _none,
    "window": _window,
    "full": _full,
    "segments": _segments,
    "threads": _threads,
    "liveness": _liveness,
    "oracle": _oracle,
    "keep_all": _shape(list, "the whole history, with no word on how to use it", ""),
    "last6": _shape(_last(6), "the last 6 turns", REWRITE),
    "last4_questions": _last_questions,
    "last2_pairs_gate12": _gated_pairs,
    "history_aware": _shape(list, "the whole history, told to use it where needed", f"{REWRITE} {HISTORY}"),
    "history_aware_counterweight": _shape(
        list, "the same, told to leave earlier subjects out", f"{REWRITE} {HISTORY} {COUNTERWEIGHT}"
    ),
}
"""Name -> maker. The last six are prompt shapes in wide use."""

TAKES_ARGUMENT = frozenset({"window", "segments", "threads", "liveness"})


def make_design(name: str, tools: Tools) -> Design:
    """The design called `name`: a key of `DESIGNS`, for some with an argument behind a colon ("window:8").

    Raises:
        BuilderError: There is no such design, or its argument makes no sense.
    """
    kind, _, argument = name.partition(":")
    if kind not in DESIGNS:
        raise unknown_name("--design", "design", name, DESIGNS)
    if argument and kind not in TAKES_ARGUMENT:
        raise BuilderError("--design", f'"{name}": {kind} takes no argument', f"write {kind}", USAGE)
    return DESIGNS[kind](name, argument, tools)


def replay(design: Design, turns: Iterable[Turn], reports: dict[int, Report] | None = None) -> State:
    """The state of a design after `turns`, with what the rewriter reported on user turns, by turn number."""
    state, told = State(), reports or {}
    for turn in turns:
        state = design.step(state, turn, told.get(turn.number, SAID_NOTHING))
    return state


def with_needed(state: State, needed: Sequence[int]) -> State:
    """`state` told which turns the message needs: for the oracle, from labels."""
    return replace(state, needed=tuple(needed))


def _whole(name: str, argument: str, example: str) -> int:
    if not (argument.isascii() and argument.isdigit()):
        kind = name.partition(":")[0]
        fix = f"write {kind}:{example}, or any other number of turns from 0"
        raise BuilderError("--design", f'"{name}" has no whole number behind the colon', fix, USAGE)
    return int(argument)
