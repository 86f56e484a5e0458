import shutil
from pathlib import Path

import pytest

from builder.core.errors import BuilderError
from builder.core.records import Transcript, Turn
from builder.core.taxonomy import stratum_of
from builder.model.encoder import (
    FILES,
    MANIFEST,
    SHIPPED,
    Encoder,
    load_encoder,
    read_transcript,
    read_transcripts,
)

TALK = (
    "which european sites let us bring our own encryption keys?",
    "Frankfurt and Dublin accept customer-held keys.",
    "uptime commitment for the second?",
    "Dublin (eu-west-1) is covered by a 99.95% uptime commitment.",
    "And Dublin's RPO?",
    "In Dublin the documented RPO is 15 minutes.",
    "new topic: does the billing export API page its results?",
    "Yes, by cursor, up to 500 rows at a time.",
    "what about the reporting one?",
    "The reporting export API returns everything in one file.",
    "and the RTO over there?",
)


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return load_encoder()


def talk(name: str, texts: tuple[str, ...]) -> Transcript:
    roles = ("user", "assistant")
    return Transcript(name, tuple(Turn(n + 1, roles[n % 2], text) for n, text in enumerate(texts)))


def test_the_number_of_threads_and_what_else_is_read_change_no_digit(encoder: Encoder) -> None:
    talks = [talk(f"t{n}", TALK[n % 3 * 2 :]) for n in range(32)]
    alone = [read_transcript(encoder, transcript) for transcript in talks]
    assert read_transcripts(encoder, talks, threads=1) == alone
    assert read_transcripts(encoder, talks, threads=2) == alone
    assert [read_transcripts(encoder, talks[n : n + 8])[0] for n in range(0, 32, 8)] == alone[::8]


def test_the_worked_example_of_the_taxonomy_is_read_right_where_surface_decides(encoder: Encoder) -> None:
    readings = read_transcript(encoder, talk("worked", TALK))
    strata = [stratum_of(reading) for reading in readings]
    assert [reading.turn for reading in readings] == [3, 5, 7, 9, 11]
    assert strata[0] == "ordinal"
    assert strata[2] == "post_pivot_standalone"
    assert readings[0].antecedent_turns == (2,)


def test_every_reading_has_a_probability_for_each_stratum(encoder: Encoder) -> None:
    for reading in read_transcript(encoder, talk("worked", TALK)):
        assert sum(p for _, p in reading.probabilities) == pytest.approx(1, abs=1e-3)
        assert 0 < reading.confidence < 1


def test_a_transcript_without_follow_ups_gives_nothing(encoder: Encoder) -> None:
    assert read_transcript(encoder, talk("one", TALK[:2])) == ()
    assert read_transcript(encoder, Transcript("none", (Turn(1, "assistant", "Hello."),))) == ()


def test_progress_counts_every_follow_up(encoder: Encoder) -> None:
    done: list[int] = []
    read_transcripts(encoder, [talk("a", TALK), talk("b", TALK[:5])], progress=done.append)
    assert done == [5, 2]


@pytest.mark.parametrize("name", FILES)
def test_an_altered_file_is_refused(name: str, tmp_path: Path) -> None:
    for copied in (*FILES, MANIFEST):
        shutil.copyfile(SHIPPED / copied, tmp_path / copied)
    with (tmp_path / name).open("ab") as file:
        file.write(b" ")
    with pytest.raises(
        BuilderError, match=rf"{name}: altered: its SHA-256 is [0-9a-f]{{12}}\.\.\., not the manifest's"
    ):
        load_encoder(tmp_path)


def test_a_folder_without_a_manifest_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(BuilderError, match="no such file, so this is not a model folder; restore the folder"):
        load_encoder(tmp_path)


def test_the_weights_stay_below_thirty_megabytes() -> None:
    assert sum(file.stat().st_size for file in SHIPPED.iterdir()) < 30_000_000
