import json
import os
import signal
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from builder.core.completion import NO_ANSWER, REFUSED, TRUNCATED, Request
from builder.core.errors import BUDGET_REACHED, USAGE, BuilderError
from builder.core.settings import ModelSettings
from builder.io.budget import count_tokens
from builder.io.calls import call_key
from builder.io.journal import Journal
from builder.io.line import retry_after
from builder.io.llm import check_model, describe_estimate, make_complete
from tests.io.model_server import Answer, Seen, serving

SCHEMA: dict[str, Any] = {"title": "label", "type": "object", "properties": {"form": {"type": "string"}}}


def questions(n: int) -> list[Request]:
    return [
        Request(
            f"c{k}#3", "Label the message.", f'{{"turn": 3, "text": "sla on region {k}?"}}', SCHEMA, "p.1"
        )
        for k in range(n)
    ]


def model(seen: Seen, **values: Any) -> ModelSettings:
    given = {"timeout_s": 20.0, "input_price": 0.25, "output_price": 2.0, **values}
    return ModelSettings(base_url=seen.url, name="careful-reader", **given)


def echo(body: dict[str, Any], times: int) -> Answer:
    return Answer(json.dumps({"form": body["messages"][1]["content"]}))


def test_answers_stand_in_the_order_of_the_questions(tmp_path: Path) -> None:
    asked = questions(40)
    with serving(echo) as seen:
        replies = make_complete(model(seen), tmp_path)(asked)
    assert [json.loads(reply.text)["form"] for reply in replies] == [request.user for request in asked]
    body = json.loads(seen.bodies[0])
    assert body["response_format"]["json_schema"]["strict"] is True
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert (body["model"], body["temperature"], body["max_tokens"]) == ("careful-reader", 0.0, 700)


def test_a_call_is_made_once_whatever_asks_for_it_again(tmp_path: Path) -> None:
    with serving(echo) as seen:
        first = make_complete(model(seen), tmp_path)(questions(10) + questions(10))
        again = make_complete(model(seen), tmp_path)(questions(10))
        assert first[:10] == first[10:] == again
        assert len(seen.bodies) == 10


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"sample": 1}, id="another sample"),
        pytest.param({"attempt": 1}, id="another attempt"),
        pytest.param({"prompt_version": "p.2"}, id="another prompt version"),
        pytest.param({"user": "other words"}, id="other words"),
    ],
)
def test_what_makes_a_question_another_one_makes_another_call(change: dict[str, Any]) -> None:
    settings = ModelSettings(name="careful-reader")
    request = questions(1)[0]
    other = Request(**{**{name: getattr(request, name) for name in request.__slots__}, **change})
    assert call_key(settings, request) != call_key(settings, other)
    assert call_key(settings, request) != call_key(ModelSettings(name="another"), request)
    assert call_key(settings, request) != call_key(
        ModelSettings(name="careful-reader", temperature=1.0), request
    )


def test_what_a_question_is_about_is_no_part_of_it() -> None:
    request = questions(1)[0]
    renamed = Request("other#9", request.system, request.user, SCHEMA, "p.1")
    assert call_key(ModelSettings(name="m"), request) == call_key(ModelSettings(name="m"), renamed)


def test_a_busy_failing_and_silent_server_gives_the_same_answers_in_the_end(tmp_path: Path) -> None:
    def moody(body: dict[str, Any], times: int) -> Answer:
        place = int(body["messages"][1]["content"].split("region ")[1].split("?")[0])
        if times == 0 and place % 5 == 0:
            return Answer("slow down", 429, {"retry-after": "0.05"})
        if times == 0 and place % 5 == 1:
            return Answer("oops", 500, {"retry-after-ms": "5"})
        if times == 0 and place == 2:
            return Answer(hang=True)
        if times == 0 and place % 5 == 3:
            return Answer(raw=b'{"choices": [{"message": {"con', headers={"retry-after-ms": "5"})
        return echo(body, times)

    asked = questions(25)
    with serving(moody) as seen:
        replies = make_complete(model(seen, timeout_s=3.0), tmp_path)(asked)
    assert [json.loads(reply.text)["form"] for reply in replies] == [request.user for request in asked]
    assert Counter(Counter(seen.answered).values()) == {1: 25}


