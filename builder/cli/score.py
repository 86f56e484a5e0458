"""`followups score RELEASE RUN`: judge a rewriter on a set, stratum by stratum, against a baseline and a gate."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from builder.core.errors import GATE_FAILED, USAGE, BuilderError
from builder.io.items import iter_items

if TYPE_CHECKING:
    from builder.core.records import Item
    from builder.scoring.gate import Gate
    from builder.scoring.judgement import Judgement
    from builder.scoring.outcomes import Retrieve
    from builder.scoring.runs import Run

DEFAULT_K = 5
_PASSAGES = ("passages.jsonl", "corpus.jsonl", "corpus/passages.jsonl", "data/corpus.jsonl")


def score(
    release: Annotated[Path, typer.Argument(help="A release, its items.jsonl, or a folder of releases")],
    run: Annotated[
        str,
        typer.Argument(
            help="JSONL of {id, rewrite, retrieved?}, a TREC run file, or package.module:function"
        ),
    ],
    baseline: Annotated[
        str | None, typer.Option(help="A second run to compare with, in the same forms")
    ] = None,
    baseline_release: Annotated[
        Path | None, typer.Option(help="The set version the baseline ran on, when it is another one")
    ] = None,
    gate: Annotated[
        Path | None, typer.Option(help="gate.toml; exit code 3 when the run does not pass")
    ] = None,
    retrieved: Annotated[
        Path | None, typer.Option(help="TREC run file with the rankings of RUN, when it carries none")
    ] = None,
    passages: Annotated[
        Path | None, typer.Option(help="JSONL of {id, title, text} to search where a run has no rankings")
    ] = None,
    k: Annotated[int | None, typer.Option(help="Cut-off of recall, nDCG and MRR [default: 5]")] = None,
    html: Annotated[Path | None, typer.Option(help="Write a report with plots and every item here")] = None,
    junit: Annotated[Path | None, typer.Option(help="Write the verdicts as JUnit XML here")] = None,
    markdown: Annotated[
        Path | None, typer.Option(help="Append a summary here, such as $GITHUB_STEP_SUMMARY")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object")] = False,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap")] = 0,
) -> None:
    """Judge a run stratum by stratum; the mean comes last.

    Example: followups score dist run.jsonl --baseline last-week.jsonl --gate gate.toml --html report.html
    """
    from builder.evaluate.score import read_gate, score_run
    from builder.pipeline.sources import find_items
    from builder.scoring.judgement import conclude

    rules = read_gate(gate) if gate else None
    cut_off = _cut_off(k, rules)
    items_file, old_file = find_items(release), find_items(baseline_release or release)
    judged_run = _run(run, lambda: iter_items(items_file), retrieved)
    old_run = _run(baseline, lambda: iter_items(old_file), None) if baseline else None
    search = _retriever(passages, items_file.parent, [r for r in (judged_run, old_run) if r])
    judged = score_run(iter_items(items_file), judged_run, cut_off, search, seed)
    old = score_run(iter_items(old_file), old_run, cut_off, search, seed) if old_run else None
    same = old is None or [o.id for o in old.outcomes] == [o.id for o in judged.outcomes]
    judgement = conclude(_name(items_file), judged, old, rules, same, seed)
    _write(judgement, items_file, html, junit, markdown)
    _print(judgement, as_json)
    if any(verdict.blocks for verdict in judgement.verdicts):
        raise typer.Exit(GATE_FAILED)


def _cut_off(k: int | None, gate: "Gate | None") -> int:
    wanted = gate.k if gate else None
    if k is not None and wanted is not None and k != wanted:
        raise BuilderError(
            "--k", f"is {k}, but the gate was set for {wanted}", "leave --k out, or mend the gate", USAGE
        )
    return k if k is not None else wanted or DEFAULT_K


def _run(given: str, items: "Callable[[], Iterator[Item]]", rankings: Path | None) -> "Run":
    from builder.evaluate.score import read_run, run_from_callable
    from builder.scoring.runs import with_rankings

    is_function = ":" in given and not Path(given).exists()
    run = run_from_callable(given, items()) if is_function else read_run(Path(given))
    return with_rankings(run, read_run(rankings)) if rankings else run


def _retriever(passages: Path | None, folder: Path, runs: "list[Run]") -> "Retrieve | None":
    """The built-in search, when a run needs it and there are passages; a remark when there are none."""
    from builder.io.corpus import load_passages
    from builder.io.retrieve import index_passages

    if all(run.has_retrieval for run in runs):
        return None
    beside = next((folder / name for name in _PASSAGES if (folder / name).is_file()), None)
    chosen = passages or beside
    if chosen is None:
        typer.echo("no passages: retrieval is not measured; give --passages or runs with retrieved", err=True)
        return None
    return index_passages(load_passages(chosen))


def _name(items_file: Path) -> str:
    folder = items_file.resolve().parent
    return f"{folder.parent.name} {folder.name}" if (folder / "manifest.json").is_file() else items_file.name


def _write(
    judgement: "Judgement", items_file: Path, html: Path | None, junit: Path | None, markdown: Path | None
) -> None:
    from builder.evaluate.report import write_report
    from builder.io.store import refuse_overwrite, write_text
    from builder.scoring.outputs import judgement_to_markdown, verdicts_to_junit

    for page in (html, junit):
        if page:
            refuse_overwrite(page, (items_file,))
    if html:
        write_report(html, judgement, items_file)
    if junit:
        if not judgement.verdicts:
            raise BuilderError("--junit", "there are no verdicts without a gate", "give --gate", USAGE)
        write_text(junit, verdicts_to_junit(judgement.verdicts, f"followups {judgement.set_name}"))
    if markdown:
        before = markdown.read_text(encoding="utf-8") if markdown.is_file() else ""
        write_text(markdown, before + judgement_to_markdown(judgement))


def _print(judgement: "Judgement", as_json: bool) -> None:
    from builder.io.store import to_json
    from builder.scoring.outputs import judgement_to_row
    from builder.scoring.tables import judgement_lines

    row: Any = judgement_to_row(judgement) if as_json else None
    print(to_json(row).decode() if as_json else "\n".join(judgement_lines(judgement)))
