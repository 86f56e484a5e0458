"""What the documentation says is so: links lead somewhere, commands and options exist, the item shown is valid."""

import json
import re
import shlex
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from builder.cli import COMMANDS, run

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
_LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")
_SPAN = re.compile(r"`([^`\n]+)`")


def commands(page: Path) -> Iterator[str]:
    """Every `followups ...` line of a page: in its blocks and in its code spans."""
    for block in re.findall(r"```(?:console|sh|bash|yaml)?\n(.*?)```", page.read_text(), re.S):
        joined = block.replace("\\\n", " ")
        yield from (m.group(1) for m in re.finditer(r"(?:^|[\s$])(followups [a-z].*)", joined))
    prose = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
    yield from (span for span in _SPAN.findall(prose) if re.match(r"followups [a-z]", span))


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_to_files(page: Path) -> None:
    for target in _LINK.findall(page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_commands_and_their_options_exist(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for line in commands(page):
        words = shlex.split(line.split("#")[0].split("|")[0].split(" > ")[0], posix=True)[1:]
        name = words[0].rstrip(",")
        if name == "COMMAND":
            continue
        assert name in COMMANDS, f"{page.name}: {line}"
        options = [word.split("=")[0] for word in words if word.startswith("--") and word != "--help"]
        if not options:
            continue
        sub = [words[1]] if name in ("quotas",) and len(words) > 1 else []
        capsys.readouterr()
        run([name, *sub, "--help"])
        shown = capsys.readouterr().out
        for option in options:
            assert option in shown, f"{page.name}: {line}: no {option}"


def test_the_item_in_the_readme_is_an_item() -> None:
    import jsonschema

    from builder.core.item_rules import item_problems
    from builder.core.rows import item_from_row

    (text,) = re.findall(r"```json\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    schema = json.loads((ROOT / "schemas" / "item.json").read_text())
    assert list(jsonschema.Draft202012Validator(schema).iter_errors(json.loads(text))) == []
    assert item_problems(item_from_row(json.loads(text))) == []


def test_every_command_has_help_with_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    for name in COMMANDS:
        capsys.readouterr()
        assert run([name, "--help"]) == 0
        shown = capsys.readouterr().out
        assert "Example" in shown or "Commands" in shown, name


def test_what_the_sample_says_of_itself_is_so() -> None:
    text = (ROOT / "data" / "halyard" / "README.md").read_text()
    for target in _LINK.findall(text):
        assert (ROOT / "data" / "halyard" / target).exists(), target
    for name, size in re.findall(r"\| `([\w-]+\.jsonl)` \|.*?(\d+) (?:passages|conversations)", text):
        assert len((ROOT / "data" / "halyard" / name).read_text().splitlines()) == int(size), name


def test_every_file_that_an_example_reads_is_there_or_written_before_it() -> None:
    text = (ROOT / "README.md").read_text()
    block = next(b for b in re.findall(r"```console\n(.*?)```", text, re.S) if "followups score" in b)
    written: set[str] = set()
    for line in block.splitlines():
        words = shlex.split(line.split("#")[0])
        out = words[words.index("--out") + 1] if "--out" in words else ""
        made = {out, *(value for option, value in pairwise(words) if option == "--html")}
        for word in words:
            if word.endswith((".jsonl", ".toml")) and word not in made:
                assert word in written or (ROOT / word).exists(), f"{word} in {line}"
        written |= made
