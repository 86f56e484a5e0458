from collections.abc import Sequence
from typing import Any

import pytest

from builder.core.errors import BuilderError
from builder.core.identity import outline_of
from builder.core.located import Located, Part
from builder.core.records import Dropped, Transcript
from builder.core.settings import ReadSettings
from builder.stages.read import FORMATS, detect_format, read_outlines, read_transcripts

PLAIN = ReadSettings()


def read(
    *values: Any, settings: ReadSettings = PLAIN, kind: str = "", part: Part | None = None
) -> list[Transcript | Dropped]:
    located = [Located(f"chats.jsonl:{n}", value, n) for n, value in enumerate(values, start=1)]
    kind = kind or detect_format(values, settings)
    return list(read_transcripts(located, kind, settings, part or Part()))


def only(*values: Any, **options: Any) -> Transcript:
    (result,) = read(*values, **options)
    assert isinstance(result, Transcript), result
    return result


def said(transcript: Transcript) -> list[tuple[int, str, str]]:
    return [(turn.number, turn.role, turn.content) for turn in transcript.messages]


REGIONS = [
    (1, "user", "which regions are in the EU?"),
    (2, "assistant", "Dublin and Frankfurt."),
    (3, "user", "and the RPO of the second?"),
]
ONE_RECORD: dict[str, tuple[Any, list[tuple[int, str, str]], str]] = {
    "canonical": (
        {
            "conversation_id": "hal-1",
            "messages": [
                {"role": "user", "content": "which regions are in the EU?"},
                {"role": "assistant", "content": "Dublin and Frankfurt."},
                {"role": "user", "content": "and the RPO of the second?"},
            ],
        },
        REGIONS,
        "hal-1",
    ),
    "sharegpt": (
        {
            "id": "sg-7",
            "conversations": [
                {"from": "human", "value": "which regions are in the EU?"},
                {"from": "gpt", "value": "Dublin and Frankfurt."},
                {"from": "human", "value": "and the RPO of the second?"},
            ],
        },
        REGIONS,
        "sg-7",
    ),
    "cast": (
        {
            "number": 108,
            "turn": [
                {
                    "number": 1,
                    "raw_utterance": "which regions are in the EU?",
                    "passage": "Dublin and Frankfurt.",
                },
                {"number": 2, "raw_utterance": "and the RPO of the second?"},
            ],
        },
        REGIONS,
        "108",
    ),
    "ikat": (
        {
            "number": "9-1",
            "ptkb": {"1": "I live in Ireland."},
            "turns": [
                {
                    "turn_id": 1,
                    "utterance": "which regions are in the EU?",
                    "response": "Dublin and Frankfurt.",
                },
                {"turn_id": 2, "utterance": "and the RPO of the second?"},
            ],
        },
        REGIONS,
        "9-1",
    ),
    "sgd": (
        {
            "dialogue_id": "12_00000",
            "services": ["Hosting_1"],
            "turns": [
                {"speaker": "USER", "utterance": "which regions are in the EU?", "frames": []},
                {"speaker": "SYSTEM", "utterance": "Dublin and Frankfurt.", "frames": []},
                {"speaker": "USER", "utterance": "and the RPO of the second?", "frames": []},
            ],
        },
        REGIONS,
        "12_00000",
    ),
    "gecor": (
        {
            "dialogue_id": 4,
            "dial": [
                {
                    "turn": 0,
                    "usr": {"transcript": "which regions are in the EU?", "transcript_complete": "x"},
                    "sys": {"sent": "Dublin and Frankfurt."},
                },
                {"turn": 1, "usr": {"transcript": "and the RPO?"}, "sys": {"sent": "5 minutes."}},
            ],
        },
        [*REGIONS[:2], (3, "user", "and the RPO?"), (4, "assistant", "5 minutes.")],
        "4",
    ),
    "abcd": (
        {
            "convo_id": 3592,
            "original": [
                ["agent", "Hi!"],
                ["agent", "How can I help?"],
                ["customer", "I want to return a jacket."],
                ["action", "Account has been pulled up."],
                ["customer", "it is the wrong size"],
            ],
            "delexed": [],
        },
        [
            (1, "assistant", "Hi!"),
            (2, "assistant", "How can I help?"),
            (3, "user", "I want to return a jacket."),
            (0, "tool", "Account has been pulled up."),
            (4, "user", "it is the wrong size"),
        ],
        "3592",
    ),
    "tau-bench": (
        {
            "task_id": 3,
            "trial": 0,
            "traj": [
                {"role": "system", "content": "You are an airline agent."},
                {"role": "user", "content": "cancel my flight"},
                {"role": "assistant", "content": None, "tool_calls": [{"id": "c1"}]},
                {"role": "tool", "content": "Error: user not found", "tool_call_id": "c1"},
                {"role": "assistant", "content": "Which one?"},
            ],
        },
        [
            (0, "system", "You are an airline agent."),
            (1, "user", "cancel my flight"),
            (0, "tool", '[{"id":"c1"}]'),
            (0, "tool", "Error: user not found"),
            (2, "assistant", "Which one?"),
        ],
        "task-3-trial-0",
    ),
}


