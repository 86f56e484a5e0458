"""A set through one scope design and one rewriter: a run, with what was shown and what it cost beside each rewrite."""

from collections.abc import Callable, Sequence

from builder.core.hashing import canonical_json
from builder.core.records import Item, Turn
from builder.core.rows import Row
from builder.scope.designs import with_needed
from builder.scope.rewriters import Asked, Rewriter, Rewritten, passed_through
from builder.scope.shown import SAID_NOTHING, Design, Shown, State, estimate_tokens

Retrieve = Callable[[str, int], Sequence[str]]
"""(query, k) -> passage ids, best first."""

DEPTH = 20
"""Passages kept per rewrite."""


def run_design(
    items: Sequence[Item], design: Design, rewriter: Rewriter, retrieve: Retrieve | None = None
) -> list[Row]:
    """One run row for each item, in the order of the items.

    The state is the one that production would have: the design stepped through every turn of the prefix, with the
    rewriter asked on each earlier user turn where the design listens to it. Items of one conversation share that work.
    """
    states = _states([item.prefix for item in items], design, rewriter)
    asked = []
    for item in items:
        state = with_needed(states[item.prefix], item.antecedent_turns)
        asked.append((item.id, item.follow_up, design.show(item.prefix, item.follow_up, state)))
    written = _rewrite(asked, rewriter)
    return [
        run_row(name, shown, done, retrieve, design.listens)
        for (name, _, shown), done in zip(asked, written, strict=True)
    ]


def _rewrite(asked: Sequence[Asked], rewriter: Rewriter) -> list[Rewritten]:
    """The rewrites in order; messages that the design passes on are not asked about."""
    to_ask = [question for question in asked if not question[2].pass_through]
    done = iter(rewriter(to_ask) if to_ask else ())
    return [passed_through(latest) if shown.pass_through else next(done) for _, latest, shown in asked]


Prefix = tuple[Turn, ...]


def _states(prefixes: Sequence[Prefix], design: Design, rewriter: Rewriter) -> dict[Prefix, State]:
    """The state behind every prefix. Prefixes grow turn by turn together, so that a model is asked in few large batches."""
    longest = max(map(len, prefixes), default=0)
    states: dict[Prefix, State] = {(): State()}
    for length in range(1, longest + 1):
        wave = list(dict.fromkeys(prefix[:length] for prefix in prefixes if len(prefix) >= length))
        reports = dict.fromkeys(wave, SAID_NOTHING)
        heard = [prefix for prefix in wave if prefix[-1].role == "user"] if design.listens else []
        asked = []
        for prefix in heard:
            before, latest = prefix[:-1], prefix[-1].content
            asked.append((f"turn {length}", latest, design.show(before, latest, states[before])))
        reports |= {
            prefix: done.report for prefix, done in zip(heard, _rewrite(asked, rewriter), strict=True)
        }
        for prefix in wave:
            states[prefix] = design.step(states[prefix[:-1]], prefix[-1], reports[prefix])
    return states


def run_row(name: str, shown: Shown, written: Rewritten, retrieve: Retrieve | None, listens: bool) -> Row:
    """A line of a run: the rewrite, what it retrieved, what was shown and what it cost.

    For an offline rewriter the tokens are those that a model in its place would read and write, by rule; a design that
    listens also has the report written.
    """
    row: Row = {"id": name, "rewrite": written.query}
    if retrieve:
        row["retrieved"] = list(retrieve(written.query, DEPTH)) if written.query else []
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


def spread(runs: Sequence[Sequence[Row]]) -> float:
    """Share of the items whose rewrites are not the same in all runs."""
    pairs = zip(*runs, strict=True)
    differing = [len({row["rewrite"] for row in rows}) > 1 for rows in pairs]
    return sum(differing) / max(1, len(differing))
