"""The taxonomy's worked example as items, for tests of review."""

from typing import Any

from builder.core.records import Aliases, Item, Turn
from builder.stages.review import relabel

SAID = (
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
DUBLIN: Aliases = (("Dublin", ("eu-west-1",)),)


def item(turn: int, said: tuple[str, ...] = SAID, **labels: Any) -> Item:
    """The item at `turn` of the worked example, or of another talk, with `labels` and what follows from them."""
    bare = Item(
        id=f"fu_{turn:04}",
        conversation_id="worked",
        turn=turn,
        prefix=tuple(
            Turn(n, "user" if n % 2 else "assistant", text)
            for n, text in enumerate(said[: turn - 1], start=1)
        ),
        follow_up=said[turn - 1],
        gold=(),
        reference_type="standalone",
        forbidden_in_rewrite=(),
        required_in_rewrite=(),
        aliases=(),
        reference_rewrite=None,
        form="none",
        pivot=False,
        returns=False,
        antecedent_turns=(),
        d_live=0,
        d_stale=None,
        d_introduced=0,
        intervening_turns=0,
        language="en",
        origin="sampled",
        weight=1.0,
        inclusion_probability=0.1,
        labelled_by="rules",
        confidence=0.8,
    )
    given = {
        "form": "none",
        "pivot": False,
        "returns": False,
        "antecedent_turns": [],
        "required_in_rewrite": [],
        "forbidden_in_rewrite": [],
        "aliases": {},
        "reference_rewrite": None,
        "gold": [],
    }
    return relabel(bare, given | labels)


def worked_items() -> list[Item]:
    """Turns 3, 5, 7 and 11 of the worked example."""
    return [
        item(
            3,
            form="ordinal",
            antecedent_turns=[2],
            required_in_rewrite=["Dublin", "uptime"],
            forbidden_in_rewrite=["Frankfurt"],
            aliases={"Dublin": ["eu-west-1"]},
            reference_rewrite="Dublin uptime commitment",
        ),
        item(
            5,
            required_in_rewrite=["Dublin", "RPO"],
            forbidden_in_rewrite=["uptime", "Frankfurt"],
            reference_rewrite="Dublin RPO",
        ),
        item(
            7,
            pivot=True,
            required_in_rewrite=["billing export"],
            forbidden_in_rewrite=["Dublin", "RPO"],
            aliases={"Dublin": ["eu-west-1"]},
            reference_rewrite="billing export API pagination",
        ),
        item(
            11,
            form="pronoun",
            pivot=True,
            returns=True,
            antecedent_turns=[6],
            required_in_rewrite=["Dublin", "RTO"],
            forbidden_in_rewrite=["reporting export", "billing export"],
            aliases={"Dublin": ["eu-west-1"]},
            reference_rewrite="Dublin RTO",
        ),
    ]


HOSTILE = (
    '<script>window.hacked = 1</script><img src=x onerror="window.hacked = 1"> is Frankfurt ok?',
    "</textarea><script>window.hacked = 1</script> &lt;b&gt; Frankfurt \u202egnihton\u202c and Dublin\u200b, {{ 7*7 }}",
    "</p></li></ol><h1>OWNED</h1> and the \u2066other\u2069 one?",
)


def hostile_item() -> Item:
    """An item whose text tries to be markup and to turn around, and one of whose terms does too."""
    return item(
        3,
        HOSTILE,
        form="ordinal",
        antecedent_turns=[2],
        required_in_rewrite=["Dublin"],
        forbidden_in_rewrite=["Frankfurt"],
        aliases={"Frankfurt": ["</textarea><script>window.hacked = 1</script>"]},
        reference_rewrite="Dublin",
    )
