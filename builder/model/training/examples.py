"""Training examples: a follow-up with what a source says about it; what it does not say is None and masked."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from builder.core.records import Transcript
from builder.core.rows import transcript_from_row


@dataclass(frozen=True, slots=True)
class Example:
    """One follow-up and its gold; None where the source is silent.

    Attributes:
        source: The corpus or file: what leave-one-source-out leaves out.
        transcript: The conversation, at least up to `turn`.
        turn: The follow-up.
        needs: Whether it needs history.
        pivot: Whether its subject differs from the previous user turn's.
        returns: Whether it is a pivot to an earlier subject.
        is_query: False for `not_a_query`.
        resolvable: False for `unresolvable`.
        form: One of the taxonomy's forms.
        stratum: The `reference_type`.
        antecedent_turns: The gold antecedents.
        same_subject: (earlier user turn, has the follow-up's subject), as far as known.
    """

    source: str
    transcript: Transcript
    turn: int
    needs: bool | None = None
    pivot: bool | None = None
    returns: bool | None = None
    is_query: bool | None = None
    resolvable: bool | None = None
    form: str | None = None
    stratum: str | None = None
    antecedent_turns: tuple[int, ...] | None = None
    same_subject: tuple[tuple[int, bool], ...] = ()

    @property
    def id(self) -> str:
        """Source, conversation and turn: unique in a training set."""
        return f"{self.source}/{self.transcript.id}#{self.turn}"


def labelled_examples(
    source: str, transcripts: Iterable[Transcript], labels: Iterable[Mapping[str, Any]]
) -> list[Example]:
    """Fully labelled follow-ups, with threads worked out from subjects, pivots and drift."""
    by_id = {transcript.id: transcript for transcript in transcripts}
    rows: dict[str, dict[int, Mapping[str, Any]]] = {}
    for row in labels:
        rows.setdefault(row["conversation_id"], {})[row["turn"]] = row
    found = []
    for conversation, of_turn in rows.items():
        threads = thread_of_turns(by_id[conversation], of_turn)
        for turn, row in sorted(of_turn.items()):
            found.append(_example(source, by_id[conversation], turn, row, threads))
    return found


def _example(
    source: str, transcript: Transcript, turn: int, row: Mapping[str, Any], threads: Mapping[int, int]
) -> Example:
    stratum = row["reference_type"]
    known = turn in threads and stratum != "not_a_query"
    same = [(n, threads[n] == threads[turn]) for n in sorted(threads) if n < turn] if known else []
    antecedents = tuple(row["antecedent_turns"])
    return Example(
        source,
        transcript,
        turn,
        needs=bool(antecedents) or stratum == "unresolvable",
        pivot=row["pivot"],
        returns=row["returns"],
        is_query=stratum != "not_a_query",
        resolvable=stratum != "unresolvable",
        form=row["form"] if stratum not in ("not_a_query", "unresolvable") else None,
        stratum=stratum,
        antecedent_turns=None if stratum == "unresolvable" else antecedents,
        same_subject=tuple(same),
    )


def thread_of_turns(transcript: Transcript, rows: Mapping[int, Mapping[str, Any]]) -> dict[int, int]:
    """The earliest user turn of each user turn's thread, as far as the labels tell.

    Equal subjects are one thread; a follow-up that is no pivot continues the thread of the user turn before (drift).
    The first user turn has no label: it shares the thread of the next one unless that is a pivot; a return to a
    subject that no labelled turn had is a return to it.
    """
    user_turns = [turn.number for turn in transcript.turns if turn.role == "user"]
    threads = {user_turns[0]: user_turns[0]}
    named: dict[str, int] = {}
    for before, turn in pairwise(user_turns):
        row = rows.get(turn)
        if row is None:
            continue
        if not row["pivot"] and before in threads:
            threads[turn] = threads[before]
        elif row["subject"] in named:
            threads[turn] = named[row["subject"]]
        else:
            threads[turn] = user_turns[0] if row["returns"] else turn
        named.setdefault(row["subject"], threads[turn])
    return threads


def read_labelled(source: str, transcripts_file: Path, labels_files: Sequence[Path]) -> list[Example]:
    """Examples from a canonical transcripts file and its labels."""
    transcripts = [transcript_from_row(row) for row in read_rows(transcripts_file)]
    labels = [row for file in labels_files for row in read_rows(file)]
    return labelled_examples(source, transcripts, labels)


def read_rows(file: Path) -> list[dict[str, Any]]:
    """The objects of a JSON Lines file."""
    with file.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def without_later_turns(example: Example) -> Example:
    """The example with its transcript cut after the follow-up: nothing later can leak in."""
    transcript = example.transcript
    return replace(example, transcript=replace(transcript, messages=transcript.turns[: example.turn]))
