"""The shipped reader: int8 weights, one follow-up at a time, no torch; equal bytes for any batch and thread count."""

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from builder.core.errors import BuilderError
from builder.core.hashing import digest_bytes
from builder.core.records import Reading, Transcript
from builder.model.decide import Decisions, decide, decisions_from_json
from builder.model.evidence import Scores
from builder.model.pieces import Vocabulary, load_vocabulary
from builder.model.rendering import Rendering, render
from builder.model.surface import read_surfaces

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

SHIPPED = Path(__file__).parent.parent / "weights"
FILES = ("reader.onnx", "tokenizer.json", "stop_words.json", "decisions.json")
MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True)
class Encoder:
    """A loaded model folder.

    Attributes:
        session: The network.
        vocabulary: Its word pieces.
        decisions: What turns its scores into labels.
        digest: SHA-256 over the digests of its files: names the model in manifests and caches.
    """

    session: "InferenceSession"
    vocabulary: Vocabulary
    decisions: Decisions
    digest: str


def load_encoder(folder: Path | None = None) -> Encoder:
    """The model in `folder`, or the shipped one; every file's SHA-256 is checked against the folder's manifest.

    Raises:
        BuilderError: A file is missing or is not the one that the manifest names.
    """
    folder = folder or SHIPPED
    digests = check_files(folder)
    options = session_options()
    from onnxruntime import InferenceSession

    session = InferenceSession(str(folder / "reader.onnx"), options, providers=["CPUExecutionProvider"])
    decisions = decisions_from_json(json.loads((folder / "decisions.json").read_text(encoding="utf-8")))
    vocabulary = load_vocabulary(folder / "tokenizer.json", folder / "stop_words.json")
    joined = "".join(digests[name] for name in FILES)
    return Encoder(session, vocabulary, decisions, digest_bytes(joined.encode()))


def check_files(folder: Path) -> dict[str, str]:
    """The digest of each model file, after comparing it with the manifest.

    Raises:
        BuilderError: See `load_encoder`.
    """
    remedy = "restore the folder, or train one with `followups train LABELS --out FOLDER`"
    file = folder / MANIFEST
    if not file.is_file():
        raise BuilderError(str(file), "no such file, so this is not a model folder", remedy)
    named: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    found = {}
    for name in FILES:
        path = folder / name
        if not path.is_file():
            raise BuilderError(str(path), "no such file", remedy)
        found[name] = digest_bytes(path.read_bytes())
        if found[name] != named["files"].get(name):
            raise BuilderError(
                str(path), f"altered: its SHA-256 is {found[name][:12]}..., not the manifest's", remedy
            )
    return found


def read_transcripts(
    encoder: Encoder,
    transcripts: Sequence[Transcript],
    threads: int = 1,
    progress: Callable[[int], None] | None = None,
) -> list[tuple[Reading, ...]]:
    """The readings of every transcript's follow-ups, in order.

    Each follow-up is computed alone and unpadded, so neither the batch nor the number of threads can change a digit.

    Args:
        encoder: The model.
        transcripts: The conversations.
        threads: Conversations read at the same time.
        progress: Called with the number of follow-ups of each conversation that is done.
    """

    def read(transcript: Transcript) -> tuple[Reading, ...]:
        readings = read_transcript(encoder, transcript)
        if progress:
            progress(len(readings))
        return readings

    if threads <= 1:
        return [read(transcript) for transcript in transcripts]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(read, transcripts))


def read_transcript(encoder: Encoder, transcript: Transcript) -> tuple[Reading, ...]:
    """The readings of one transcript's follow-ups, oldest first.

    Of a synthetic transcript only the follow-up it was made for is read: the others were read where they come from.
    """
    user_turns = [turn.number for turn in transcript.turns if turn.role == "user"]
    if not user_turns:
        return ()
    threads = {user_turns[0]: user_turns[0]}
    readings = []
    surfaces = read_surfaces(transcript)
    for turn in user_turns[1:]:
        if transcript.synthesis and turn != user_turns[-1]:
            threads[turn] = turn
            continue
        rendering = render(transcript, turn, encoder.vocabulary)
        reading = decide(
            score(encoder.session, rendering), rendering, surfaces[turn], encoder.decisions, threads
        )
        threads[turn] = reading.thread
        readings.append(reading)
    return tuple(readings)


def score(session: "InferenceSession", rendering: Rendering) -> Scores:
    """The network's logits for one rendering, rounded to 4 places."""
    whole, each = session.run(
        ["whole", "each"],
        {
            "ids": np.array(rendering.ids, np.int64),
            "kinds": np.array(rendering.kinds, np.int64),
            "end": np.array([rendering.follow_up_end], np.int64),
            "marks": np.array(rendering.marks, np.int64),
            "turn_facts": np.array(rendering.turn_facts, np.float32).reshape(len(rendering.marks), -1),
            "global_facts": np.array([rendering.global_facts], np.float32),
        },
    )
    each = each.astype(np.float64).round(4)
    return Scores(whole[0].astype(np.float64).round(4), each[:, 0], each[:, 1])


def session_options() -> Any:
    """One thread per call: the calls themselves run side by side."""
    from onnxruntime import SessionOptions

    options = SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return options
