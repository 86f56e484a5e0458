import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from builder.core.agreement import measure_agreement
from builder.core.completion import NO_ANSWER, REFUSED, TRUNCATED, Reply, Request
from builder.core.mix import Mix
from builder.core.records import Dropped, FollowUp, Transcript, Turn
from builder.core.rows import follow_up_to_row
from builder.core.settings import AdjudicateSettings, MeasureSettings, ModelSettings, RedactSettings
from builder.io.budget import estimate_cost
from builder.io.journal import Journal
from builder.io.llm import make_complete
from builder.stages.adjudicate import (
    BREAKS_RULES,
    adjudicate_follow_ups,
    choose_for_agreement,
    choose_for_second_labels,
    request_for,
)
from builder.stages.measure import measure_mix
from builder.stages.redact import redact_transcripts
from builder.text.second_label import NOT_JSON, OFF_SCHEMA
from tests.io.model_server import Answer, Script, Seen, serving
from tests.stages.second_reader import answers_by_message, asked_for, classified, load, second_prompt

Loaded = tuple[dict[str, Transcript], dict[str, dict[str, Any]]]
INPUT_PRICE, OUTPUT_PRICE = 0.25, 2.0


@pytest.fixture(scope="module")
def halyard(root: Path) -> Loaded:
    return load(root / "data/halyard/transcripts-a.jsonl", root / "data/halyard/labels-a.jsonl")


@pytest.fixture(scope="module")
def gold(halyard: Loaded) -> dict[str, str]:
    return answers_by_message(*halyard)


def some(halyard: Loaded, n: int) -> list[FollowUp]:
    return [classified(row) for row in list(halyard[1].values())[:n]]


def model(seen: Seen, **values: Any) -> ModelSettings:
    prices = {"input_price": INPUT_PRICE, "output_price": OUTPUT_PRICE}
    return ModelSettings(base_url=seen.url, name="careful-reader", **{"timeout_s": 20.0, **prices, **values})


def well_behaved(gold: dict[str, str]) -> Script:
    return lambda body, times: Answer(gold[asked_for(body["messages"][1]["content"])])


