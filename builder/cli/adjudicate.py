"""`followups adjudicate` and `followups prompt`: second labels by a language model, and what it is asked."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from builder.core.errors import BuilderError, nearest
from builder.core.settings import ModelSettings

if TYPE_CHECKING:
    from builder.core.records import FollowUp, Transcript
    from builder.core.rows import Row
    from builder.pipeline.sources import Sources

Transcripts = Annotated[
    list[Path] | None,
    typer.Argument(help="Log: files, folders or globs; the settings' own when none is given"),
]
Config = Annotated[Path | None, typer.Option(help="Settings file, dataset.toml")]
Out = Annotated[Path, typer.Option(help="Folder of releases; finished work is kept in its .work")]


def adjudicate(
    transcripts: Transcripts = None,
    config: Config = None,
    labels: Annotated[Path, typer.Option(help="File for the second labels, one a line")] = Path(
        "second_labels.jsonl"
    ),
    base_url: Annotated[str, typer.Option(help="Server with the OpenAI chat interface")] = "",
    model: Annotated[str, typer.Option(help="Name of the model")] = "",
    per_stratum: Annotated[
        int | None, typer.Option(min=1, help="Follow-ups of each predicted stratum")
    ] = None,
    max_cost: Annotated[
        float | None, typer.Option(min=0, help="Stop before this run spends more, in US dollars")
    ] = None,
    batch: Annotated[bool, typer.Option("--batch", help="Use the provider's batch endpoint")] = False,
    fast: Annotated[bool, typer.Option("--fast", help="Classify by rules first, without the model")] = False,
    out: Out = Path("dist"),
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress on stderr")] = False,
) -> None:
    """Let a language model label a random part of each predicted stratum a second time.

    Example: followups adjudicate chats.jsonl --model gpt-5-mini --max-cost 5
    """
    from builder.core.errors import INVALID_DATA
    from builder.core.rows import follow_up_to_row
    from builder.io.llm import check_model
    from builder.io.store import write_jsonl
    from builder.pipeline.second_labels import second_labels

    sources = _sources(transcripts, config, out, fast, not quiet and sys.stderr.isatty())
    settings = sources.settings
    asked = _asked(settings.model, base_url, model, max_cost, batch)
    check_model(asked)
    second = replace(
        settings.adjudicate, source="model", per_stratum=per_stratum or settings.adjudicate.per_stratum
    )
    sources = replace(sources, settings=replace(settings, model=asked, adjudicate=second))
    read, follow_ups = _classified(sources, quiet)
    announce = None if quiet else lambda text: print(text, file=sys.stderr)
    made = second_labels(sources, read, follow_ups, announce)
    if not made["second"]:
        facts = made["adjudicate_facts"][0]
        raise BuilderError(
            asked.base_url or asked.name,
            f"no second labels ({facts['chosen']} asked for, abstentions: {facts['abstained'] or 'none'})",
            "see whether the model follows the answer's schema (followups prompt ID shows what it is asked)",
            INVALID_DATA,
        )
    write_jsonl(labels, (follow_up_to_row(follow_up) for follow_up in made["second"]))
    print("\n".join(_summary(made["adjudicate_facts"][0], labels)))


def _asked(
    settings: ModelSettings, base_url: str, name: str, max_cost: float | None, batch: bool
) -> ModelSettings:
    """[model] with what the command line said."""
    return replace(
        settings,
        base_url=base_url or settings.base_url,
        name=name or settings.name,
        max_cost=settings.max_cost if max_cost is None else max_cost,
        batch=batch or settings.batch,
    )


def prompt(
    follow_up: Annotated[str, typer.Argument(metavar="ID", help="Follow-up, conversation#turn, or item id")],
    transcripts: Transcripts = None,
    config: Config = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the body of the call")] = False,
    out: Out = Path("dist"),
) -> None:
    """Print exactly what would be sent to the language model about one follow-up.

    Example: followups prompt hal-a-001#5 data/halyard/transcripts-a.jsonl
    """
    from builder.core.identity import item_id
    from builder.io.calls import parameters
    from builder.io.store import to_json
    from builder.pipeline.river import River
    from builder.pipeline.second_labels import load_prompt
    from builder.stages.adjudicate import request_for

    sources = _sources(transcripts, config, out, fast=True, progress=False)
    river = River(sources, sources.work)
    river.run("sample")
    places = {
        f"{t.id}#{turn}": (t, turn) for t in river.artefact("transcripts") for turn in t.follow_up_turns
    }
    places |= {item_id(t.id, turn): (t, turn) for t, turn in list(places.values())}
    if follow_up not in places:
        close = nearest(follow_up, places)
        hint = f"did you mean {close}?" if close else "give conversation#turn"
        raise BuilderError("prompt", f'no follow-up "{follow_up}"', hint, 2)
    transcript, turn = places[follow_up]
    request = request_for(
        _pointer(transcript.id, turn), transcript, load_prompt(sources.settings.classify.long_range)
    )
    body = parameters(sources.settings.model, request)
    if as_json:
        print(to_json(body).decode())
    else:
        print("\n\n".join(f"=== {message['role']}\n{message['content']}" for message in body["messages"]))


def _sources(
    transcripts: list[Path] | None, config: Path | None, out: Path, fast: bool, progress: bool
) -> "Sources":
    from builder.pipeline.build import Overrides, open_sources

    return open_sources(
        config, out, Overrides(transcripts=tuple(transcripts or ()), fast=fast), progress=progress
    )


def _classified(sources: "Sources", quiet: bool) -> tuple[list["Transcript"], list["FollowUp"]]:
    from builder.pipeline.river import River

    announce = None if quiet else lambda stage: print(f"{stage} ...", file=sys.stderr)
    river = River(sources, sources.work, announce)
    river.run("classify")
    return river.artefact("transcripts"), river.artefact("follow_ups")


def _pointer(conversation_id: str, turn: int) -> "FollowUp":
    from builder.core.records import FollowUp

    return FollowUp(conversation_id, turn, "", "", "none", False, False, (), 0, 0, (), (), None, 0.0)


def _summary(facts: "Row", labels: Path) -> list[str]:
    lines = [
        f"{labels}: {facts['labelled']} second labels of {facts['chosen']} follow-ups, by {facts['model']}"
    ]
    lines += [f"abstained: {reason} ({count})" for reason, count in facts["abstained"].items()]
    for name in ("agreement_with_itself", "agreement_with_people"):
        if facts[name]:
            kappas = ", ".join(f"{field} {value:.2f}" for field, value in facts[name]["kappa"].items())
            lines.append(f"{name.replace('_', ' ')}: kappa {kappas} over {facts[name]['n']} follow-ups")
    tokens = f"{facts['input_tokens']} tokens in, {facts['output_tokens']} out"
    lines.append(f"{facts['calls']} calls, {tokens}, ${facts['cost']:.4f}")
    return lines