@pytest.mark.parametrize("kind", ONE_RECORD)
def test_each_format_is_recognised_and_read_word_for_word(kind: str) -> None:
    value, messages, name = ONE_RECORD[kind]
    assert detect_format([value], PLAIN) == kind
    transcript = only(value)
    assert said(transcript) == messages
    assert transcript.id == name


def test_a_printed_tau_conversation_keeps_line_breaks_and_does_not_say_none() -> None:
    shown = "user: cancel it\nassistant: None\ntool: Error: user not found\nassistant: Sorry.\nWhich one?"
    assert said(only({"messages_display": shown})) == [
        (1, "user", "cancel it"),
        (0, "tool", ""),
        (0, "tool", "Error: user not found"),
        (2, "assistant", "Sorry.\nWhich one?"),
    ]


def test_a_pair_without_a_header_is_two_user_turns() -> None:
    cells = ["how many champions?", 'list those "champions"', "list champions", "74"]
    assert detect_format([cells], PLAIN) == "followup"
    assert said(only(cells)) == [(1, "user", cells[0]), (2, "user", cells[1])]


def test_messages_without_a_header_are_no_pairs() -> None:
    dated = [["c1", "user", "What is the SLA?", "2024-05-01"], ["c1", "assistant", "99.9%.", "2024-05-02"]]
    numbered = [["c1", "user", "What is the SLA?", "1"], ["c1", "assistant", "99.9%.", "2"]]
    mixed = [["c1", "1", "What is the SLA?", "5"], *dated]
    assert [detect_format(rows, PLAIN) for rows in (dated, numbered, mixed)] == ["", "", ""]


def test_mtrag_cites_the_contexts_that_were_found_relevant_or_all_when_none_was_judged() -> None:
    def context(name: str, *values: str) -> dict[str, Any]:
        feedback = {f"annotator {n}": {"value": value} for n, value in enumerate(values)}
        judged = {"feedback": {"relevant": feedback}} if values else {}
        return {"document_id": name, "title": "t", "text": "x", **judged}

    def answer(*contexts: dict[str, Any]) -> dict[str, Any]:
        return {
            "speaker": "agent",
            "text": "In Glendale.",
            "timestamp": 1724708471,
            "contexts": list(contexts),
        }

    transcript = only(
        {
            "messages": [
                {"speaker": "user", "text": "where do the cardinals play", "timestamp": 1724708469},
                answer(context("d1", "no"), context("d2", "no", "yes"), context("d3")),
                {"speaker": "user", "text": "outside the US?", "timestamp": 1724708480},
                answer(context("d4"), context("d5"), context("d4")),
                {"speaker": "user", "text": "and this week?", "timestamp": 1724708490},
                answer(context("d6", "no")),
            ]
        }
    )
    assert [turn.citations for turn in transcript.turns if turn.role == "assistant"] == [
        ("d2",),
        ("d4", "d5"),
        (),
    ]
    assert transcript.started_at == "2024-08-26T21:41:09Z"
    assert transcript.id.startswith("c_")


def test_an_id_from_beside_the_export_is_used_when_the_record_has_none() -> None:
    value = {"messages": [{"speaker": "user", "text": "where do the cardinals play"}]}
    records = [Located("clapnq.json[0]", value, 0, "dd6b6ffd")]
    (transcript,) = read_transcripts(records, "mtrag", PLAIN)
    assert isinstance(transcript, Transcript)
    assert transcript.id == "dd6b6ffd"


