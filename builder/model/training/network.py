"""The network that is trained: a small BERT encoder and heads on the message and on each earlier turn's mark."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from builder.model.evidence import N_WHOLE
from builder.model.rendering import N_GLOBAL_FACTS, N_MARKS, N_TURN_FACTS, mark

_GLOBAL_WIDTH, _TURN_WIDTH = 256, 128


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes of the encoder; the base weights decide them."""

    layers: int
    width: int
    inner: int
    heads: int
    pieces: int
    positions: int


class Layer(nn.Module):  # type: ignore[misc]  # torch is an extra, so its types may be absent
    """One transformer layer, post-norm, as in BERT (Devlin et al., 2019)."""

    def __init__(self, shape: Shape) -> None:
        """Fresh weights; `load_base` overwrites them."""
        super().__init__()
        self.heads = shape.heads
        self.qkv = nn.Linear(shape.width, 3 * shape.width)
        self.out = nn.Linear(shape.width, shape.width)
        self.norm1 = nn.LayerNorm(shape.width, eps=1e-12)
        self.up = nn.Linear(shape.width, shape.inner)
        self.down = nn.Linear(shape.inner, shape.width)
        self.norm2 = nn.LayerNorm(shape.width, eps=1e-12)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """States after this layer; `mask` is added to the attention scores."""
        b, n, width = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        # The fused kernel is many times slower than these two products on CPUs with bf16 tiles.
        scores = (q * q.shape[-1] ** -0.5) @ k.transpose(-1, -2)
        seen = (scores if mask is None else scores + mask).softmax(-1, dtype=scores.dtype) @ v
        x = self.norm1(x + self.out(seen.transpose(1, 2).reshape(b, n, width)))
        return self.norm2(x + self.down(F.gelu(self.up(x))))


class Reader(nn.Module):  # type: ignore[misc]
    """The encoder with its heads: logits of the follow-up, and of each earlier turn (antecedent, same subject)."""

    def __init__(self, shape: Shape) -> None:
        """Fresh weights; `load_base` sets those of the encoder."""
        super().__init__()
        self.shape = shape
        self.pieces = nn.Embedding(shape.pieces, shape.width)
        self.positions = nn.Embedding(shape.positions, shape.width)
        self.kinds = nn.Embedding(2, shape.width)
        self.marks = nn.Embedding(N_MARKS + 1, shape.width)
        self.norm = nn.LayerNorm(shape.width, eps=1e-12)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        self.whole = nn.Linear(2 * shape.width + N_GLOBAL_FACTS, _GLOBAL_WIDTH)
        self.whole_out = nn.Linear(_GLOBAL_WIDTH, N_WHOLE)
        self.each = nn.Linear(2 * shape.width + _GLOBAL_WIDTH + N_TURN_FACTS, _TURN_WIDTH)
        self.each_out = nn.Linear(_TURN_WIDTH, 2)

    def encode(self, ids: Tensor, kinds: Tensor, lengths: Tensor | None) -> Tensor:
        """States of every piece, shape (batch, length, width)."""
        n = ids.shape[1]
        marked = self.marks(torch.where(ids <= N_MARKS, ids, 0))
        x = self.norm(self.pieces(ids) + self.positions.weight[:n] + self.kinds(kinds) + marked)
        mask = None
        if lengths is not None and int(lengths.min()) < n:
            hidden = torch.arange(n)[None, :] >= lengths[:, None]
            mask = torch.zeros(len(ids), 1, 1, n).masked_fill(hidden[:, None, None, :], -1e4)
            mask = mask.to(torch.get_autocast_dtype("cpu") if torch.is_autocast_enabled("cpu") else x.dtype)
            x = x.to(mask.dtype)
        for layer in self.layers:
            x = layer(x, mask)
        return x

    def forward(self, batch: Mapping[str, Tensor], drop: float = 0.0) -> tuple[Tensor, Tensor]:
        """(logits of the follow-up, logits of each mark); `drop` is the dropout on what the heads read."""
        states = self.encode(batch["ids"], batch["kinds"], batch["lengths"]).float()
        inside = (torch.arange(states.shape[1])[None, :] <= batch["ends"][:, None]).float()
        message = (states * inside[..., None]).sum(1) / inside.sum(1, keepdim=True)
        first = states[:, 0]
        pooled = F.dropout(torch.cat([first, message], -1), drop, training=drop > 0)
        whole = F.gelu(self.whole(torch.cat([pooled, batch["global_facts"]], -1)))
        at = batch["marks"][..., None].expand(-1, -1, states.shape[2])
        marked = states.gather(1, at)
        context = torch.cat([first, whole], -1)[:, None].expand(-1, marked.shape[1], -1)
        each = F.dropout(torch.cat([marked, context], -1), drop, training=drop > 0)
        each = F.gelu(self.each(torch.cat([each, batch["turn_facts"]], -1)))
        return self.whole_out(whole), self.each_out(each)


