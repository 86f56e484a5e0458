"""Fine-tuning: losses with masks, schedule, and the loop."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from builder.model.evidence import BINARY, N_FORMS
from builder.model.rendering import Rendering
from builder.model.training.batches import Row, batches, collate
from builder.model.training.network import Reader

_BINARY_WEIGHTS = (1.0, 1.0, 0.5, 0.4, 0.3, 0.3)
_FORM_WEIGHT, _STRATUM_WEIGHT, _ANTECEDENT_WEIGHT, _SUBJECT_WEIGHT = 0.6, 1.0, 0.7, 0.25


@dataclass(frozen=True, slots=True)
class Recipe:
    """How one stage of training goes; the shipped stages stand in weights/recipe.json.

    Attributes:
        epochs: Passes over the fully labelled examples.
        batch: Follow-ups a step.
        rate: Peak learning rate of the encoder; the heads learn `head_factor` times as fast.
        head_factor: See `rate`.
        warmup: Share of the steps with a rising rate; it falls to zero by a cosine after that.
        decay: Weight decay.
        drop: Dropout on what the heads read.
        mask_share: Share of pieces replaced by [MASK] while training.
        smoothing: Label smoothing of form and stratum.
        augmented: Share of fully labelled examples that are replaced by an augmented one, per epoch.
        partial: Partially labelled examples per epoch, drawn anew each time.
        average: Decay of the running mean of the weights, per step; 0 for none.
        seed: Of initial heads, order and augmentation.
        without: Sources that this stage does not read.
    """

    epochs: int = 3
    batch: int = 16
    rate: float = 1.2e-4
    head_factor: float = 6.0
    warmup: float = 0.08
    decay: float = 0.01
    drop: float = 0.1
    mask_share: float = 0.04
    smoothing: float = 0.05
    augmented: float = 0.4
    partial: int = 600
    average: float = 0.99
    seed: int = 1
    without: tuple[str, ...] = ()


def loss_of(out: tuple[Tensor, Tensor], batch: Mapping[str, Tensor], smoothing: float) -> Tensor:
    """The summed loss of a batch; targets of -1 count nothing."""
    whole, each = out
    n = len(BINARY)
    binary = F.binary_cross_entropy_with_logits(whole[:, :n], batch["binary"].clamp(min=0), reduction="none")
    binary = binary * (batch["binary"] >= 0) * torch.tensor(_BINARY_WEIGHTS)
    total = binary.sum(1).mean()
    classes = (
        ("form", whole[:, n : n + N_FORMS], _FORM_WEIGHT),
        ("stratum", whole[:, n + N_FORMS :], _STRATUM_WEIGHT),
    )
    for name, logits, weight in classes:
        one = F.cross_entropy(
            logits, batch[name], ignore_index=-1, reduction="sum", label_smoothing=smoothing
        )
        total = total + weight * one / len(whole)
    turns = F.binary_cross_entropy_with_logits(each, batch["turns"].clamp(min=0), reduction="none")
    turns = turns * (batch["turns"] >= 0)
    weights = torch.tensor([_ANTECEDENT_WEIGHT, _SUBJECT_WEIGHT])
    return total + (turns.sum(1) * weights).sum(1).mean()


def fit(
    reader: Reader,
    rows_of_epoch: Callable[[np.random.Generator], Sequence[Row]],
    recipe: Recipe,
    report: Callable[[str], None],
) -> Reader:
    """Train `reader` in place and return it with its averaged weights."""
    rng = np.random.default_rng(recipe.seed)
    torch.manual_seed(recipe.seed)
    heads = [p for name, p in reader.named_parameters() if name.startswith(("whole", "each"))]
    encoder = [
        p
        for name, p in reader.named_parameters()
        if p.requires_grad and not name.startswith(("whole", "each"))
    ]
    groups = [
        {"params": encoder, "lr": recipe.rate},
        {"params": heads, "lr": recipe.rate * recipe.head_factor},
    ]
    optimizer = torch.optim.AdamW(groups, weight_decay=recipe.decay, betas=(0.9, 0.98), fused=True)
    rows = rows_of_epoch(rng)
    steps = recipe.epochs * math.ceil(len(rows) / recipe.batch)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: rate_at(step, steps, recipe.warmup))
    learned = {name: p for name, p in reader.named_parameters() if p.requires_grad}
    mean = {name: p.detach().clone() for name, p in learned.items()}
    step = 0
    for epoch in range(recipe.epochs):
        rows = rows if epoch == 0 else rows_of_epoch(rng)
        losses = []
        for chunk in batches(rows, recipe.batch, rng):
            losses.append(_step(reader, collate(chunk), optimizer, recipe))
            schedule.step()
            step += 1
            share = min(recipe.average, (1 + step) / (10 + step)) if recipe.average else 0.0
            torch._foreach_lerp_(list(mean.values()), [p.detach() for p in learned.values()], 1 - share)
        report(f"epoch {epoch + 1}/{recipe.epochs}: {len(rows)} follow-ups, loss {np.mean(losses):.3f}")
    reader.load_state_dict(mean, strict=False)
    return reader


def rate_at(step: int, steps: int, warmup: float) -> float:
    """Share of the peak rate: a linear rise, then half a cosine to zero."""
    rise = max(1, round(steps * warmup))
    if step < rise:
        return (step + 1) / rise
    return 0.5 * (1 + math.cos(math.pi * min(1.0, (step - rise) / max(1, steps - rise))))


def _step(
    reader: Reader, batch: dict[str, Tensor], optimizer: torch.optim.Optimizer, recipe: Recipe
) -> float:
    plain = batch["ids"] > 105
    masked = (torch.rand(batch["ids"].shape) < recipe.mask_share) & plain
    batch["ids"] = batch["ids"].masked_fill(masked, 103)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = reader(batch, recipe.drop)
    loss = loss_of((out[0].float(), out[1].float()), batch, recipe.smoothing)
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
    optimizer.step()
    return float(loss.detach())


def predict(
    reader: Reader, renderings: Sequence[Rendering], size: int = 32
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Logits of each follow-up and of its seen turns, in the order given."""
    order = sorted(range(len(renderings)), key=lambda i: len(renderings[i].ids))
    found: list[tuple[np.ndarray, np.ndarray] | None] = [None] * len(renderings)
    for start in range(0, len(order), size):
        chunk = order[start : start + size]
        rows = [
            Row(r, (0.0,) * len(BINARY), 0, 0, ((0.0, 0.0),) * len(r.seen))
            for r in (renderings[i] for i in chunk)
        ]
        with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
            whole, each = reader(collate(rows))
        for k, i in enumerate(chunk):
            found[i] = (whole[k].float().numpy(), each[k, : len(renderings[i].seen)].float().numpy())
    return [pair for pair in found if pair is not None]