def test_a_cast_tree_becomes_its_root_to_leaf_paths() -> None:
    def user(number: str, parent: str | None, text: str) -> dict[str, Any]:
        above = {"parent": parent} if parent else {}
        return {"number": number, "participant": "User", "utterance": text, **above}

    def system(number: str, parent: str, text: str) -> dict[str, Any]:
        return {"number": number, "participant": "System", "response": text, "parent": parent}

    tree = {
        "number": 133,
        "turn": [
            user("1-1", None, "what goes in a pamper pack?"),
            system("1-2", "1-1", "Beauty products."),
            user("1-3", "1-2", "Can I make them?"),
            system("1-4", "1-3", "Yes."),
            user("2-1", "1-2", "What do they cost?"),
        ],
    }
    paths = [(t.id, [turn.content for turn in t.turns]) for t in read(tree) if isinstance(t, Transcript)]
    start = ["what goes in a pamper pack?", "Beauty products."]
    assert paths == [
        ("133_1-3", [*start, "Can I make them?", "Yes."]),
        ("133_2-1", [*start, "What do they cost?"]),
    ]


def test_content_in_parts_is_joined_and_what_is_no_text_is_named() -> None:
    parts = [{"type": "text", "text": "what is this"}, {"type": "image_url", "image_url": {"url": "u"}}]
    transcript = only({"id": "x", "messages": [{"role": "user", "content": parts}]})
    assert transcript.turns[0].content == "what is this\n[image_url]"


def test_consecutive_messages_of_one_role_stay_separate_turns() -> None:
    messages = [
        {"role": "user", "content": text} for text in ("hello", "are you there?", "ok, the SLA please")
    ]
    assert only({"id": "x", "messages": messages}).follow_up_turns == (2, 3)


def test_rows_of_one_conversation_are_gathered_and_put_in_order_wherever_they_stand() -> None:
    rows = [
        {"session_id": "b", "sender": "user", "text": "price of Team?", "timestamp": "2026-09-01T10:00:00Z"},
        {
            "session_id": "a",
            "sender": "user",
            "text": "and Frankfurt?",
            "timestamp": "2026-09-01T09:02:00+00:00",
        },
        {
            "session_id": "a",
            "sender": "assistant",
            "text": "15 minutes.",
            "timestamp": "2026-09-01T09:01:00Z",
        },
        {
            "session_id": "a",
            "sender": "user",
            "text": "RPO of Dublin?",
            "timestamp": "2026-09-01T11:00:00+02:00",
        },
    ]
    found = {t.id: [turn.content for turn in t.turns] for t in read(*rows) if isinstance(t, Transcript)}
    assert found == {"b": ["price of Team?"], "a": ["RPO of Dublin?", "15 minutes.", "and Frankfurt?"]}


def test_an_order_column_is_compared_as_numbers() -> None:
    rows = [
        {"conversation_id": 5, "role": "user", "content": f"question {n}", "order": str(n)}
        for n in (10, 9, 2)
    ]
    assert [turn.content for turn in only(*rows).turns] == ["question 2", "question 9", "question 10"]


def test_parts_of_a_table_hold_every_conversation_once() -> None:
    rows = [{"conversation_id": f"c{n}", "role": "user", "content": "hi"} for n in range(50)]
    parts = [{t.id for t in read(*rows, part=Part(n, 3)) if isinstance(t, Transcript)} for n in range(3)]
    assert sum(map(len, parts)) == 50
    assert set.union(*parts) == {f"c{n}" for n in range(50)}


def test_a_mapping_in_the_settings_reads_anything_else() -> None:
    settings = ReadSettings(
        fields=(
            ("conversation_id", "meta.ticket"),
            ("content", "body.0.plain"),
            ("messages", "payload.log"),
            ("role", "by.kind"),
        ),
        roles=(("Kunde", "user"), ("Bot", "assistant")),
    )
    value = {
        "meta": {"ticket": 88},
        "payload": {
            "log": [
                {"by": {"kind": "Kunde"}, "body": [{"plain": "Wo liegt Dublin?"}]},
                {"by": {"kind": "bot"}, "body": [{"plain": "In Irland."}]},
            ]
        },
    }
    transcript = only(value, settings=settings)
    assert (transcript.id, said(transcript)) == (
        "88",
        [(1, "user", "Wo liegt Dublin?"), (2, "assistant", "In Irland.")],
    )


def test_named_columns_without_messages_read_a_table() -> None:
    settings = ReadSettings(fields=(("conversation_id", "ticket"), ("role", "who"), ("content", "said")))
    transcript = only({"ticket": "t-1", "who": "user", "said": "hello"}, settings=settings)
    assert (transcript.id, said(transcript)) == ("t-1", [(1, "user", "hello")])


