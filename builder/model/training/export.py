"""The trained network as an ONNX graph with 8-bit weights, built node by node so that nothing depends on a batch.

The graph reads one follow-up at a time and unpadded: activations are quantised per tensor, so padding or neighbours
would change the result.
"""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn

from builder.model.rendering import N_GLOBAL_FACTS, N_TURN_FACTS, ROOM
from builder.model.training.network import Layer, Reader

_OPSET = 20


class _Graph:
    """Nodes and constants under construction."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def add(self, op: str, *inputs: str, outputs: int = 1, **attributes: object) -> str:
        """The name of a new node's (first) output; further ones end in .1, .2."""
        name = f"{op}_{len(self.nodes)}"
        names = [name, *(f"{name}.{n}" for n in range(1, outputs))]
        self.nodes.append(helper.make_node(op, list(inputs), names, name=name, **attributes))
        return name

    def constant(self, values: np.ndarray, name: str = "") -> str:
        """The name of a new constant; a name with a dot is a weight that training can go on from."""
        name = name or f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def ints(self, *values: int) -> str:
        """The name of a new constant of whole numbers."""
        return self.constant(np.array(values, np.int64))


def quantise_rows(weights: np.ndarray, limit: int = 127) -> tuple[np.ndarray, np.ndarray]:
    """Signed 8-bit rows and their scales: round(w / s), s = max|w| / limit for each row."""
    scales = np.maximum(np.abs(weights).max(1, keepdims=True), 1e-9) / limit
    return np.round(weights / scales).astype(np.int8), scales.astype(np.float32)


def export(reader: Reader, file: Path) -> None:
    """Write the graph: inputs ids, kinds, end, marks, turn_facts, global_facts; outputs whole, each."""
    g = _Graph()
    x = _embed(g, reader)
    g.constant(np.array([reader.shape.heads], np.int64), "heads")
    for n, layer in enumerate(reader.layers):
        assert isinstance(layer, Layer)
        x = _layer(g, layer, x, f"layers.{n}.")
    whole, each = _heads(g, reader, x)
    graph = helper.make_graph(
        [
            *g.nodes,
            helper.make_node("Identity", [whole], ["whole"]),
            helper.make_node("Identity", [each], ["each"]),
        ],
        "reader",
        [
            helper.make_tensor_value_info("ids", TensorProto.INT64, ["n"]),
            helper.make_tensor_value_info("kinds", TensorProto.INT64, ["n"]),
            helper.make_tensor_value_info("end", TensorProto.INT64, [1]),
            helper.make_tensor_value_info("marks", TensorProto.INT64, ["m"]),
            helper.make_tensor_value_info("turn_facts", TensorProto.FLOAT, ["m", N_TURN_FACTS]),
            helper.make_tensor_value_info("global_facts", TensorProto.FLOAT, [1, N_GLOBAL_FACTS]),
        ],
        [
            helper.make_tensor_value_info("whole", TensorProto.FLOAT, [1, None]),
            helper.make_tensor_value_info("each", TensorProto.FLOAT, ["m", 2]),
        ],
        g.constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=9)
    onnx.checker.check_model(model)
    onnx.save(model, str(file))


def _embed(g: _Graph, reader: Reader) -> str:
    rows, scales = quantise_rows(_words(reader))
    number = g.add(
        "Cast", g.add("Gather", g.constant(rows, "pieces.weight.rows"), "ids"), to=TensorProto.FLOAT
    )
    words = g.add("Mul", number, g.add("Gather", g.constant(scales, "pieces.weight.scales"), "ids"))
    kinds = g.add("Gather", g.constant(_numpy(reader.kinds.weight), "kinds.weight"), "kinds")
    positions = g.constant(_numpy(reader.positions.weight)[:ROOM], "positions.weight")
    here = g.add("Slice", positions, g.ints(0), g.add("Shape", "ids"), g.ints(0))
    return _norm(g, reader.norm, g.add("Add", g.add("Add", words, here), kinds), "norm")


def _words(reader: Reader) -> np.ndarray:
    """The pieces' weights with those of the marks added in."""
    words = _numpy(reader.pieces.weight).copy()
    marks = _numpy(reader.marks.weight)
    words[1 : len(marks)] += marks[1:]
    words[0] += marks[0]
    return words


