import pytest

from builder.core.records import Turn
from builder.scope.shown import SAID_NOTHING, State
from builder.scope.threads import make_threads
from builder.scope.vectors import word_vectors
from tests.scope.conversation import find

SAID = (
    "which backups does the Dublin region keep?",
    "Dublin keeps daily backups for 14 days.",
    "new topic: does the billing export API page its results?",
    "Yes, the billing export pages by cursor, up to 500 rows.",
)
TURNS = tuple(Turn(n, "user" if n % 2 else "assistant", text) for n, text in enumerate(SAID, start=1))


def shown(latest: str) -> list[int]:
    design, state = make_threads("threads", word_vectors, find), State()
    for turn in TURNS:
        state = design.step(state, turn, SAID_NOTHING)
    return [turn.number for turn in design.show(TURNS, latest, state).turns]


@pytest.mark.parametrize(
    ("latest", "expected"),
    [
        ("and how large is a page?", [3, 4]),
        ("does it need a token?", [3, 4]),
        ("back to the backups: are they encrypted?", [1, 2]),
        ("Do Dublin backups leave the Dublin region when Oregon fails?", [1, 2]),
        ("different question, which plan has the audit log?", []),
        ("Which certificates does the Team plan offer for health data?", []),
        ("thanks!", [3, 4]),
    ],
    ids=[
        "fragment",
        "pronoun",
        "announced return",
        "silent return",
        "announced change",
        "silent change",
        "thanks",
    ],
)
def test_a_message_is_shown_the_turns_of_its_own_subject(latest: str, expected: list[int]) -> None:
    assert shown(latest) == expected


def test_a_return_brings_its_thread_to_the_front() -> None:
    design, state = make_threads("threads", word_vectors, find), State()
    for turn in (
        *TURNS,
        Turn(5, "user", "back to the Dublin backups: are they encrypted?"),
        Turn(6, "assistant", "Yes."),
    ):
        state = design.step(state, turn, SAID_NOTHING)
    assert [thread.turns for thread in state.threads] == [(3, 4), (1, 2, 5, 6)]


def test_a_conversation_without_a_user_turn_has_no_thread() -> None:
    design = make_threads("threads", word_vectors, find)
    state = design.step(State(), Turn(1, "assistant", "Hello, how can I help?"), SAID_NOTHING)
    assert state.threads == ()
    assert design.show((), "RPO of Dublin?", state).turns == ()
