"""What loops add to by joining, whether they read it besides, what a tape records, and what applies a network."""

import libcst as cst
import pytest
from programs import model_of

from tfmemlint.model.file import File
from tfmemlint.query.gradients.recorded import recorded
from tfmemlint.query.keras.models import applies_network
from tfmemlint.query.repetition.accumulating import Accumulated, accumulated
from tfmemlint.query.repetition.accumulating_methods import loop_around_method

START = "acc = tf.zeros((0, 4))\n"


def _found(program: str) -> tuple[File, Accumulated | None]:
    file = model_of(program)
    join = next(file.calls("tf.concat", "np.append", "np.vstack"))
    return file, accumulated(file, join)


ADDED = [
    ("acc = tf.concat([acc, x], 0)", ("acc", ["x"])),
    ("acc = tf.concat(values=[x, acc, y], axis=0)", ("acc", ["x", "y"])),
    ("acc = np.append(acc, x, axis=0)", ("acc", ["x"])),
    ("acc = np.vstack((acc, x))", ("acc", ["x"])),
    ("self.acc = tf.concat([self.acc, x], 0)", ("self.acc", ["x"])),
    ("acc = x if acc is None else tf.concat([acc, x], 0)", ("acc", ["x"])),
    ("acc, n = tf.concat([acc, x], 0), n + 1", ("acc", ["x"])),
    ("acc = tf.concat([acc, f(acc)], 0)", None),
    ("acc = tf.concat([x, y], 0)", None),
    ("other = tf.concat([acc, x], 0)", None),
    ("acc = tf.concat(parts, 0)", None),
]


@pytest.mark.parametrize(("program", "expected"), ADDED)
def test_what_is_added_to(program: str, expected: tuple[str, list[str]] | None) -> None:
    file, found = _found(program)
    assert (found and (found.name, [file.text(part) for part in found.others])) == expected


USED = [
    ("for x in y:\n    acc = tf.concat([acc, x], 0)", False),
    ("for x in y:\n    acc = tf.concat([acc, x], 0)\n    print(acc)", False),
    ("for x in y:\n    acc = tf.concat([acc, x], 0)\n    if len(acc) > 9:\n        break", False),
    ("while tf.shape(acc)[0] < n:\n    acc = tf.concat([acc, x], 0)", False),
    ("while acc.shape[0] < n:\n    acc = tf.concat([acc, x], 0)", False),
    ("for x in y:\n    tf.autograph.experimental.set_loop_options(shape_invariants=[(acc, s)])\n"
     "    acc = tf.concat([acc, x], 0)", False),
    ("while tf.reduce_sum(acc) < n:\n    acc = tf.concat([acc, x], 0)", True),
    ("for x in y:\n    acc = tf.concat([acc, x], 0)\n    acc = acc[-9:]", True),
    ("for x in y:\n    z = f(acc)\n    acc = tf.concat([acc, x], 0)", True),
    ("for x in y:\n    z = print(f(acc))\n    acc = tf.concat([acc, x], 0)", True),
]  # fmt: skip


@pytest.mark.parametrize(("program", "expected"), USED)
def test_reading_its_length_is_no_use(program: str, expected: bool) -> None:
    file, found = _found(START + program)
    loop = file.module.body[-1]
    assert found is not None and isinstance(loop, (cst.For, cst.While))
    assert found.starts_empty(loop) and found.is_used_otherwise(loop) is expected


RECORDED = [
    ("with tf.GradientTape() as t:\n    work()", True),
    ("work()", False),
    ("def f():\n    work()\nwith tf.GradientTape() as t:\n    f()", True),
    ("def f():\n    work()\ndef g():\n    f()\nwith tf.GradientTape() as t:\n    g()", True),
    ("def f():\n    work()\nwith tf.GradientTape() as t:\n    f()\nf()", False),
    ("def f():\n    work()", False),
]


@pytest.mark.parametrize(("program", "expected"), RECORDED)
def test_a_tape_records_what_its_block_calls(program: str, expected: bool) -> None:
    file = model_of(program)
    assert recorded(file, file.calls_by_word["work"][0]) is expected


NETWORKS = [
    ("def f(net, x):\n    net(x, training=False)", True),
    ("def f(net, x):\n    net(x)", False),
    ("def f(net, x):\n    net(training=False)", False),
    ("net = load()\nnet(x, training=False)", True),
    ("nets[0](x, training=False)", True),
    ("for net in nets:\n    net(x, training=False)", True),
    ("from project import augment\naugment(x, training=True)", False),
    ("import project\nproject.augment(x, training=True)", False),
    ("def augment(x, training):\n    return x\naugment(x, training=True)", False),
    ("class A(B):\n    def f(self, x):\n        self.augment(x, training=True)", False),
    ("class A(B):\n    def __init__(self, net):\n        self.net = net\n    def f(self, x):\n"
     "        self.net(x, training=True)", True),
    ("net = keras.layers.Dense(3)\nnet(x)", True),
    ("net = keras.Sequential([])\nnet(x)", True),
]  # fmt: skip


@pytest.mark.parametrize(("program", "expected"), NETWORKS)
def test_a_network_is_what_takes_training(program: str, expected: bool) -> None:
    file = model_of(program)
    call = max(file.tree.of(cst.Call), key=file.tree.order)
    assert applies_network(file, file.call(call)) is expected


METHOD = "class A:\n    def __init__(self):\n        self.m, self.acc = keras.Model(), None\n"
METHOD += "    def add(self, x):\n        self.acc = np.vstack((self.acc, self.m.predict(x)))\n"


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        ("    def run(self, r):\n        for x in r:\n            self.add(x)", True),
        ("a = A()\nfor x in r:\n    a.add(x)", True),
        ("    def run(self, r):\n        for x in r:\n            self.add(x)\n            f(self.acc)", False),
        ("    def cut(self):\n        self.acc = self.acc[-9:]\n    def run(self, r):\n        for x in r:\n"
         "            self.add(x)\n            self.cut()", False),
        ("a = A()\nfor i in range(4):\n    a.add(x)", False),
        ("A().add(x)", False),
    ],
)  # fmt: skip
def test_methods_that_a_loop_calls(rest: str, expected: bool) -> None:
    file = model_of(METHOD + rest)
    join = next(file.calls("np.vstack"))
    found = accumulated(file, join)
    assert found is not None
    assert (loop_around_method(file, join, found) is not None) is expected
