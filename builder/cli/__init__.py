"""The command line: parse, call, print, exit. Commands are imported only when they are run."""

import importlib
import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

from builder.core.errors import BuilderError, nearest

COMMANDS: dict[str, tuple[str, str]] = {
    "build": ("builder.cli.build:build", "The river: transcripts to a validated, versioned release"),
    "classify": ("builder.cli.classify:classify", "Labels of every follow-up of a log"),
    "evaluate": ("builder.cli.evaluate:evaluate", "Score a classifier's labels against known ones"),
    "train": ("builder.cli.train:train", "Fine-tune the reader on your labels; writes a model folder"),
    "mix": ("builder.cli.mix:mix", "Measured shares of the strata with intervals"),
    "adjudicate": ("builder.cli.adjudicate:adjudicate", "Second labels for follow-ups by a language model"),
    "prompt": ("builder.cli.adjudicate:prompt", "Print what would be sent to the model for one follow-up"),
    "validate": ("builder.cli.validate:validate", "Every problem of a release or of a file of items"),
    "diff": ("builder.cli.diff:diff", "What changed between two releases, and what stays comparable"),
    "quotas": (
        "builder.cli.quotas:app",
        "Drift of a new log against the quotas; new quotas and what they cost",
    ),
    "upgrade": ("builder.cli.upgrade:upgrade", "Items of the seven basic fields made whole for the schema"),
    "export": ("builder.cli.export:export", "A release in the form of another evaluation tool"),
    "publish": ("builder.cli.publish:publish", "A release on a Hugging Face dataset repository"),
    "show": (
        "builder.cli.show:show",
        "One item as a conversation, with its labels, its proof and why it was chosen",
    ),
    "redact": ("builder.cli.redact:redact", "The same conversations without private values"),
    "review": (
        "builder.cli.review:review",
        "A local page to accept, edit or reject items; agreement of two readers",
    ),
    "passages": ("builder.cli.passages:passages", "The passages that an export carries, as a corpus"),
    "ceiling": (
        "builder.cli.ceiling:ceiling",
        "What any window, segmentation or liveness could reach, with no model",
    ),
    "rewrite": ("builder.cli.rewrite:rewrite", "Run a scope design with a rewriter over a set"),
    "score": ("builder.cli.score:score", "Judge a run stratum by stratum, against a baseline and a gate"),
    "compare": ("builder.cli.compare:compare", "Scope designs and rewriters side by side, by stratum"),
}
"""Command (or group) name -> (where its function or Typer group stands, one line of help)."""


def _print_help() -> None:
    width = max(map(len, COMMANDS))
    print(
        "Usage: followups COMMAND [OPTIONS]\n\nStratified follow-up sets for query contextualization.\n\nCommands:"
    )
    for name, (_, summary) in COMMANDS.items():
        print(f"  {name:<{width}}  {summary}")
    print(
        "\nExample: followups build --transcripts chats.jsonl --out dist\n`followups COMMAND --help` shows options."
    )


def _app(name: str) -> Any:
    import typer

    module, _, attribute = COMMANDS[name][0].partition(":")
    command = getattr(importlib.import_module(module), attribute)
    if isinstance(command, typer.Typer):
        return command
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    app.command(name)(_with_code(command))
    return app


def _with_code(command: Callable[..., Any]) -> Callable[..., None]:
    """`command` with the number it returns as its exit code, which Typer would pass over."""

    @wraps(command)
    def run_it(*args: Any, **kwargs: Any) -> None:
        import typer

        result = command(*args, **kwargs)
        if isinstance(result, int):
            raise typer.Exit(result)

    return run_it


def _report(error: BuilderError) -> int:
    listed = error.problem in error.problems
    for problem in error.problems if listed else (*error.problems, error.problem):
        print(problem, file=sys.stderr)
    return error.code


def _of_system(error: OSError) -> BuilderError:
    """What the system would not do with a file, as a message: the last net, for what no reader or writer explained."""
    reason = (error.strerror or type(error).__name__).lower()
    return BuilderError(str(error.filename), f"cannot be opened ({reason})", "check the path and its rights")


def run(arguments: list[str]) -> int:
    """Run one command line; returns its exit code."""
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        _print_help()
        return 0
    if arguments[0] in ("--version", "version"):
        from builder import __version__

        print(__version__)
        return 0
    name, *rest = arguments
    if name not in COMMANDS:
        close = nearest(name, COMMANDS)
        print(
            f'followups: unknown command "{name}"; {f"did you mean {close}?" if close else "see followups --help"}',
            file=sys.stderr,
        )
        return 2
    try:
        result = _app(name)(args=rest, prog_name=f"followups {name}", standalone_mode=True)
    except BuilderError as error:
        return _report(error)
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.filename is None:
            raise
        return _report(_of_system(error))
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(bool(stop.code))
    except KeyboardInterrupt:
        print("interrupted; finished work is kept, run the same command again to go on", file=sys.stderr)
        return 130
    return result if isinstance(result, int) else 0


def main() -> None:
    """Entry point of `followups`."""
    try:
        code = run(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of a pipe (head, less) has left; that is no error.
        sys.stderr.close()
        code = 0
    sys.exit(code)