def _layer(g: _Graph, layer: Layer, x: str, at: str) -> str:
    width = layer.out.weight.shape[0]
    size = width // layer.heads
    weight = _numpy(layer.qkv.weight).copy()
    bias = _numpy(layer.qkv.bias).copy()
    weight[:width] *= size**-0.5
    bias[:width] *= size**-0.5
    qkv = g.add("Reshape", _linear8(g, x, weight, bias, at + "qkv"), g.ints(-1, 3, layer.heads, size))
    parts = g.add("Split", g.add("Transpose", qkv, perm=[1, 2, 0, 3]), outputs=3, axis=0, num_outputs=3)
    q, k, v = (g.add("Squeeze", part, g.ints(0)) for part in (parts, parts + ".1", parts + ".2"))
    scores = g.add("MatMul", q, g.add("Transpose", k, perm=[0, 2, 1]))
    seen = g.add("Transpose", g.add("MatMul", g.add("Softmax", scores, axis=-1), v), perm=[1, 0, 2])
    seen = g.add("Reshape", seen, g.ints(-1, width))
    out = _linear8(g, seen, _numpy(layer.out.weight), _numpy(layer.out.bias), at + "out")
    x = _norm(g, layer.norm1, g.add("Add", x, out), at + "norm1")
    up = g.add("Gelu", _linear8(g, x, _numpy(layer.up.weight), _numpy(layer.up.bias), at + "up"))
    down = _linear8(g, up, _numpy(layer.down.weight), _numpy(layer.down.bias), at + "down")
    return _norm(g, layer.norm2, g.add("Add", x, down), at + "norm2")


def _heads(g: _Graph, reader: Reader, x: str) -> tuple[str, str]:
    upto = g.add("Add", "end", g.ints(1))
    message = g.add("ReduceMean", g.add("Slice", x, g.ints(0), upto, g.ints(0)), g.ints(0), keepdims=1)
    first = g.add("Gather", x, g.ints(0))
    pooled = g.add("Concat", first, message, "global_facts", axis=1)
    whole = g.add("Gelu", _linear(g, pooled, reader.whole, "whole"))
    marked = g.add("Gather", x, "marks")
    context = g.add("Concat", first, whole, axis=1)
    rows = g.add("Concat", g.add("Shape", "marks"), g.ints(context_width(reader)), axis=0)
    each = g.add("Concat", marked, g.add("Expand", context, rows), "turn_facts", axis=1)
    each = g.add("Gelu", _linear(g, each, reader.each, "each"))
    return _linear(g, whole, reader.whole_out, "whole_out"), _linear(g, each, reader.each_out, "each_out")


def context_width(reader: Reader) -> int:
    """Numbers that every mark's head reads of the follow-up: its first state and the hidden layer of its heads."""
    return reader.shape.width + int(reader.whole.out_features)


def _linear8(g: _Graph, x: str, weight: np.ndarray, bias: np.ndarray, name: str) -> str:
    """The product x W + b, with 8-bit weights (a scale per output) and activations quantised on the fly."""
    rows, scales = quantise_rows(weight)
    xq = g.add("DynamicQuantizeLinear", x, outputs=3)
    zero = g.constant(np.zeros(len(rows), np.int8))
    whole = g.add("MatMulInteger", xq, g.constant(rows.T, name + ".weight.rows"), xq + ".2", zero)
    scale = g.add("Mul", xq + ".1", g.constant(scales[:, 0], name + ".weight.scales"))
    product = g.add("Mul", g.add("Cast", whole, to=TensorProto.FLOAT), scale)
    return g.add("Add", product, g.constant(bias, name + ".bias"))


def _linear(g: _Graph, x: str, module: nn.Linear, name: str) -> str:
    turned = g.add("Transpose", g.constant(_numpy(module.weight), name + ".weight"), perm=[1, 0])
    return g.add("Add", g.add("MatMul", x, turned), g.constant(_numpy(module.bias), name + ".bias"))


def _norm(g: _Graph, module: nn.LayerNorm, x: str, name: str) -> str:
    scale = g.constant(_numpy(module.weight), name + ".weight")
    return g.add(
        "LayerNormalization",
        x,
        scale,
        g.constant(_numpy(module.bias), name + ".bias"),
        axis=-1,
        epsilon=1e-12,
    )


def _numpy(tensor: Tensor) -> np.ndarray:
    values: np.ndarray = tensor.detach().float().numpy()
    return values
