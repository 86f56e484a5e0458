"""Where training starts: a pretrained MiniLM, or a model folder that was trained before."""

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from safetensors.torch import load_file

from builder.core.errors import BuilderError
from builder.core.hashing import digest_bytes
from builder.model.encoder import SHIPPED, check_files
from builder.model.training.export import export
from builder.model.training.network import Reader, Shape, load_base, start_marks

MINILM = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""SHA-256 of the model.safetensors of all-MiniLM-L6-v2 (Apache-2.0), which the shipped weights start from."""

_STOP_WORDS = SHIPPED / "stop_words.json"
_STEPS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 20, 30)


@dataclass(frozen=True, slots=True)
class Base:
    """The weights to start from, with their tokenizer, and the digest that names them."""

    weights_file: Path
    tokenizer_file: Path
    stop_words_file: Path
    digest: str


def find_base(folder: Path | None) -> Base:
    """The base in `folder` (model.safetensors and tokenizer.json, or a model folder), or the shipped model.

    Raises:
        BuilderError: The folder holds neither.
    """
    folder = folder or SHIPPED
    pretrained = folder / "model.safetensors"
    if pretrained.is_file() and (folder / "tokenizer.json").is_file():
        return Base(pretrained, folder / "tokenizer.json", _STOP_WORDS, digest_bytes(pretrained.read_bytes()))
    if not (folder / "reader.onnx").is_file():
        raise BuilderError(
            f"--base {folder}",
            "holds neither model.safetensors with tokenizer.json nor a model folder",
            "name a folder with a BERT-shaped model, or leave --base out to start from the shipped one",
        )
    digests = check_files(folder)
    return Base(
        folder / "reader.onnx", folder / "tokenizer.json", folder / "stop_words.json", digests["reader.onnx"]
    )


def new_reader(base: Base, seed: int) -> Reader:
    """A reader with the base's weights; heads are fresh when the base has none."""
    if base.weights_file.suffix == ".onnx":
        return _from_graph(base.weights_file)
    from tokenizers import Tokenizer

    reader = load_base(load_file(str(base.weights_file)), seed=seed)
    pieces = Tokenizer.from_file(str(base.tokenizer_file)).get_vocab()
    start_marks(reader, pieces["user"], pieces["answer"], [pieces[str(step)] for step in _STEPS])
    return reader


def rounded(reader: Reader) -> Reader:
    """The reader with its weights rounded to 8 bits and back, as a later stage starts from it."""
    with TemporaryDirectory() as folder:
        export(reader, Path(folder) / "reader.onnx")
        return _from_graph(Path(folder) / "reader.onnx")


def _from_graph(file: Path) -> Reader:
    """The reader behind an exported graph; 8-bit rows are multiplied out, which is close enough to go on from."""
    tensors = {t.name: numpy_helper.to_array(t) for t in onnx.load(str(file)).graph.initializer}
    state = {}
    for name, values in tensors.items():
        if name.endswith(".rows"):
            state[name.removesuffix(".rows")] = _multiplied(
                values, tensors[name.removesuffix(".rows") + ".scales"]
            )
        elif not name.endswith(".scales") and "." in name:
            state[name] = values
    layers = 1 + max(int(name.split(".")[1]) for name in state if name.startswith("layers."))
    pieces, width = state["pieces.weight"].shape
    inner = state["layers.0.up.weight"].shape[0]
    heads = int(tensors["heads"][0])
    reader = Reader(Shape(layers, width, inner, heads, pieces, state["positions.weight"].shape[0]))
    with torch.no_grad():
        reader.marks.weight.zero_()
    for n in range(layers):
        for part in ("weight", "bias"):
            values = state[f"layers.{n}.qkv.{part}"].copy()
            values[:width] *= (width // heads) ** 0.5
            state[f"layers.{n}.qkv.{part}"] = values
    reader.load_state_dict({name: torch.from_numpy(np.array(v)) for name, v in state.items()}, strict=False)
    reader.pieces.weight.requires_grad_(False)
    return reader


def _multiplied(rows: np.ndarray, scales: np.ndarray) -> np.ndarray:
    if scales.ndim == 1:  # the product's weights are stored turned round, one column per output
        return np.ascontiguousarray((rows.astype(np.float32) * scales).T)
    product: np.ndarray = rows.astype(np.float32) * scales
    return product
