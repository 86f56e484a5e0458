"""A set through one scope design and one rewriter: a run, with what was shown and what it cost beside each rewrite."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from builder.core.hashing import canonical_json
from builder.core.records import Item, Turn
from builder.core.rows import Row
from builder.scope.designs import with_needed
from builder.scope.rewriters import Rewriter, Rewritten, passed_through
from builder.scope.shown import SAID_NOTHING, Design, Shown, State, estimate_tokens

Retrieve = Callable[[str, int], Sequence[str]]
"""(query, k) -> passage ids, best first."""

DEPTH = 20
"""Passages kept per rewrite."""


def run_design(
    items: Iterable[Item], design: Design, rewriter: Rewriter, retrieve: Retrieve | None = None
) -> Iterator[Row]:
    """One run row for each item, in the order of the items.

    The state is the one that production would have: the design stepped through every turn of the prefix, with the
    rewriter asked on each earlier user turn where the design listens to it. Items of one conversation share that work.
    """
    states: dict[tuple[Turn, ...], State] = {(): State()}
    for item in items:
        state = _state_after(item.prefix, design, rewriter, states)
        shown = design.show(item.prefix, item.follow_up, with_needed(state, item.antecedent_turns))
        written = _rewrite(item.follow_up, shown, rewriter)
        yield run_row(item.id, shown, written, retrieve, design.listens)


def _rewrite(latest: str, shown: Shown, rewriter: Rewriter) -> Rewritten:
    return passed_through(latest) if shown.pass_through else rewriter(latest, shown)


def _state_after(
    prefix: tuple[Turn, ...],
    design: Design,
    rewriter: Rewriter,
    known: dict[tuple[Turn, ...], State],
) -> State:
    done = len(prefix)
    while prefix[:done] not in known:
        done -= 1
    state = known[prefix[:done]]
    for place in range(done, len(prefix)):
        turn, report = prefix[place], SAID_NOTHING
        if design.listens and turn.role == "user":
            written = _rewrite(turn.content, design.show(prefix[:place], turn.content, state), rewriter)
            report = written.report
        state = design.step(state, turn, report)
        known[prefix[: place + 1]] = state
    return state


def run_row(name: str, shown: Shown, written: Rewritten, retrieve: Retrieve | None, listens: bool) -> Row:
    """A line of a run: the rewrite, what it retrieved, what was shown and what it cost.

    For an offline rewriter the tokens are those that a model in its place would read and write, by rule; a design that
    listens also has the report written.
    """
    row: Row = {"id": name, "rewrite": written.query}
    if retrieve:
        row["retrieved"] = list(retrieve(written.query, DEPTH))
    entities = [{"name": entity.name, "type": entity.type} for entity in written.report.entities]
    said = {"topic_shift": written.report.topic_shift, "entities": entities}
    extra = estimate_tokens(canonical_json(said)) if listens and not written.calls else 0
    row["tokens"] = {
        "calls": written.calls,
        "input": written.input_tokens,
        "output": written.output_tokens + extra,
    }
    if written.latency_ms is not None:
        row["latency_ms"] = round(written.latency_ms, 1)
    row |= said
    row["shown"] = {
        "turns": [turn.number for turn in shown.turns],
        "entities": [
            {
                "name": slot.name,
                "type": slot.type,
                "introduced": slot.introduced,
                "mentioned": slot.mentioned,
                "status": slot.status,
            }
            for slot in shown.entities
        ],
        "text": shown.text,
        "why": shown.why,
    }
    return row