def load_base(tensors: Mapping[str, Tensor], heads: int = 12, seed: int = 0) -> Reader:
    """A reader whose encoder has the weights of a BERT checkpoint; heads are fresh, drawn from `seed`."""
    torch.manual_seed(seed)
    names = {name.removeprefix("bert."): tensor.float() for name, tensor in tensors.items()}
    words = names["embeddings.word_embeddings.weight"]
    layers = 1 + max(int(name.split(".")[2]) for name in names if name.startswith("encoder.layer."))
    inner = names["encoder.layer.0.intermediate.dense.weight"].shape[0]
    positions = names["embeddings.position_embeddings.weight"]
    reader = Reader(Shape(layers, words.shape[1], inner, heads, words.shape[0], positions.shape[0]))
    with torch.no_grad():
        reader.pieces.weight.copy_(words)
        reader.positions.weight.copy_(positions)
        reader.kinds.weight.copy_(names["embeddings.token_type_embeddings.weight"][:1].expand(2, -1))
        _copy(reader.norm, names, "embeddings.LayerNorm")
        for n, layer in enumerate(reader.layers):
            _load_layer(layer, names, f"encoder.layer.{n}.")
        reader.marks.weight.zero_()
        reader.kinds.weight[1] += 0.02 * torch.randn(words.shape[1])
    # The pieces' own weights stay as they are: rare words of the training domains would drift, and with them a new
    # customer's words. Marks and kinds are learned.
    reader.pieces.weight.requires_grad_(False)
    return reader


def start_marks(reader: Reader, user: int, assistant: int, numbers: list[int]) -> None:
    """Set the pieces that mark a turn to role plus distance, so that the pretrained sense of both is there at once."""
    with torch.no_grad():
        words = reader.pieces.weight
        for step, number in enumerate(numbers, 1):
            for role, word in (("user", user), ("assistant", assistant)):
                words[mark(role, step if step <= 12 else (14, 20, 30)[step - 13])] = (
                    words[word] + 0.5 * words[number]
                ) / math.sqrt(1.25)


def _load_layer(layer: nn.Module, names: Mapping[str, Tensor], prefix: str) -> None:
    assert isinstance(layer, Layer)
    parts = [prefix + f"attention.self.{part}" for part in ("query", "key", "value")]
    layer.qkv.weight.copy_(torch.cat([names[part + ".weight"] for part in parts]))
    layer.qkv.bias.copy_(torch.cat([names[part + ".bias"] for part in parts]))
    _copy(layer.out, names, prefix + "attention.output.dense")
    _copy(layer.norm1, names, prefix + "attention.output.LayerNorm")
    _copy(layer.up, names, prefix + "intermediate.dense")
    _copy(layer.down, names, prefix + "output.dense")
    _copy(layer.norm2, names, prefix + "output.LayerNorm")


def _copy(module: nn.Linear | nn.LayerNorm, names: Mapping[str, Tensor], name: str) -> None:
    module.weight.copy_(names[name + ".weight"])
    module.bias.copy_(names[name + ".bias"])