def test_the_ledger_is_right_to_the_cent(tmp_path: Path) -> None:
    def faulty(body: dict[str, Any], times: int) -> Answer:
        place = int(body["messages"][1]["content"].split("region ")[1].split("?")[0])
        if place % 3 == 0:
            return Answer('{"form": "pron', finish_reason="length")
        if place % 3 == 1:
            return Answer(refusal="I cannot help with that.")
        return echo(body, times)

    with serving(faulty) as seen:
        replies = make_complete(model(seen, input_price=300.0, output_price=900.0), tmp_path)(questions(30))
    assert Counter(reply.fault for reply in replies) == {TRUNCATED: 10, REFUSED: 10, "": 10}
    assert Journal(tmp_path / "calls.jsonl").cost() == pytest.approx(seen.cost(300.0, 900.0), abs=0.005)


def test_the_bound_on_cost_is_never_crossed_and_a_rerun_goes_on(tmp_path: Path) -> None:
    with serving(echo) as seen:
        settings = model(
            seen, input_price=1000.0, output_price=1000.0, max_tokens=60, max_cost=0.5, concurrency=4
        )
        finished: list[int] = []
        while not finished or finished[-1] < 40:
            before = seen.cost(1000.0, 1000.0)
            with suppress(BuilderError):
                make_complete(settings, tmp_path)(questions(40))
            assert seen.cost(1000.0, 1000.0) - before <= 0.5
            finished.append(len(seen.answered))
    assert len(finished) > 2
    assert finished == sorted(set(finished))


def test_a_reached_bound_is_said_with_what_to_do(tmp_path: Path) -> None:
    with serving(echo) as seen:
        settings = model(seen, input_price=1000.0, output_price=1000.0, max_tokens=60, max_cost=1.0)
        with pytest.raises(
            BuilderError, match=r"raise max_cost \(or --max-cost\) and run again: finished"
        ) as stopped:
            make_complete(settings, tmp_path)(questions(40))
    assert stopped.value.code == BUDGET_REACHED


def test_what_can_never_be_asked_within_the_bound_is_not_asked(tmp_path: Path) -> None:
    with serving(echo) as seen:
        settings = model(seen, input_price=1000.0, output_price=1000.0, max_cost=0.01)
        with pytest.raises(BuilderError, match=r"\$0\.0000 is spent and the next call might cross \$0\.01"):
            make_complete(settings, tmp_path)(questions(3))
        assert seen.bodies == []


def test_a_refused_key_ends_the_run_and_is_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("READER_KEY", "sk-very-secret")
    with serving(lambda body, times: Answer("bad key sk-very-secret", 401)) as seen:
        with pytest.raises(
            BuilderError, match=r"the server refuses the key \(401\); check the key in READER_KEY"
        ):
            make_complete(model(seen, key_env="READER_KEY"), tmp_path)(questions(3))
        assert seen.headers[0]["authorization"] == "Bearer sk-very-secret"
    assert b"secret" not in (tmp_path / "calls.jsonl").read_bytes()


def test_a_rejected_question_is_an_abstention_and_its_reason_hides_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("READER_KEY", "sk-very-secret")
    with serving(lambda body, times: Answer("too long for sk-very-secret", 400)) as seen:
        reply = make_complete(model(seen, key_env="READER_KEY"), tmp_path)(questions(1))[0]
    assert reply.fault == REFUSED
    assert "too long for ***" in reply.detail


