"""`followups publish RELEASE --repo ORG/NAME`: one commit and a tag on the Hugging Face Hub, proven to load back."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from builder.core.errors import USAGE, BuilderError


def publish(
    release: Annotated[Path, typer.Argument(help="A release, or a folder of releases: its newest")] = Path(
        "dist"
    ),
    repo: Annotated[
        str, typer.Option(help="Dataset repository, ORG/NAME; [publish] repo of the release by default")
    ] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be sent, file by file, and send nothing")
    ] = False,
    public: Annotated[
        bool, typer.Option("--public", help="Make a new repository public; private by default")
    ] = False,
    create_pr: Annotated[
        bool, typer.Option("--create-pr", help="Open a pull request instead of committing")
    ] = False,
    redaction_reviewed: Annotated[
        bool, typer.Option("--redaction-reviewed", help="A person has looked at what redaction was unsure of")
    ] = False,
) -> None:
    """Check a release, publish it as one commit and a tag, and load it back to compare digests.

    The token comes from HF_TOKEN or a stored login. A run that was cut short is finished by the same command.

    Example: followups publish dist --repo acme/support-follow-ups --dry-run
    """
    from builder.io.hub import Hub
    from builder.pipeline.publishing import Wish, publish_release
    from builder.pipeline.snapshots import read_manifest
    from builder.pipeline.sources import find_release

    folder = find_release(release)
    chosen = read_manifest(folder)["settings"]["publish"]
    name = repo or chosen["repo"]
    if name.count("/") != 1:
        raise BuilderError(
            "--repo", f'"{name}" is no ORG/NAME', "name the dataset repository, such as acme/support", USAGE
        )
    wish = Wish(chosen["private"] and not public, dry_run, create_pr, redaction_reviewed)
    print(
        publish_release(
            folder, Hub(name), wish, lambda line: print(line, file=sys.stdout if dry_run else sys.stderr)
        )
    )
