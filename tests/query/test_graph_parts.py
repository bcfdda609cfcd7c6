"""Loops that add to a graph for each of its parts, and loops over numbers."""

from __future__ import annotations

import libcst as cst
import pytest
from programs import model_of

from tfmemlint.query.tracing.graph_parts import goes_over_numbers, is_of_graph_parts, is_of_items

START = "import tensorflow as tf\nimport numpy as np\n"


def loop_of(program: str) -> tuple[object, cst.For]:
    file = model_of(START + program)
    (loop,) = file.tree.of(cst.For)
    return file, loop


@pytest.mark.parametrize(
    ("iterated", "expected"),
    [
        ("range(2, 10)", True),
        ("np.arange(0.5, 1.0, 0.05)", True),
        ("[3, 5, 7]", True),
        ("[3, 'a']", False),
        ("numbers", False),
        ("zip(range(3), range(3))", False),
    ],
)
def test_loops_over_numbers(iterated: str, expected: bool) -> None:
    file, loop = loop_of(f"for each in {iterated}:\n    pass\n")
    assert goes_over_numbers(file, loop.iter) is expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("probe(each.assign(1.0))", True),
        ("probe(model.get_layer(each).output + 1)", False),
        ("part = model.get_layer(each)\n    probe(part.output + 1)", True),
        ("probe(tf.nn.relu(x))", False),
        ("probe(tf.nn.relu(each))", False),
    ],
)
def test_ops_for_the_parts_of_a_graph(body: str, expected: bool) -> None:
    file, loop = loop_of(f"for each in parts:\n    {body}\n")
    ops = [file.call(node).node.args[0].value for node in file.calls_by_word["probe"]]
    assert is_of_graph_parts(file, loop, ops) is expected


@pytest.mark.parametrize(("made", "expected"), [("tf.function(each.call)", True), ("tf.function(step)", False)])
def test_functions_of_the_items_of_a_loop(made: str, expected: bool) -> None:
    file, _ = loop_of(f"for each in parts:\n    {made}\n")
    (node,) = file.calls_by_word["function"]
    call = file.call(node)

    class Around:
        items = frozenset({"each"})

    assert is_of_items(Around, call) is expected
