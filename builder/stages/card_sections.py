"""The sections of a dataset card, in order: how the set was built, what it holds, how to score with it."""

from collections.abc import Mapping, Sequence

from builder.core.mix import Quotas
from builder.core.records import Item
from builder.core.settings import SetSettings

MIX_METHODS = {
    "two_phase": "corrected by second labels of a random part of each stratum",
    "rogan_gladen": "corrected by the classifier's own confusion matrix",
    "labels": "counted from labels by people",
    "uncorrected": "plain counts of the classifier, not corrected for its errors",
}
"""Correction method -> the same in words."""


def built_text(
    settings: SetSettings, items: Sequence[Item], quotas: Quotas, dropped: Mapping[str, Mapping[str, int]]
) -> str:
    """How the set was built, from the log to the items."""
    mix = quotas.mix
    made = sum(item.origin == "synthetic" for item in items)
    lines = []
    if settings.source_statement:
        lines += [settings.source_statement, ""]
    lines += [
        f"{mix.n_follow_ups} follow-ups of {mix.n_conversations} sampled conversations were labelled by stratum; their "
        f"shares are {MIX_METHODS.get(mix.method, mix.method)}. Seats were allotted by largest remainder with a floor, "
        "follow-ups drawn by a hash of seed and id, and every label was checked against the taxonomy's rules before an "
        "item took a seat.",
        "",
        f"{len(items)} items; {made} of them are synthesized long-range items: real turns of other conversations stand "
        "between the follow-up and what it refers to. `synthesis` says which.",
    ]
    if dropped:
        lines += ["", "Records that left on the way:", "", "| stage | reason | records |", "|---|---|---|"]
        lines += [
            f"| {stage} | {why} | {n} |" for stage, counts in dropped.items() for why, n in counts.items()
        ]
    return "\n".join(lines)


def limits_text(items: Sequence[Item], quotas: Quotas, short: Mapping[str, int]) -> str:
    """Known limits of this very set."""
    lines = [
        "- `not_a_query` and `unresolvable` follow-ups are counted in the mix and are never items.",
        "- Term checks are lexical: a rewrite that words a required thing in a way no alias lists counts as missing it.",
    ]
    pooled = sum(item.gold_source == "pooled" for item in items)
    bare = sum(item.gold_source == "none" for item in items)
    if pooled:
        lines.append(
            f"- Gold of {pooled} items is pooled lexical retrieval, which favours lexical retrievers."
        )
    if bare:
        lines.append(f"- {bare} items have no gold passage: score their terms only.")
    if short:
        lines.append(
            "- Seats that stayed empty: " + ", ".join(f"{name} {n}" for name, n in short.items()) + "."
        )
    lines += [f"- {note.rstrip('.')}." for note in quotas.mix.notes]
    return "\n".join(lines)


SCORING = """
Load the items, let your rewriter write one standalone query for each, and judge every stratum on its own:

```python
from datasets import load_dataset

items = load_dataset("ORG/NAME", "items", split="test", revision="vX.Y.Z")
```

- A rewrite passes when it contains every term of `required_in_rewrite` (one wording of each suffices, see `aliases`) and
  none of `forbidden_in_rewrite` (no wording of any).
- Retrieval: `corpus` and `qrels`, or the BEIR files at the top of the repository.
- Report strata beside the mean. The mean over production is `sum(weight * score) / sum(weight)`.
- Name the version. Scores of two versions compare on the items listed under `bridge` in `manifest.json`.
""".strip()
"""How to score with a set."""

FIELDS = """
One item is a follow-up with the turns before it. `d_live` is the distance of the farthest turn it needs, `d_stale` that of
the nearest turn that mentions a forbidden term; a history window of w turns is right exactly when `d_live <= w < d_stale`.
`schemas/item.json` describes every field.
""".strip()
"""What an item is."""


def citation_text(settings: SetSettings, size: int) -> str:
    """How to cite the set."""
    title = f"  title = {{{settings.title or settings.name}}}"
    note = f"  note = {{Follow-up set of {size} items; name the version you used}}"
    return f"```bibtex\n@misc{{{settings.name},\n{title},\n{note}\n}}\n```"
