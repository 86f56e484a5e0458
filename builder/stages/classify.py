"""What each follow-up is: a reader's answers become labels, and everything derived is computed here."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from builder.core.records import Aliases, Catalogue, FollowUp, Reading, Terms, Transcript
from builder.core.rows import aliases_from_row
from builder.core.settings import ClassifySettings
from builder.core.taxonomy import FORM_NAMES, d_introduced, d_live, d_stale, intervening_turns, stratum_of
from builder.text.entities import EntityIndex
from builder.text.language import language_of
from builder.text.scene import lay_out
from builder.text.subjects import facets_of, name_subject, threads_of
from builder.text.term_labels import TermLabels, label_terms

Reader = Callable[[Sequence[Transcript]], Sequence[tuple[Reading, ...]]]
"""Gives one reading per follow-up for each transcript, in order."""

Given = Mapping[tuple[str, int], Mapping[str, Any]]
"""Labels to trust, by (conversation id, turn): rows with the item's field names."""

_BATCH = 4096


def classify_follow_ups(
    transcripts: Iterable[Transcript],
    read: Reader,
    catalogue: Catalogue,
    settings: ClassifySettings,
    given: Given | None = None,
) -> Iterator[FollowUp]:
    """One FollowUp per later user turn, in order of transcripts and turns.

    Where `given` has a row for a follow-up, its labels stand (labelled_by "human", confidence 1); what is derived is
    computed again all the same.
    """
    index = EntityIndex(catalogue)
    known = given or {}
    source = iter(transcripts)
    while batch := list(islice(source, _BATCH)):
        for transcript, readings in zip(batch, read(batch), strict=True):
            yield from _follow_ups(transcript, readings, index, settings, known)


def _follow_ups(
    transcript: Transcript,
    readings: Sequence[Reading],
    index: EntityIndex,
    settings: ClassifySettings,
    given: Given,
) -> Iterator[FollowUp]:
    rows = {r.turn: given[transcript.id, r.turn] for r in readings if (transcript.id, r.turn) in given}
    settled: list[Reading] = []
    first = next((turn.number for turn in transcript.turns if turn.role == "user"), 1)
    for reading in readings:
        trusted = reading
        if reading.turn in rows:
            trusted = _from_row(reading, rows[reading.turn], settled, first)
        settled.append(repair(trusted, transcript))
    threads = threads_of(transcript, settled)
    scene = lay_out(transcript, index)
    subjects = {turn: name_subject(transcript, threads, turn, index) for turn in threads}
    subjects |= {reading.turn: reading.subject for reading in settled if reading.subject}
    for reading in settled:
        row = rows.get(reading.turn)
        labels = _given_terms(row) if row else None
        terms = labels or label_terms(scene, reading, threads)
        yield _assemble(transcript, reading, terms, threads, subjects, settings, human=row is not None)


def _assemble(
    transcript: Transcript,
    reading: Reading,
    terms: TermLabels,
    threads: Mapping[int, int],
    subjects: Mapping[int, str],
    settings: ClassifySettings,
    human: bool,
) -> FollowUp:
    turns, turn, aliases = transcript.turns, reading.turn, dict(terms.aliases)
    correction, drift, answers = facets_of(transcript, reading, threads, subjects)
    by_thread = {number: str(thread) for number, thread in threads.items() if number <= turn}
    return FollowUp(
        conversation_id=transcript.id,
        turn=turn,
        subject=subjects[turn],
        reference_type=stratum_of(reading, settings.long_range),
        form=reading.form,
        pivot=reading.pivot,
        returns=reading.returns,
        antecedent_turns=reading.antecedent_turns,
        d_live=d_live(turn, reading.antecedent_turns),
        d_introduced=d_introduced(turn, terms.required, reading.antecedent_turns, turns, aliases),
        required_in_rewrite=terms.required,
        forbidden_in_rewrite=terms.forbidden,
        d_stale=d_stale(turn, terms.forbidden, turns[: turn - 1], aliases),
        confidence=1.0 if human else round(reading.confidence, 6),
        intervening_turns=intervening_turns(turn, reading.antecedent_turns, by_thread, by_thread[turn]),
        aliases=terms.aliases,
        correction=correction,
        drift=drift,
        answers_clarification=answers,
        language=language_of(transcript),
        origin="synthetic" if transcript.synthesis else "sampled",
        labelled_by="human" if human else "rules" if settings.method == "rules" else "model",
        probabilities=() if human else reading.probabilities,
        unseen_turns=() if human else reading.unseen_turns,
    )


def _from_row(reading: Reading, row: Mapping[str, Any], earlier: Sequence[Reading], first: int) -> Reading:
    """The reading that a trusted row stands for; its thread is that of the latest follow-up with its subject."""
    form = str(row["form"])
    antecedents = tuple(sorted(int(turn) for turn in row["antecedent_turns"]))
    pivot, subject = bool(row["pivot"]), str(row.get("subject") or "")
    return replace(
        reading,
        is_query=row.get("reference_type") != "not_a_query",
        resolvable=row.get("reference_type") != "unresolvable",
        form=form,
        pivot=pivot,
        returns=bool(row["returns"]),
        antecedent_turns=antecedents,
        confidence=1.0,
        subject=subject,
        thread=_thread_of_row(reading.turn, row, antecedents, earlier, first),
    )


def _thread_of_row(
    turn: int, row: Mapping[str, Any], antecedents: Sequence[int], earlier: Sequence[Reading], first: int
) -> int:
    """The thread of a trusted row: by its subject, else by pivot and antecedent; `first` is the first user turn."""
    subject = str(row.get("subject") or "")
    same = [r.thread for r in earlier if subject and r.subject == subject]
    if same:
        return same[-1]
    if not row["pivot"]:
        return earlier[-1].thread if earlier else first
    if not row["returns"]:
        return turn
    asked = [r.thread for r in earlier if antecedents and r.turn <= antecedents[0]]
    return asked[-1] if asked else first


def repair(reading: Reading, transcript: Transcript) -> Reading:
    """The reading with contradictions settled by rule, the surer answer standing.

    Antecedents lie before the follow-up; what needs nothing has no antecedent and the form none; a form that points
    back has an antecedent (the turn above where the reader found none); only a pivot returns.
    """
    antecedents = tuple(sorted({turn for turn in reading.antecedent_turns if 0 < turn < reading.turn}))
    form = reading.form if reading.form in FORM_NAMES else "none"
    if not reading.is_query:
        form, antecedents = "none", ()
    elif not reading.resolvable or form == "none":
        antecedents = ()
    elif not antecedents:
        antecedents = (reading.turn - 1,)
    pivot = reading.pivot and reading.is_query
    users = {turn.number for turn in transcript.turns if turn.role == "user" and turn.number <= reading.turn}
    thread = reading.thread if reading.thread in users else reading.turn
    return replace(
        reading,
        form=form,
        antecedent_turns=antecedents,
        pivot=pivot,
        returns=pivot and reading.returns,
        thread=thread,
    )


def _given_terms(row: Mapping[str, Any]) -> TermLabels | None:
    """The terms of a trusted row; None when it has none of the fields."""
    if "required_in_rewrite" not in row:
        return None
    required: Terms = tuple(row["required_in_rewrite"])
    forbidden: Terms = tuple(row.get("forbidden_in_rewrite") or ())
    aliases: Aliases = aliases_from_row(row.get("aliases") or {})
    return TermLabels(required, forbidden, aliases)
