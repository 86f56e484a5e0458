"""Items, outcomes and runs that the scoring tests share: the taxonomy's worked example and the Halyard labels."""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

from builder.core.records import Item, Turn
from builder.core.taxonomy import ITEM_STRATA
from builder.evaluate.inputs import items_from_labels, read_transcripts
from builder.scoring.metrics import METRIC_NAMES
from builder.scoring.outcomes import Outcome
from builder.scoring.runs import Run, RunRow

HALYARD = Path(__file__).resolve().parents[2] / "data" / "halyard"

PREFIX = (
    Turn(1, "user", "which european sites let us bring our own encryption keys?"),
    Turn(2, "assistant", "Frankfurt and Dublin accept customer-held keys."),
    Turn(3, "user", "uptime commitment for the second?"),
    Turn(4, "assistant", "Dublin (eu-west-1) is covered by a 99.95% uptime commitment."),
    Turn(5, "user", "And Dublin's RPO?"),
    Turn(6, "assistant", "In Dublin the documented RPO is 15 minutes."),
)

PIVOT = Item(
    id="fu_pivot",
    conversation_id="c1",
    turn=7,
    prefix=PREFIX,
    follow_up="new topic: does the billing export API page its results?",
    gold=("docs/billing-export#pagination",),
    reference_type="post_pivot_standalone",
    required_in_rewrite=("billing export",),
    forbidden_in_rewrite=("Dublin", "RPO", "encryption"),
    aliases=(("Dublin", ("eu-west-1",)), ("billing export", ("billing exports API",))),
    reference_rewrite="billing export API pagination",
    form="none",
    pivot=True,
    returns=False,
    antecedent_turns=(),
    d_live=0,
    d_stale=1,
    d_introduced=0,
    intervening_turns=0,
    language="en",
    origin="sampled",
    weight=1.0,
    inclusion_probability=0.1,
    labelled_by="human",
    confidence=1.0,
)

ORDINAL = replace(
    PIVOT,
    id="fu_ordinal",
    turn=3,
    prefix=PREFIX[:2],
    follow_up="uptime commitment for the second?",
    gold=("docs/dublin#sla", "docs/sla#overview"),
    reference_type="ordinal",
    form="ordinal",
    pivot=False,
    forbidden_in_rewrite=("Frankfurt",),
    required_in_rewrite=("Dublin", "uptime"),
    reference_rewrite="Dublin uptime commitment",
    antecedent_turns=(2,),
    d_live=1,
    d_stale=1,
)


def outcome(
    name: str, stratum: str = "pronoun", conversation: str = "", weight: float = 1.0, **values: float
) -> Outcome:
    """An outcome with the given metric values and None elsewhere."""
    assert stratum in ITEM_STRATA
    assert values.keys() <= set(METRIC_NAMES)
    return Outcome(
        name, conversation or name, stratum, (("form", "pronoun"),), weight, 1, 1, "rewritten", "",
        tuple(values.get(metric) for metric in METRIC_NAMES),
    )  # fmt: skip


def outcomes_of(stratum: str, hits: int, n: int, start: str = "i") -> list[Outcome]:
    """`n` outcomes of one stratum, each of a conversation of its own, the first `hits` of them with recall 1."""
    return [outcome(f"{start}-{stratum}-{at:03}", stratum, recall=float(at < hits)) for at in range(n)]


@cache
def halyard_items() -> tuple[Item, ...]:
    """An item for every Halyard label of both months that can be one."""
    transcripts = read_transcripts([HALYARD / "transcripts-a.jsonl", HALYARD / "transcripts-b.jsonl"])
    rows = [
        json.loads(line)
        for month in "ab"
        for line in (HALYARD / f"labels-{month}.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    return tuple(items_from_labels(rows, transcripts))


def pasted_run(items: tuple[Item, ...], turns: int) -> Run:
    """The run that pastes the last `turns` turns in front of the message."""
    return Run(
        f"last {turns}",
        {
            item.id: RunRow(" ".join([*(t.content for t in item.prefix[-turns:] if turns), item.follow_up]))
            for item in items
        },
    )
