"""`followups review`: a local page on which people accept, edit or reject items, and how far two of them agree."""

import getpass
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from builder.core.rows import Row
    from builder.pipeline.desk import Sitting


def review(
    items: Annotated[Path, typer.Argument(help="A release, a folder of releases, or an item file")],
    decisions: Annotated[
        Path, typer.Option(help="Decisions file; lines are only ever added, so a review can go on any day")
    ] = Path("decisions.jsonl"),
    reading: Annotated[
        int, typer.Option("--pass", min=1, max=2, help="2: read blindly what the first pass read")
    ] = 1,
    adjudicate: Annotated[
        bool, typer.Option("--adjudicate", help="Settle what the two passes read differently")
    ] = False,
    agreement: Annotated[
        bool, typer.Option("--agreement", help="Print how far the two passes agree, and stop")
    ] = False,
    passages: Annotated[Path | None, typer.Option(help="Corpus, to show the gold passages' text")] = None,
    reviewer: Annotated[str, typer.Option(help="Your name in the decisions; default: your account's")] = "",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one")] = 0,
    browser: Annotated[bool, typer.Option("--open", help="Open the page in your browser")] = False,
) -> None:
    """Serve a page, for this machine only, on which one person reads the items of a set and decides about each.

    The decisions go into a set through [input] reviews in dataset.toml.
    Example: followups review dist --decisions decisions.jsonl
    """
    from datetime import UTC, datetime

    from builder.core.decisions import ADJUDICATION
    from builder.io.items import read_items
    from builder.io.review.journal import open_journal
    from builder.pipeline.desk import Sitting, pass_agreement
    from builder.pipeline.sources import find_items

    known = {item.id: item for item in read_items(find_items(items))}
    journal = open_journal(decisions)
    if journal.remark:
        print(journal.remark, file=sys.stderr)

    if agreement:
        _print_agreement(pass_agreement(known, journal))
        return
    corpus = {}
    if passages:
        from builder.io.source import load_passages

        corpus = {passage.id: passage for passage in load_passages(passages)}
    sitting = Sitting(
        known,
        journal,
        ADJUDICATION if adjudicate else reading,
        reviewer or getpass.getuser(),
        lambda: datetime.now(UTC).isoformat(timespec="seconds"),
        corpus,
    )
    _serve(sitting, port, browser)


def _serve(sitting: "Sitting", port: int, browser: bool) -> None:
    import secrets

    from builder.io.review.app import make_app
    from builder.io.review.server import LOOPBACK, open_port, serve
    from builder.pipeline.desk import open_desk

    desk = open_desk(sitting)
    listening = open_port(port)
    bound = listening.getsockname()[1]
    token = secrets.token_urlsafe(32)
    hosts = frozenset({f"{LOOPBACK}:{bound}", f"localhost:{bound}"})
    address = f"http://{LOOPBACK}:{bound}/?token={token}"
    print(address, flush=True)
    print("for this machine only; Ctrl+C stops it, every decision is kept at once", file=sys.stderr)
    if browser:
        import webbrowser

        webbrowser.open(address)
    serve(make_app(desk, token, hosts), listening)


def _print_agreement(figures: "Row") -> None:
    print(f"{figures['n']} items read twice")
    for name, value in figures["kappa"].items():
        print(f"  {name:<26}kappa {value:.3f}")
    for name in ("antecedent_turns_identical", "required_overlap", "forbidden_overlap"):
        print(f"  {name:<26}{figures[name]:.3f}")