def test_a_server_that_wants_the_other_name_of_the_limit_gets_it(tmp_path: Path) -> None:
    def modern(body: dict[str, Any], times: int) -> Answer:
        if "max_tokens" in body:
            return Answer("Unsupported parameter: use 'max_completion_tokens' instead of 'max_tokens'", 400)
        if "temperature" in body:
            return Answer("Unsupported value: 'temperature' must be 1", 400)
        return echo(body, times)

    with serving(modern) as seen:
        reply = make_complete(model(seen), tmp_path)(questions(1))[0]
    assert reply.fault == ""


def test_a_call_that_never_gets_an_answer_is_asked_again_by_the_next_run(tmp_path: Path) -> None:
    down = {"yes": True}

    def script(body: dict[str, Any], times: int) -> Answer:
        return Answer("down", 503, {"retry-after-ms": "1"}) if down["yes"] else echo(body, times)

    with serving(script) as seen:
        assert make_complete(model(seen), tmp_path)(questions(2))[0].fault == NO_ANSWER
        down["yes"] = False
        assert make_complete(model(seen), tmp_path)(questions(2))[0].fault == ""


def test_a_server_that_is_gone_ends_the_run(tmp_path: Path) -> None:
    gone = pytest.raises(BuilderError, match=r"no answer \(server error \(503\)\); see whether it is up")
    with serving(lambda body, times: Answer("down", 503, {"retry-after-ms": "1"})) as seen, gone:
        make_complete(model(seen), tmp_path)(questions(40))


def test_no_name_and_no_key_are_said_before_anything_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    with pytest.raises(BuilderError, match=r"\[model\]: name is empty") as nameless:
        make_complete(ModelSettings(), tmp_path)
    with pytest.raises(BuilderError, match="no key in NO_SUCH_KEY"):
        make_complete(ModelSettings(name="m", key_env="NO_SUCH_KEY"), tmp_path)
    assert nameless.value.code == USAGE


def test_the_estimate_is_announced_once_before_the_first_call(tmp_path: Path) -> None:
    said: list[tuple[str, int]] = []
    with serving(echo) as seen:
        complete = make_complete(model(seen), tmp_path, lambda text: said.append((text, len(seen.bodies))))
        complete(questions(3))
        complete(questions(5))
    assert len(said) == 1
    assert said[0][0].startswith("3 calls, about ")
    assert said[0][1] == 0


def test_estimates_count_other_scripts_apart(tmp_path: Path) -> None:
    assert count_tokens("a" * 400) == 100
    assert count_tokens("備份頻率") == pytest.approx(2.8)
    journal = Journal(tmp_path / "calls.jsonl")
    assert describe_estimate(questions(2), ModelSettings(), journal).endswith("300 out: prices not set")


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "soon"}, 9.0),
        ({}, 9.0),
    ],
)
def test_the_wait_that_a_server_asks_for_is_kept(headers: dict[str, str], wait: float) -> None:
    assert retry_after(headers, 9.0) == wait


