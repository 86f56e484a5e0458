import importlib.util
import json
from pathlib import Path

import pytest

from builder.cli.train import train
from builder.core.errors import BuilderError


def labelled(folder: Path) -> Path:
    """Six conversations with two follow-ups each, and their labels."""
    transcripts, labels = [], []
    for n in range(6):
        texts = [
            "which sites take our own keys?",
            "Frankfurt and Dublin.",
            "uptime of the second?",
            "99.95%.",
        ]
        texts += [f"what does plan {n} cost?"]
        roles = ["user", "assistant"]
        messages = [{"role": roles[k % 2], "content": text} for k, text in enumerate(texts)]
        transcripts.append({"conversation_id": f"c{n}", "messages": messages})
        one = {"form": "ordinal", "reference_type": "ordinal", "antecedent_turns": [2], "pivot": False}
        two = {
            "form": "none",
            "reference_type": "post_pivot_standalone",
            "antecedent_turns": [],
            "pivot": True,
        }
        labels.append({"conversation_id": f"c{n}", "turn": 3, "subject": "keys", "returns": False, **one})
        labels.append({"conversation_id": f"c{n}", "turn": 5, "subject": "plan", "returns": False, **two})
    for name, rows in (("transcripts", transcripts), ("labels", labels)):
        (folder / f"{name}.jsonl").write_text(
            "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
        )
    return folder / "labels.jsonl"


@pytest.mark.skipif(importlib.util.find_spec("torch") is not None, reason="torch is installed")
def test_training_without_its_extra_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(BuilderError, match=r"the extra is not installed .*; install followups\[train\]"):
        train([labelled(tmp_path)], out=tmp_path / "model")


@pytest.mark.slow
def test_a_trained_folder_is_a_model_that_reads_transcripts(tmp_path: Path) -> None:
    for name in ("torch", "onnx", "safetensors"):
        pytest.importorskip(name, reason=f"{name} is not installed (extra train)")
    from builder.core.rows import transcript_from_row
    from builder.model.encoder import load_encoder, read_transcript
    from builder.model.training.examples import read_rows

    labels = labelled(tmp_path)
    train([labels], out=tmp_path / "model", epochs=1)
    card = json.loads((tmp_path / "model" / "card.json").read_text(encoding="utf-8"))
    assert card["n_follow_ups"] == 12
    transcript = transcript_from_row(read_rows(tmp_path / "transcripts.jsonl")[0])
    assert [reading.turn for reading in read_transcript(load_encoder(tmp_path / "model"), transcript)] == [
        3,
        5,
    ]
