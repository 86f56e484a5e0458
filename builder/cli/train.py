"""`followups train LABELS...`: fine-tune the reader on labels and write a model folder for `classify --model`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from builder.core.errors import BuilderError


def train(
    labels: Annotated[list[Path], typer.Argument(help="Label files, one follow-up a line")],
    transcripts: Annotated[
        list[Path] | None, typer.Option(help="Their transcripts; default: the same names with 'transcripts'")
    ] = None,
    out: Annotated[Path, typer.Option(help="Model folder to write")] = Path("model"),
    base: Annotated[
        Path | None,
        typer.Option(help="Folder with model.safetensors and tokenizer.json; default: the shipped model"),
    ] = None,
    public: Annotated[
        Path | None, typer.Option(help="Folder with public corpora, as partial gold beside the labels")
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(min=1, help="Passes over the labels; default: the shipped recipe")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Of order, augmentation and fresh weights")] = None,
    work: Annotated[Path | None, typer.Option(help="Where folds are kept, so that a rerun goes on")] = None,
) -> None:
    """Fine-tune the reader on your labels and write a model folder, with its card.

    Example: followups train data/labels-a.jsonl data/labels-b.jsonl --out model
    """
    from builder.io.store import refuse_overwrite

    refuse_overwrite(out, (*labels, *(transcripts or ()), *(path for path in (base, public, work) if path)))
    try:
        import onnx  # noqa: F401  # the extra is whole or absent
        import safetensors  # noqa: F401
        import torch  # noqa: F401
    except ImportError as error:
        raise BuilderError(
            "train",
            f"the extra is not installed ({error.name} is missing)",
            "install followups[train]; where no accelerator is wanted, the CPU build of torch first",
        ) from None
    from builder.model.training.session import Plan, train_model

    plan = Plan(tuple(labels), tuple(transcripts or ()), out, base, public, epochs, seed, work)
    card = train_model(plan, lambda line: print(line, file=sys.stderr))
    print(f"{out}: {card['n_follow_ups']} follow-ups, left out in {len(card['folds'])} folds")
    for name, row in card["figures"].items():
        print(
            f"  {name:<22} needs-history {row['needs_history_accuracy']:.3f}  macro-F1 {row['macro_f1']:.3f}"
            f"  pivot F1 {row['pivot']['f1']:.3f} (always {row['pivot_f1_always_shift']:.3f})"
            f"  d_live {row['d_live_exact_on_dependent']:.3f}"
        )
