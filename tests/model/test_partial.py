import json
from pathlib import Path

from builder.model.training.partial import cast_2020, followup, gecor, sgd
from builder.model.training.sources import choose_folds, source_name


def write(file: Path, value: object) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(value), encoding="utf-8")


def test_a_fused_question_that_says_more_needs_the_question_before(tmp_path: Path) -> None:
    rows = [
        "show the counties of Ransom\twhat is their population?\twhat is the population of the counties of Ransom?\t1"
    ]
    (tmp_path / "train.tsv").write_text("\n".join(rows), encoding="utf-8")
    (example,) = followup(tmp_path)
    assert (example.needs, example.antecedent_turns, example.pivot) == (True, (1,), None)


def test_a_shortened_version_has_its_form_and_points_at_who_named_the_place(tmp_path: Path) -> None:
    first = {
        "transcript": "I want Cantonese food.",
        "transcript_complete": "I want Cantonese food.",
        "transcript_with_ellipsis": "",
        "transcript_with_coreference": "",
    }
    second = {
        "transcript": "Their phone number please.",
        "transcript_complete": "The phone number of the Golden Wok please.",
        "transcript_with_ellipsis": "phone number please.",
        "transcript_with_coreference": "Their phone number please.",
    }
    dialogue = [
        {"usr": first, "sys": {"sent": "The Golden Wok serves it."}},
        {"usr": second, "sys": {"sent": "Yes."}},
    ]
    write(tmp_path / "CamRest676_annotated.json", [{"dial": dialogue}])
    found = {e.transcript.turns[-1].content: (e.form, e.antecedent_turns) for e in gecor(tmp_path)}
    assert found == {
        "Their phone number please.": ("pronoun", (2,)),
        "phone number please.": ("ellipsis", (2,)),
    }


def test_going_back_to_a_service_is_a_return(tmp_path: Path) -> None:
    def user(service: str) -> dict[str, object]:
        return {
            "speaker": "USER",
            "utterance": "hm",
            "frames": [{"service": service, "state": {"active_intent": "Find"}}],
        }

    turns = [user("Homes"), user("Cars"), user("Cars"), user("Homes")]
    write(tmp_path / "dev" / "dialogues_001.json", [{"dialogue_id": "1", "turns": turns}])
    assert [(e.pivot, e.returns) for e in sgd(tmp_path)] == [(True, False), (False, False), (True, True)]


def test_dependence_links_become_antecedent_turns(tmp_path: Path) -> None:
    topic = {
        "number": 81,
        "turn": [
            {"number": 1, "raw_utterance": "How do you know when your garage door opener is going bad?"},
            {"number": 2, "raw_utterance": "Now it stopped working. Why?", "query_turn_dependence": [1]},
            {"number": 3, "raw_utterance": "What is a torsion spring?"},
        ],
    }
    write(tmp_path / "automatic_evaluation_topics_annotated_v1.1.json", [topic])
    assert [(e.needs, e.antecedent_turns) for e in cast_2020(tmp_path)] == [(True, (1,)), (False, ())]


def test_a_label_file_is_named_for_what_it_holds() -> None:
    assert source_name(Path("authored/travel.labels.jsonl")) == "travel"
    assert source_name(Path("halyard/labels-a.jsonl")) == "halyard"
    assert source_name(Path("mtrag-labels/labels.jsonl")) == "mtrag"


def test_few_sources_are_split_by_conversation_and_many_by_source() -> None:
    from builder.core.records import Transcript
    from builder.model.training.examples import Example

    def of(*sources: str) -> list[Example]:
        return [Example(source, Transcript("c", ()), 3) for source in sources]

    assert choose_folds(of("shop"), []) == (frozenset(), frozenset(), frozenset())
    assert choose_folds(of("a", "b", "c", "d", "e"), [])[0] == {"a", "e"}
    assert choose_folds(of("a", "b"), [["a"], ["b", "x"]]) == (frozenset({"a"}), frozenset({"b", "x"}))