def test_a_torn_last_line_loses_only_itself(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    journal = Journal(path)
    journal.add("a", {"cost": 1.0})
    with path.open("ab") as file:
        file.write(b'{"key": "b", "co')
    again = Journal(path)
    assert list(again.rows) == ["a"]
    again.add("c", {"cost": 2.0})
    assert sorted(Journal(path).rows) == ["a", "c"]


PROGRAM = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from builder.core.settings import ModelSettings
from builder.io.llm import make_complete
from tests.io.test_llm import questions
settings = ModelSettings(base_url=sys.argv[1], name="careful-reader", timeout_s=30.0, concurrency=4)
print(len(make_complete(settings, Path(sys.argv[2]))(questions(60))))
"""


def test_no_call_is_repeated_after_a_kill(tmp_path: Path, root: Path) -> None:
    stuck = {"yes": True}

    def script(body: dict[str, Any], times: int) -> Answer:
        if stuck["yes"] and len(seen.answered) >= 25:
            return Answer(hang=True)
        return echo(body, times)

    with serving(script) as seen:
        command = [sys.executable, "-c", PROGRAM, seen.url, str(tmp_path), str(root)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert seen.hanging.wait(60)
        while (tmp_path / "calls.jsonl").read_bytes().count(b"\n") < 25:
            process.poll()
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        stuck["yes"] = False
        done = subprocess.run(command, capture_output=True, check=True, text=True)
    assert done.stdout.strip() == "60"
    assert Counter(Counter(seen.answered).values()) == {1: 60}


def some_fail(body: dict[str, Any], times: int) -> Answer:
    place = int(body["messages"][1]["content"].split("region ")[1].split("?")[0])
    if place % 4 == 0 and times == 0:
        return Answer("busy", 500)
    return Answer("never", 500) if place == 7 else echo(body, times)


def test_a_batch_goes_up_is_waited_for_and_comes_down_failures_once_more(tmp_path: Path) -> None:
    with serving(some_fail, polls=2) as seen:
        replies = make_complete(model(seen, batch=True), tmp_path, poll_s=0.001)(questions(20))
        assert [reply.fault for reply in replies].count(NO_ANSWER) == 1
        assert json.loads(replies[4].text)["form"] == questions(20)[4].user
        assert len(seen.batches) == 2
        assert Journal(tmp_path / "calls.jsonl").cost() == pytest.approx(seen.cost(0.25, 2.0), abs=1e-6)
        assert not (tmp_path / "batch.json").exists()
        make_complete(model(seen, batch=True), tmp_path, poll_s=0.001)(questions(7))
        assert len(seen.batches) == 2


@pytest.mark.parametrize("written", ["id", "mark only"])
def test_an_open_batch_is_waited_for_and_not_sent_again(tmp_path: Path, written: str) -> None:
    with serving(echo, polls=1) as seen:
        settings = model(seen, batch=True)
        make_complete(settings, tmp_path / "first", poll_s=0.001)(questions(5))
        batch = seen.batches["batch-0"]
        state = {
            "id": "batch-0" if written == "id" else "",
            "mark": batch["metadata"]["followups_calls"],
            "prompts": {call_key(settings, request): "p.1" for request in questions(5)},
        }
        (tmp_path / "second").mkdir()
        (tmp_path / "second/batch.json").write_text(json.dumps(state))
        replies = make_complete(settings, tmp_path / "second", poll_s=0.001)(questions(5))
        assert all(reply.text for reply in replies)
        assert len(seen.batches) == 1


def test_a_batch_holds_no_more_than_the_bound_pays_for(tmp_path: Path) -> None:
    with serving(echo) as seen:
        settings = model(
            seen, input_price=1000.0, output_price=1000.0, max_tokens=60, max_cost=1.0, batch=True
        )
        with pytest.raises(BuilderError, match="might cross") as stopped:
            make_complete(settings, tmp_path, poll_s=0.001)(questions(40))
        assert stopped.value.code == BUDGET_REACHED
        assert 0 < seen.cost(1000.0, 1000.0) <= 1.0


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            {"max_cost": 5.0},
            "--max-cost: is 5, but no prices are set.*set .model. input_price and output_price",
        ),
        ({"base_url": "localhost:8000/v1"}, '"localhost:8000/v1" is no web address; write it with http://'),
        ({"base_url": "https://"}, "is no web address"),
        ({"base_url": "ftp://models.example/v1"}, "is no web address"),
    ],
)
def test_settings_by_which_nothing_can_be_asked_are_misuse(values: dict[str, Any], message: str) -> None:
    settings = ModelSettings(**{"name": "careful-reader", "base_url": "http://127.0.0.1:1/v1", **values})
    with pytest.raises(BuilderError, match=message) as raised:
        check_model(settings)
    assert raised.value.code == USAGE


def test_one_price_is_enough_to_keep_a_bound() -> None:
    check_model(ModelSettings(name="careful-reader", max_cost=5.0, output_price=2.0))