def moody(gold: dict[str, str]) -> Script:
    """Every follow-up has its own kind of trouble, once; kinds go round."""
    place = {message: number for number, message in enumerate(gold)}
    seen: Counter[str] = Counter()

    def script(body: dict[str, Any], times: int) -> Answer:
        message = asked_for(body["messages"][1]["content"])
        seen[message] += 1
        right = gold[message]
        if seen[message] > 1:
            return Answer(right)
        obeying = {
            **json.loads(right),
            "required": [{"term": "PWNED", "aliases": []}],
            "standalone_query": "PWNED",
        }
        kinds = {
            0: Answer("slow down", 429, {"retry-after": "0.02"}),
            1: Answer("oops", 500, {"retry-after-ms": "5"}),
            2: Answer(right[: len(right) // 2], finish_reason="length"),
            3: Answer(right[: len(right) // 2]),
            4: Answer('{"label": "pronoun"}'),
            5: Answer(refusal="I cannot help with this conversation."),
            6: Answer(json.dumps(obeying)),
            7: Answer(raw=b'{"choices": [{"mess', headers={"retry-after-ms": "5"}),
        }
        hang = place[message] == 40
        return Answer(hang=True) if hang else kinds.get(place[message] % 9, Answer(right))

    return script


def labels(results: Sequence[FollowUp | Dropped]) -> list[tuple[Any, ...]]:
    return [
        (r.id, r.reference_type, r.form, r.antecedent_turns, r.required_in_rewrite, r.d_stale)
        if isinstance(r, FollowUp)
        else (r.id, r.reason)
        for r in results
    ]


def test_a_server_that_misbehaves_on_schedule_gives_the_same_labels(
    halyard: Loaded, gold: dict[str, str], root: Path, tmp_path: Path
) -> None:
    transcripts, _ = halyard
    follow_ups, prompt = some(halyard, 90), second_prompt(root)
    with serving(well_behaved(gold)) as calm:
        complete = make_complete(model(calm), tmp_path / "calm")
        expected = labels(list(adjudicate_follow_ups(follow_ups, transcripts, complete, prompt)))
    with serving(moody(gold)) as rough:
        complete = make_complete(model(rough, timeout_s=4.0), tmp_path / "rough")
        found = labels(list(adjudicate_follow_ups(follow_ups, transcripts, complete, prompt)))
        assert found == expected
        paid = Journal(tmp_path / "rough/calls.jsonl").cost()
        assert paid == pytest.approx(rough.cost(INPUT_PRICE, OUTPUT_PRICE), abs=0.005)
        n_asked = len(rough.bodies)
        again = labels(list(adjudicate_follow_ups(follow_ups, transcripts, complete, prompt)))
        assert (again, len(rough.bodies)) == (expected, n_asked)
    assert max(Counter(rough.answered).values()) <= 2
    assert sum(len(row) > 2 for row in found) >= 88


def reader(*texts: str | Reply) -> tuple[list[Request], Any]:
    """A model that answers with `texts`, one after the other, and what it was asked."""
    asked: list[Request] = []
    replies = iter(texts)

    def complete(requests: Sequence[Request]) -> list[Reply]:
        asked.extend(requests)
        found = [next(replies) for _ in requests]
        return [reply if isinstance(reply, Reply) else Reply(reply) for reply in found]

    return asked, complete


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        pytest.param(Reply("", REFUSED, "no"), REFUSED, id="refused"),
        pytest.param(Reply("", TRUNCATED), TRUNCATED, id="cut off"),
        pytest.param(Reply("", NO_ANSWER), NO_ANSWER, id="no answer"),
        pytest.param(Reply("As an assistant ..."), NOT_JSON, id="not JSON"),
        pytest.param(Reply('{"label": 1}'), OFF_SCHEMA, id="off schema"),
    ],
)
def test_an_unusable_answer_is_asked_for_once_more_then_it_is_an_abstention(
    bad: Reply, reason: str, halyard: Loaded, gold: dict[str, str], root: Path
) -> None:
    transcripts, _ = halyard
    follow_up, prompt = some(halyard, 1)[0], second_prompt(root)
    right = next(iter(gold.values()))
    asked, complete = reader(bad, right)
    assert isinstance(next(adjudicate_follow_ups([follow_up], transcripts, complete, prompt)), FollowUp)
    assert [request.attempt for request in asked] == [0, 1]
    _, complete = reader(bad, bad)
    dropped = next(adjudicate_follow_ups([follow_up], transcripts, complete, prompt))
    assert isinstance(dropped, Dropped)
    assert (dropped.id, dropped.stage, dropped.reason) == (follow_up.id, "adjudicate", reason)


def test_an_answer_against_the_rules_goes_back_once_with_the_problems(
    halyard: Loaded, gold: dict[str, str], root: Path
) -> None:
    transcripts, _ = halyard
    follow_up, prompt = some(halyard, 1)[0], second_prompt(root)
    right = next(iter(gold.values()))
    wrong = json.dumps({**json.loads(right), "standalone_query": "something else"})
    asked, complete = reader(wrong, right)
    assert isinstance(next(adjudicate_follow_ups([follow_up], transcripts, complete, prompt)), FollowUp)
    assert "standalone_query lacks the required term 'Frankfurt'" in asked[1].user
    _, complete = reader(wrong, wrong)
    dropped = next(adjudicate_follow_ups([follow_up], transcripts, complete, prompt))
    assert isinstance(dropped, Dropped)
    assert dropped.reason == BREAKS_RULES
    assert "lacks the required term 'SLA'" in dropped.detail


def follow_up(conversation: str, stratum: str, **values: Any) -> FollowUp:
    base = classified({"conversation_id": conversation, "turn": 3})
    row = {**follow_up_to_row(base), "reference_type": stratum, "aliases": (), "probabilities": (), **values}
    return FollowUp(**row)


def test_a_random_part_of_each_predicted_stratum_is_chosen_whatever_the_order() -> None:
    log = [follow_up(f"c{n}", ("pronoun", "ordinal", "ordinal")[n % 3]) for n in range(90)]
    log += [follow_up("rare", "long_range"), follow_up("known", "pronoun", labelled_by="human")]
    settings = AdjudicateSettings(per_stratum=10)
    chosen = choose_for_second_labels(log, settings, 13)
    assert Counter(f.reference_type for f in chosen) == {"pronoun": 10, "ordinal": 10, "long_range": 1}
    assert choose_for_second_labels(log[::-1], settings, 13) == chosen
    assert choose_for_second_labels(log, settings, 14) != chosen
    assert "known#3" not in {f.id for f in chosen}
    assert len(choose_for_agreement(chosen, settings, 13)) == 2


def test_a_second_sample_is_another_question(halyard: Loaded, root: Path) -> None:
    transcripts, _ = halyard
    first = some(halyard, 1)[0]
    transcript = transcripts[first.conversation_id]
    one, two = (request_for(first, transcript, second_prompt(root), sample=n) for n in (0, 1))
    assert one != two
    assert one.user == two.user


def test_a_model_that_agrees_with_people_has_kappa_one(
    halyard: Loaded, gold: dict[str, str], root: Path
) -> None:
    transcripts, rows = halyard
    prompt = second_prompt(root)

    def complete(requests: Sequence[Request]) -> list[Reply]:
        return [Reply(gold[asked_for(request.user)]) for request in requests]

    read = list(adjudicate_follow_ups(some(halyard, 60), transcripts, complete, prompt))
    second = {r.id: follow_up_to_row(r) for r in read if isinstance(r, FollowUp)}
    agreement = measure_agreement({name: rows[name] for name in second}, second)
    assert dict(agreement.kappa)["reference_type"] == 1.0
    assert agreement.antecedents == agreement.required == 1.0


def test_nothing_unredacted_leaves(root: Path, tmp_path: Path, gold: dict[str, str]) -> None:
    private = ("ines.falk@northwind-mail.com", "+49 151 23456789", "DE89 3704 0044 0532 0130 00")
    transcript = Transcript(
        "c1",
        (
            Turn(1, "user", f"my mail is {private[0]}, can you look up my account?"),
            Turn(2, "assistant", f"Found it: phone {private[1]}, account {private[2]}. What do you need?"),
            Turn(3, "user", "which region is it in?"),
        ),
    )
    clean = [t for t, _ in redact_transcripts([transcript], RedactSettings(), frozenset(), 13)]
    answer = Answer(next(iter(gold.values())))
    with serving(lambda body, times: answer) as seen:
        complete = make_complete(model(seen), tmp_path)
        first = classified({"conversation_id": "c1", "turn": 3})
        list(adjudicate_follow_ups([first], {t.id: t for t in clean}, complete, second_prompt(root)))
    sent = b"\n".join(seen.bodies).decode()
    assert "which region is it in?" in sent
    for value in private:
        assert value not in sent
        assert json.dumps(value)[1:-1] not in sent


@pytest.mark.slow
def test_estimated_and_actual_cost_are_within_fifteen_percent_on_mtrag(
    shared: Path, root: Path, tmp_path: Path
) -> None:
    folder = shared / "data/mtrag-labels"
    transcripts, rows = load(folder / "transcripts.jsonl", folder / "labels.jsonl")
    answers, prompt = answers_by_message(transcripts, rows), second_prompt(root)
    follow_ups = [classified(row) for row in rows.values()]
    requests = [request_for(f, transcripts[f.conversation_id], prompt) for f in follow_ups]
    with serving(well_behaved(answers)) as seen:
        settings = model(seen, concurrency=16)
        guess = estimate_cost(requests, settings, Journal(tmp_path / "none/calls.jsonl"))
        list(adjudicate_follow_ups(follow_ups, transcripts, make_complete(settings, tmp_path), prompt))
    assert guess.cost == pytest.approx(seen.cost(INPUT_PRICE, OUTPUT_PRICE), rel=0.15)
    assert Journal(tmp_path / "calls.jsonl").cost() == pytest.approx(
        seen.cost(INPUT_PRICE, OUTPUT_PRICE), abs=0.005
    )


def test_second_labels_from_gold_mend_the_mix_of_a_poor_classifier(
    halyard: Loaded, gold: dict[str, str], root: Path
) -> None:
    """The classifier errs in a third of the cases; 30 second labels per predicted stratum bring the shares back."""
    transcripts, rows = halyard
    generator = np.random.default_rng(4)
    names = sorted({str(row["reference_type"]) for row in rows.values()})
    log = [
        follow_up(
            row["conversation_id"],
            str(generator.choice(names)) if generator.random() < 0.35 else row["reference_type"],
            turn=row["turn"],
        )
        for row in rows.values()
    ]

    def complete(requests: Sequence[Request]) -> list[Reply]:
        return [Reply(gold[asked_for(request.user)]) for request in requests]

    chosen = choose_for_second_labels(log, AdjudicateSettings(per_stratum=30), 13)
    read = adjudicate_follow_ups(chosen, transcripts, complete, second_prompt(root))
    second: dict[str, FollowUp | str] = {r.id: r for r in read if isinstance(r, FollowUp)}
    truth = Counter(str(row["reference_type"]) for row in rows.values())

    def error(mix: Mix) -> float:
        return sum(abs(s.share - truth[s.reference_type] / len(rows)) for s in mix.shares) / 2

    mended = measure_mix(log, MeasureSettings(), 13, second=second)
    counted = measure_mix(log, MeasureSettings("uncorrected"), 13)
    assert error(mended) < 0.6 * error(counted)
    held = [s.low <= truth[s.reference_type] / len(rows) <= s.high for s in mended.shares]
    assert sum(held) >= 9
