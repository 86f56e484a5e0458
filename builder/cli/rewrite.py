"""`followups rewrite RELEASE --design NAME --out run.jsonl`: a set through one scope design and one rewriter."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from builder.core.errors import USAGE, BuilderError, unknown_name
from builder.core.settings import ModelSettings

if TYPE_CHECKING:
    from builder.scope.rewriters import Rewriter
    from builder.scope.shown import FindEntities

PROMPT = "rewrite.1"


def rewrite(
    source: Annotated[
        Path, typer.Argument(metavar="RELEASE", help="A release, an item file, or labels with --transcripts")
    ],
    design: Annotated[str, typer.Option(help="Scope design, such as window:6, segments, threads, liveness")],
    out: Annotated[Path, typer.Option(help="Run file to write, JSONL")],
    rewriter: Annotated[str, typer.Option(help="expand, resolve, paste, none, or openai")] = "resolve",
    samples: Annotated[
        int, typer.Option(help="Answers of the model to each question, a run file for each", min=1)
    ] = 1,
    config: Annotated[
        Path | None, typer.Option(help="Settings file: its [model] for openai, its entity catalogue")
    ] = None,
    base_url: Annotated[str, typer.Option(help="Server with the OpenAI chat interface")] = "",
    model: Annotated[str, typer.Option(help="Name of the model")] = "",
    max_cost: Annotated[
        float | None, typer.Option(min=0, help="Stop before this run spends more, in US dollars")
    ] = None,
    transcripts: Annotated[list[Path] | None, typer.Option(help="Transcripts of the labels")] = None,
    passages: Annotated[
        Path | None, typer.Option(help="Passages as JSONL; those of the release by default")
    ] = None,
    entities: Annotated[Path | None, typer.Option(help="Entity catalogue; names are mined beside it")] = None,
    embed: Annotated[str, typer.Option(help="Sentence vectors: words or minilm")] = "words",
) -> None:
    """Write what a rewriter makes of each item under a scope design, with what it was shown and what it cost.

    Example: followups rewrite dist --design window:2 --rewriter resolve --out run.jsonl
    """
    from builder.cli.compare import catalogue_path, load_items, open_retriever
    from builder.cli.inputs import keep_inputs
    from builder.evaluate.inputs import entity_finder, make_embedder, read_catalogue
    from builder.evaluate.rewrite import run_design, spread
    from builder.io.store import write_jsonl
    from builder.scope.designs import Tools, make_design

    if samples > 1 and rewriter != "openai":
        raise BuilderError("--samples", f"{rewriter} gives the same rewrite each time", "leave it out", USAGE)
    outs = [out if sample == 0 else out.with_suffix(f".{sample}{out.suffix}") for sample in range(samples)]
    keep_inputs(outs, source, (*(transcripts or ()), config, passages, entities))
    items = load_items(source, transcripts or [])
    find = entity_finder(read_catalogue(catalogue_path(entities, config), items))
    made = make_design(design, Tools(find, make_embedder(embed)))
    retrieve = open_retriever(source, passages)
    settings = _settings(config, base_url, model, max_cost)
    runs = []
    for sample, path in enumerate(outs):
        rows = run_design(items, made, _rewriter(rewriter, find, settings, sample), retrieve)
        write_jsonl(path, rows)
        runs.append(rows)
        print(path)
    print("\n".join(_summary(runs)), file=sys.stderr)
    if samples > 1:
        print(f"items whose {samples} rewrites differ: {spread(runs):.1%}", file=sys.stderr)


def _settings(config: Path | None, base_url: str, model: str, max_cost: float | None) -> ModelSettings:
    from builder.config import load_settings

    asked = load_settings(config).model
    return replace(
        asked,
        base_url=base_url or asked.base_url,
        name=model or asked.name,
        max_cost=asked.max_cost if max_cost is None else max_cost,
    )


def _rewriter(name: str, find: "FindEntities", settings: ModelSettings, sample: int) -> "Rewriter":
    from builder.scope.rewriters import OFFLINE, ONLINE, offline_rewriter

    if name in OFFLINE:
        return offline_rewriter(name, find)
    if name not in ONLINE:
        raise unknown_name("--rewriter", "rewriter", name, [*OFFLINE, *ONLINE])
    from builder.io.llm import make_complete
    from builder.io.resources import PACKAGE
    from builder.io.store import read_bytes
    from builder.scope.model_rewriter import Prompt, model_rewriter

    text = read_bytes(PACKAGE / "prompts" / f"{PROMPT}.md", "prompt file").decode()
    folder = Path(".followups") / "calls"
    complete = make_complete(settings, folder, lambda said: print(said, file=sys.stderr), sys.stderr.isatty())
    return model_rewriter(complete, Prompt(text, PROMPT), find, sample)


def _summary(runs: Sequence[Sequence[dict[str, Any]]]) -> list[str]:
    rows = [row for run in runs for row in run]
    missing = sum(row["rewrite"] is None for row in rows)
    tokens = {side: sum(row["tokens"][side] for row in rows) for side in ("calls", "input", "output")}
    return [
        f"{len(rows)} rewrites, {missing} missing; {tokens['calls']} calls, {tokens['input']} tokens in, {tokens['output']} out"
    ]
