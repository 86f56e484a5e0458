"""The worked example of the taxonomy, a small catalogue, and the sample's labelled items: what the tests of scope share."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from builder.core.records import Catalogue, Entity, Item, Turn
from builder.evaluate.inputs import entity_finder, items_from_labels, read_transcripts
from builder.io.store import read_jsonl

TEXTS = (
    "which european sites let us bring our own encryption keys?",
    "Frankfurt and Dublin accept customer-held keys.",
    "uptime commitment for the second?",
    "Dublin (eu-west-1) is covered by a 99.95% uptime commitment.",
    "And Dublin's RPO?",
    "In Dublin the documented RPO is 15 minutes.",
    "new topic: does the billing export API page its results?",
    "Yes, by cursor, up to 500 rows at a time.",
    "what about the reporting one?",
    "The reporting export API returns everything in one file.",
    "and the RTO over there?",
)
TURNS = tuple(Turn(n, "user" if n % 2 else "assistant", text) for n, text in enumerate(TEXTS, start=1))

CATALOGUE = Catalogue(
    (
        Entity("Dublin", "region", ("eu-west-1",)),
        Entity("Frankfurt", "region", ("eu-central-1",)),
        Entity("Oregon", "region"),
        Entity("billing export", "api", ("billing export API",)),
        Entity("reporting export", "api", ("reporting export API",)),
        Entity("Team", "plan"),
    )
)
find = entity_finder(CATALOGUE)

SAMPLE = Path(__file__).resolve().parent.parent.parent / "data" / "halyard"


@cache
def sample_items() -> tuple[Item, ...]:
    """An item for every labelled follow-up of the sample log."""
    transcripts = read_transcripts([SAMPLE / "transcripts-a.jsonl", SAMPLE / "transcripts-b.jsonl"])
    rows = [row for part in "ab" for row in read_jsonl(SAMPLE / f"labels-{part}.jsonl")]
    return tuple(items_from_labels(rows, transcripts))


def no_words(texts: Sequence[str]) -> list[tuple[float, ...]]:
    """Vectors that tell nothing apart."""
    return [(1.0,) for _ in texts]
