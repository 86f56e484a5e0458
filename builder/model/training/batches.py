"""Examples as tensors: targets with masks, and batches of like length."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from builder.core.taxonomy import FORM_NAMES, LONG_RANGE, STRATUM_NAMES
from builder.model.evidence import BINARY
from builder.model.rendering import N_TURN_FACTS, Rendering
from builder.model.training.examples import Example

UNKNOWN = -1.0


@dataclass(frozen=True, slots=True)
class Row:
    """One example ready for the network; targets are -1 where the source is silent."""

    rendering: Rendering
    binary: tuple[float, ...]
    form: int
    stratum: int
    turns: tuple[tuple[float, float], ...]


def target_row(example: Example, rendering: Rendering) -> Row:
    """The example's targets: the binary ones, form, stratum, and per seen turn antecedent and same subject."""
    antecedents = example.antecedent_turns
    far = None
    if antecedents is not None and example.stratum is not None:
        far = any(example.turn - n >= LONG_RANGE for n in antecedents)
    known = {name: getattr(example, name) for name in BINARY if name != "long_range"} | {"long_range": far}
    same = dict(example.same_subject)
    return Row(
        rendering,
        tuple(UNKNOWN if known[name] is None else float(known[name]) for name in BINARY),
        -1 if example.form is None else FORM_NAMES.index(example.form),
        -1 if example.stratum is None else STRATUM_NAMES.index(example.stratum),
        tuple(
            (
                UNKNOWN if antecedents is None else float(number in antecedents),
                float(same[number]) if number in same else UNKNOWN,
            )
            for number in rendering.seen
        ),
    )


def batches(rows: Sequence[Row], size: int, rng: np.random.Generator) -> Iterator[list[Row]]:
    """Batches of like length in random order, every row once."""
    noise = rng.random(len(rows)) * 24
    order = sorted(range(len(rows)), key=lambda i: len(rows[i].rendering.ids) + noise[i])
    chunks = [order[start : start + size] for start in range(0, len(order), size)]
    for chunk in rng.permutation(len(chunks)):
        yield [rows[i] for i in chunks[chunk]]


def collate(rows: Sequence[Row]) -> dict[str, Tensor]:
    """Padded tensors of a batch; padded marks point at position 0 and carry unknown targets."""
    longest = max(len(row.rendering.ids) for row in rows)
    most = max(1, *(len(row.rendering.marks) for row in rows))
    shape = (len(rows), longest)
    ids, kinds = torch.zeros(shape, dtype=torch.long), torch.zeros(shape, dtype=torch.long)
    marks = torch.zeros((len(rows), most), dtype=torch.long)
    turn_facts = torch.zeros((len(rows), most, N_TURN_FACTS))
    turns = torch.full((len(rows), most, 2), UNKNOWN)
    for i, row in enumerate(rows):
        r = row.rendering
        ids[i, : len(r.ids)] = torch.tensor(r.ids)
        kinds[i, : len(r.ids)] = torch.tensor(r.kinds)
        if r.marks:
            marks[i, : len(r.marks)] = torch.tensor(r.marks)
            turn_facts[i, : len(r.marks)] = torch.tensor(r.turn_facts)
            turns[i, : len(r.marks)] = torch.tensor(row.turns)
    return {
        "ids": ids,
        "kinds": kinds,
        "lengths": torch.tensor([len(row.rendering.ids) for row in rows]),
        "ends": torch.tensor([row.rendering.follow_up_end for row in rows]),
        "marks": marks,
        "turn_facts": turn_facts,
        "global_facts": torch.tensor([row.rendering.global_facts for row in rows]),
        "binary": torch.tensor([row.binary for row in rows]),
        "form": torch.tensor([row.form for row in rows]),
        "stratum": torch.tensor([row.stratum for row in rows]),
        "turns": turns,
    }
