"""What a value is does not depend on what was asked for before it."""

from __future__ import annotations

import random
from collections.abc import Callable

import libcst as cst
import pytest
from programs import model_of

from tfmemlint.model.file import File
from tfmemlint.syntax.tree import Node

OPTIONAL_STEPS_AND_A_LOOP = """
def train_dataset(files, shuffle, repeat, augmentations):
    ds = tf.data.TFRecordDataset(files)
    if shuffle:
        ds = ds.shuffle(1000)
    if repeat:
        ds = ds.repeat()
    ds = ds.batch(32).prefetch(tf.data.AUTOTUNE)
    for augment in augmentations:
        ds = ds.map(augment, num_parallel_calls=tf.data.AUTOTUNE)
    return ds
"""

EACH_MADE_OF_THE_OTHER = """
left, right = tf.zeros((2, 3)), tf.zeros((4, 3))
for _ in range(9):
    left = tf.concat([right, left], 0)
    right = left + 1
    third = tf.stack([third, right])
print(left, right, third)
"""

ATTRIBUTES_IN_A_CIRCLE = """
class State:
    def __init__(self):
        self.a = np.zeros((2, 3))
        self.b = self.a
    def step(self):
        self.a = self.c.astype("float32")
    def other(self):
        self.b = np.concatenate([self.a, self.b])
        self.c = self.b
"""

CALLERS_OF_EACH_OTHER = """
class Part:
    def run(self, other):
        return other.join(self)
    def join(self, other):
        return other.run(self)
def start():
    return Part().run(Part())
"""

LONG_CHAIN = "x = tf.zeros((2, 3))\n" + "x = tf.identity(x) + 1\n" * 300 + "print(x)\n"
LOOP_OVER_LAYERS = """
def block(x, filters):
    for _ in range(2):
        x = tf.keras.layers.Conv2D(filters, 3)(x)
    return x
x = tf.keras.Input((28, 28, 1))
for filters in (8, 16):
    x = block(x, filters)
    x = tf.keras.layers.MaxPooling2D()(x)
y = tf.keras.layers.Flatten()(x)
"""

PROGRAMS = {
    "optional steps and a loop": OPTIONAL_STEPS_AND_A_LOOP,
    "each made of the other": EACH_MADE_OF_THE_OTHER,
    "attributes in a circle": ATTRIBUTES_IN_A_CIRCLE,
    "callers of each other": CALLERS_OF_EACH_OTHER,
    "a long chain": LONG_CHAIN,
    "a loop over layers": LOOP_OVER_LAYERS,
}

ORDERS: dict[str, Callable[[list[Node]], object]] = {
    "last first": lambda nodes: nodes.reverse(),
    "calls first": lambda nodes: nodes.sort(key=lambda node: not isinstance(node, cst.Call)),
    "at random": lambda nodes: random.Random(1).shuffle(nodes),
}


def values(file: File, reorder: Callable[[list[Node]], object]) -> list[str]:
    """The values of all names, attributes and calls of a program, asked for in some order, in source order."""
    kinds = (cst.Name, cst.Attribute, cst.Call)
    places = sorted((node for kind in kinds for node in file.tree.of(kind)), key=file.tree.order)
    asked = list(places)
    reorder(asked)
    for node in asked:
        file.value(node)
    return [f"{file.text(node)}: {file.value(node)}" for node in places]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_value_does_not_depend_on_what_was_asked_before(program: str, order: str) -> None:
    text = PROGRAMS[program]
    assert values(model_of(text), ORDERS[order]) == values(model_of(text), lambda nodes: None)


def test_the_end_of_a_long_chain_is_known() -> None:
    file = model_of(LONG_CHAIN)
    last = file.calls_by_word["print"][0].args[0].value
    assert "shape=(2, 3)" in str(file.value(last))