BAD: dict[str, tuple[Any, str, str]] = {
    "an unknown role": (
        {"id": "a", "messages": [{"role": "user", "content": "hi"}, {"role": "agent", "content": "hello"}]},
        "unknown role",
        'message 2 has role "agent"; map it under [read.roles] to user, assistant, system or tool',
    ),
    "no messages": (
        {"id": "a", "messages": []},
        "no messages",
        "the conversation has no messages; remove it or check the export",
    ),
    "content that is null and no tool call": (
        {"id": "a", "messages": [{"role": "user", "content": None}]},
        "message without text",
        "message 1 (user) has no content; give its text",
    ),
    "messages that are text": (
        {"id": "a", "messages": "foo"},
        "no messages",
        'field messages is "foo"; give a list of messages with role and content',
    ),
    "a record that is text": (
        "foo",
        "unexpected shape",
        'not the shape of canonical: a value is of another kind in "foo"; correct the record or set [read] format',
    ),
    "a message that is text": (
        {"id": "a", "messages": [{"role": "user", "content": "hi"}, "hello"]},
        "unexpected shape",
        'message 2 is "hello"; give an object with role and content',
    ),
    "an id that is an object": (
        {"id": {"a": 1}, "messages": [{"role": "user", "content": "hi"}]},
        "no conversation id",
        "conversation id is {'a': 1}; give text or a number",
    ),
    "citations without ids": (
        {"id": "a", "messages": [{"role": "assistant", "content": "hi", "citations": [{"url": "u"}]}]},
        "citations without ids",
        "message 1 cites None; give the passage's id",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_record_is_dropped_alone_and_says_field_value_and_remedy(case: str) -> None:
    value, reason, detail = BAD[case]
    good = ONE_RECORD["canonical"][0]
    first, bad, last = read(good, value, {**good, "conversation_id": "hal-2"}, kind="canonical")
    assert isinstance(first, Transcript)
    assert isinstance(last, Transcript)
    assert isinstance(bad, Dropped)
    assert (bad.id, bad.stage, bad.reason, bad.detail) == ("chats.jsonl:2", "read", reason, detail)
    assert bad.excerpt


@pytest.mark.parametrize("kind", [name for name in FORMATS if name != "rows"])
@pytest.mark.parametrize("value", [None, 7, "text", [], {}, [[]], {"messages": 3}, {"turn": [{}]}])
def test_no_value_stops_a_format(kind: str, value: Any) -> None:
    results: Sequence[Transcript | Dropped] = read(value, ONE_RECORD["canonical"][0], kind=kind)
    assert all(isinstance(result, Dropped) and result.detail for result in results[:1])
    assert len(results) == 2


def test_a_row_without_an_id_is_dropped_and_the_conversation_of_the_others_stays() -> None:
    rows = [{"conversation_id": "a", "role": "user", "content": "hi"}, {"role": "user", "content": "hi"}, "x"]
    dropped, other, transcript = read(*rows)
    assert isinstance(dropped, Dropped)
    assert dropped.reason == "no conversation id"
    assert isinstance(other, Dropped)
    assert isinstance(transcript, Transcript)


@pytest.mark.parametrize("kind", ONE_RECORD)
def test_an_outline_is_that_of_the_transcript(kind: str) -> None:
    records = [Located("a.jsonl:1", ONE_RECORD[kind][0], 1)]
    outlines = [outline for _, outline in read_outlines(records, kind, PLAIN)]
    assert outlines == [outline_of(only(ONE_RECORD[kind][0]))]


@pytest.mark.parametrize("case", BAD)
def test_an_outline_is_refused_for_what_its_transcript_is_refused_for(case: str) -> None:
    records = [Located("chats.jsonl:1", BAD[case][0], 1)]
    assert [d for _, d in read_outlines(records, "canonical", PLAIN)] == read(BAD[case][0], kind="canonical")


def test_the_format_of_most_records_wins_and_a_setting_overrides_it() -> None:
    good = ONE_RECORD["canonical"][0]
    assert detect_format([{"odd": 1}, good, good], PLAIN) == "canonical"
    assert detect_format([good], ReadSettings(format="sharegpt")) == "sharegpt"
    assert detect_format([{"id": 1, "title": "t", "text": "a passage"}], PLAIN) == ""


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            ReadSettings(format="cannonical"),
            r'\[read\] format: unknown format "cannonical"; did you mean canonical\?',
        ),
        (
            ReadSettings(roles=(("agent", "bot"),)),
            r'\[read.roles\]: agent is mapped to "bot"; give user, assistant, system or tool',
        ),
        (ReadSettings(format="mapped"), r"\[read.fields\]: messages is not named; give the path"),
    ],
)
def test_impossible_settings_are_refused_at_once(settings: ReadSettings, message: str) -> None:
    with pytest.raises(BuilderError, match=message):
        detect_format([{}], settings)
