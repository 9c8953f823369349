#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the models beside this file. Made with python3-onnx 1.12 of Debian 12: /usr/bin/python3 models.py"""
import pathlib

from onnx import TensorProto, checker, helper

FOLDER = pathlib.Path(__file__).parent


def save(name, nodes, inputs, outputs, initializers=()):
    graph = helper.make_graph(nodes, name, inputs, outputs, initializers)
    model = helper.make_model(graph, producer_name="penstock", opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    checker.check_model(model)
    (FOLDER / f"{name}.onnx").write_bytes(model.SerializeToString())


def value(name, type, *shape):
    return helper.make_tensor_value_info(name, type, shape)


# y = relu(x w + b): "linear" with w and b as inputs, "weighted" with zeros in their place.
NODES = [
    helper.make_node("MatMul", ["x", "w"], ["product"]),
    helper.make_node("Add", ["product", "b"], ["sum"]),
    helper.make_node("Relu", ["sum"], ["y"]),
]
X, Y = value("x", TensorProto.FLOAT, 2, 3), value("y", TensorProto.FLOAT, 2, 4)
save("linear", NODES, [X, value("w", TensorProto.FLOAT, 3, 4), value("b", TensorProto.FLOAT, 4)], [Y])
save("weighted", NODES, [X], [Y], [helper.make_tensor("w", TensorProto.FLOAT, [3, 4], [0.0] * 12), helper.make_tensor("b", TensorProto.FLOAT, [4], [0.0] * 4)])

# y = x[i], where x may be larger than a ByteBuffer.
save(
    "gather",
    [helper.make_node("Gather", ["x", "i"], ["y"])],
    [value("x", TensorProto.UINT8, "n"), value("i", TensorProto.INT64, 2)],
    [value("y", TensorProto.UINT8, 2)],
)
