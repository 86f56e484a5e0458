from builder.core.records import Catalogue, Entity, Reading, Transcript, Turn
from builder.text.entities import EntityIndex
from builder.text.subjects import facets_of, name_subject, thread_at, threads_of

TALK = Transcript(
    "c",
    tuple(
        Turn(n, "user" if n % 2 else "assistant", text)
        for n, text in enumerate(
            (
                "what is the data limit of the Bronze tier",
                "Bronze has 50 GB. Which country are you in?",
                "Lagos",
                "50 GB a month.",
                "no sorry i meant silver",
            ),
            start=1,
        )
    ),
    language="en",
)


def reading(turn: int, thread: int, pivot: bool = False) -> Reading:
    return Reading(turn, thread, True, True, "ellipsis", pivot, False, (turn - 1,), 1.0)


def test_a_thread_is_its_earliest_user_turn() -> None:
    assert threads_of(TALK, [reading(5, 1), reading(3, 3, pivot=True)]) == {1: 1, 3: 3, 5: 1}


def test_an_answer_has_the_thread_of_the_question() -> None:
    assert [thread_at(turn, {1: 1, 3: 3, 5: 1}) for turn in range(1, 6)] == [1, 1, 3, 3, 1]


def test_a_thread_is_called_by_the_name_it_holds_most() -> None:
    index = EntityIndex(Catalogue((Entity("Bronze", "tier"),)))
    assert name_subject(TALK, {1: 1, 3: 1, 5: 1}, 5, index) == "Bronze"


def test_a_thread_without_names_is_called_by_its_first_words() -> None:
    assert name_subject(TALK, {1: 1, 3: 1, 5: 1}, 3, EntityIndex(Catalogue())) == "data Bronze tier"


def test_corrections_and_answers_to_the_assistant_are_told() -> None:
    subjects = {1: "Bronze", 3: "Bronze", 5: "Silver"}
    assert facets_of(TALK, reading(3, 1), {1: 1, 3: 1}, subjects) == (False, False, True)
    assert facets_of(TALK, reading(5, 1), {1: 1, 3: 1, 5: 1}, subjects) == (True, True, False)
