"""Axes of size 1, copies along axes, element-wise ops, pairs of rows, one-hot rows and products."""

import libcst as cst
import pytest
from programs import model_of

from tfmemlint.model.file import File
from tfmemlint.query.flow.readers import only_reader
from tfmemlint.query.tensors.one_hot import one_hot
from tfmemlint.query.tensors.paired_rows import needed_pairs, paired_rows
from tfmemlint.query.tensors.pairs import all_pairs
from tfmemlint.query.tensors.products import products
from tfmemlint.query.tensors.tensors import copied_axes, inserted_axes, is_empty, partners, shape_size, size_one
from tfmemlint.query.tensors.tiled import brings, tiling


def asked(file: File) -> cst.BaseExpression:
    return file.calls_by_word["probe"][0].args[0].value


ONES = [
    ("x[:, None]", 1, None, True),
    ("x[:, None]", 0, None, False),
    ("x[..., None]", -1, None, True),
    ("x[..., None]", 2, 3, True),
    ("tf.expand_dims(x, 1)", 1, None, True),
    ("tf.expand_dims(x[None], 2)", 0, None, True),
    ("tf.zeros([4, 1])", 1, None, True),
    ("tf.zeros([4, 1])", 0, None, False),
    ("tf.sqrt(x[:, None]) * 2.0", 1, None, True),
    ("x[:, None] * y", 1, None, False),
    ("tf.reduce_sum(x, 1, keepdims=True)", 1, None, True),
    ("tf.reduce_sum(x, -1, keepdims=True)", 2, 3, True),
    ("tf.reduce_sum(x, 1)", 1, None, False),
    ("tf.reshape(x, [n, 1, 4])", 1, None, True),
    ("x", 0, None, False),
]


@pytest.mark.parametrize(("expression", "axis", "rank", "expected"), ONES)
def test_axes_of_size_1(expression: str, axis: int, rank: int | None, expected: bool) -> None:
    file = model_of(f"probe({expression})")
    assert size_one(file, asked(file), axis, rank) is expected


INSERTED = [
    ("x[:, None]", {1}, set()),
    ("x[None, ..., tf.newaxis]", {0}, {-1}),
    ("x[0, None]", {0}, set()),
    ("x[i, None]", set(), set()),
    ("x[..., None, ...]", set(), set()),
]


@pytest.mark.parametrize(("expression", "front", "back"), INSERTED)
def test_inserted_axes(expression: str, front: set[int], back: set[int]) -> None:
    file = model_of(f"probe({expression})")
    node = asked(file)
    assert isinstance(node, cst.Subscript)
    assert inserted_axes(file, node) == (front, back)


COPIED = [
    ("tf.tile(x, [1, n, 1])", ([1], 3)),
    ("tf.tile(x, tf.stack([1, n]))", ([1], 2)),
    ("tf.tile(x, [1, 1])", None),
    ("tf.tile(x, n)", None),
    ("tf.repeat(x, 3, axis=1)", ([1], None)),
    ("tf.repeat(x, 3)", None),
    ("tf.broadcast_to(x, s)", ([], None)),
]


@pytest.mark.parametrize(("expression", "expected"), COPIED)
def test_axes_along_which_a_call_copies(expression: str, expected: tuple[list[int], int | None] | None) -> None:
    file = model_of(f"probe({expression})")
    node = asked(file)
    assert isinstance(node, cst.Call)
    assert copied_axes(file, file.call(node)) == expected


PARTNERS = [
    ("probe(x) * w", ["w"]),
    ("a = 2 * probe(x)\na + w", ["w"]),
    ("a = tf.sqrt(probe(x))\ntf.maximum(a, w)\nv < a", ["v", "w"]),
    ("w += probe(x)", ["w"]),
    ("step = tf.function(f)\ntf.where(c, probe(x), w)", ["c", "w"]),
    ("tf.where(c, probe(x), w)", []),  # which may be version 1's
    ("step = tf.function(f)\ntf.placeholder(f)\ntf.where(c, probe(x), w)", []),
    ("tf.compat.v1.where(c, probe(x), w)", []),
    ("a = probe(x)\na * w\ng(a)", []),
    ("tf.concat([probe(x), w], 0)", []),
    ("a = probe(x)", []),
]


@pytest.mark.parametrize(("program", "expected"), PARTNERS)
def test_other_operands_of_element_wise_ops(program: str, expected: list[str]) -> None:
    file = model_of(program)
    assert sorted(file.text(node) for node in partners(file, file.calls_by_word["probe"][0])) == expected


@pytest.mark.parametrize(("shape", "size"), [("[2, 3]", 6), ("5", 5), ("[2, n]", None), ("n", None), ("()", 1)])
def test_elements_of_a_shape(shape: str, size: int | None) -> None:
    file = model_of(f"probe({shape})")
    assert shape_size(file.value(asked(file))) == size


PAIRS = [
    ("x[:, None, :] - y[None, :, :]", False, False),
    ("(x[:, None, :] - y[None, :, :]) ** 2", False, True),
    ("tf.square(x[:, None, :] - y[None, :, :])", False, True),
    ("x[:, None, :] * y[None, :, :]", False, True),
    ("x[:, None, :] - y[None, :, :]", True, True),
    ("tf.expand_dims(x, 1) - tf.expand_dims(y, 0)", False, False),
    ("tf.abs(x[:, None] - x)", False, False),
    ("tf.square(tf.abs(x[:, None, :] - y[None, :, :]))", False, True),
    ("tf.cast(tf.negative(tf.square(x[:, None, :] - y[None, :, :])), tf.float64)", False, True),
    ("tf.exp(tf.negative(tf.square(x[:, None, :] - y[None, :, :])))", False, False),
    ("tf.square(tf.sigmoid(x[:, None, :] - y[None, :, :]))", False, False),
    ("keras.backend.exp(keras.backend.square(x[:, None, :] - y[None, :, :]))", False, False),
    ("x[:, None, :] - y", False, None),
    ("x[None, :, :] - x", False, None),
    ("x - y", False, None),
    ("x[:, None, :] - y[:, None, :]", False, None),
]


@pytest.mark.parametrize(("expression", "squared", "product"), PAIRS)
def test_operations_on_all_pairs(expression: str, squared: bool, product: bool | None) -> None:
    file = model_of(f"probe({expression})")
    found = all_pairs(file, asked(file), -1, squared=squared)
    assert (found.product if found is not None else None) is product


ONE_HOT = [
    ("tf.one_hot(ids, 100)", 100),
    ("tf.cast(tf.one_hot(ids, 100), tf.float16)", 100),
    ("tf.reshape(tf.one_hot(ids, 100), [-1, 100])", 100),
    ("tf.one_hot(ids, 100)[:, None]", 100),
    ("keras.utils.to_categorical(ids, 100)", 100),
    ("tf.one_hot(ids, 100, axis=0)", None),
    ("tf.one_hot(ids, 100, on_value=0.9)", None),
    ("tf.reshape(tf.one_hot(ids, 100), [100, -1])", None),
    ("tf.one_hot(ids, 100)[0]", None),
    ("tf.zeros([3, 100])", None),
]


@pytest.mark.parametrize(("expression", "length"), ONE_HOT)
def test_one_hot_rows(expression: str, length: int | None) -> None:
    file = model_of(f"probe({expression})")
    found = one_hot(file, asked(file))
    assert (found.length if found is not None else None) == length


def test_the_default_of_a_parameter_is_the_usual_length() -> None:
    file = model_of("def f(ids, n=10):\n    probe(tf.one_hot(ids, n))")
    found = one_hot(file, asked(file))
    assert found is not None and found.usual_length == 10


PRODUCTS = [
    ("a @ b", ["a b"]),
    ("tf.matmul(a, b)", ["a b"]),
    ("tf.matmul(b=y, a=x)", ["y x"]),
    ("tf.matmul(a, b, transpose_b=True)", ["a b right"]),
    ("tf.matmul(a, b, transpose_b=False)", ["a b"]),
    ("tf.einsum('bi,ij->bj', a, b)", ["a b"]),
    ("tf.einsum('bi,bi->b', a, b)", ["a b"]),
    ("tf.einsum('ib,ij->bj', a, b)", []),
    ("tf.tensordot(a, b, 1)", ["a b"]),
    ("tf.tensordot(a, b, [[-1], [0]])", ["a b"]),
    ("tf.tensordot(a, b, 2)", []),
    ("a * b", []),
]


@pytest.mark.parametrize(("program", "expected"), PRODUCTS)
def test_products_over_rows(program: str, expected: list[str]) -> None:
    file = model_of(program)
    found = products.of(file)
    assert [" ".join((file.text(p.left), file.text(p.right), *p.turned)) for p in found] == expected


READERS = [
    ("a = f()\nprobe(a)", True),
    ("a = f()\nprobe(a)\nb = a", False),
    ("a = f()\nprobe(a)\ndef g():\n    return a", False),
    ("probe(a)", False),
    ("probe(f())", True),
]


@pytest.mark.parametrize(("program", "expected"), READERS)
def test_names_that_nothing_else_reads(program: str, expected: bool) -> None:
    file = model_of(program)
    assert only_reader(file, asked(file)) is expected


EMPTY = [
    ("tf.zeros([0, 3])", True),
    ("tf.constant([])", True),
    ("np.array([], np.float32)", True),
    ("tf.zeros([0] + sizes)", True),
    ("[]", True),
    ("tf.zeros([1, 3])", False),
    ("tf.zeros([3] + sizes)", False),
    ("[x]", False),
    ("tf.constant(x)", False),
    ("unknown()", False),
]


@pytest.mark.parametrize(("expression", "expected"), EMPTY)
def test_tensors_with_nothing_in_them(expression: str, expected: bool) -> None:
    file = model_of(f"probe({expression})")
    assert is_empty(file, asked(file)) is expected


BRINGS = [
    ("", "tf.tile(x[:, None], [1, tf.shape(y)[1]])", "y", True),
    ("n = y.shape[1]", "tf.tile(x[:, None], [1, n])", "2.0 * tf.exp(y)", True),
    ("b, n = tf.unstack(tf.shape(y))", "tf.tile(x[:, None], [1, n])", "y", True),
    ("b, n = tf.unstack(tf.shape(y))", "tf.tile(x[:, None], [1, b])", "y", False),
    ("n = len(y)", "tf.repeat(x[None], n, axis=0)", "layer(y)", True),
    ("n = len(y)", "tf.repeat(x[None], n, axis=0)", "z", False),
    ("n = len(y)", "tf.tile(x[None], [n, 1, 1])", "y if len(y.shape) == 2 else z", False),
    ("n = len(y)\nif len(y.shape) == 2: pass", "tf.tile(x[None], [n, 1, 1])", "y", False),
    ("", "tf.tile(x[:, None], [1, n])", "tf.zeros([b, n])", True),
    ("", "tf.tile(x[:, None], [1, n])", "n", False),
    ("", "tf.tile(x[:, None], [1, n])", "2.0", False),
    ("", "tf.tile(x[:, None], [1, n])", "tf.tile(z[None, :], [n, 1])", False),
    ("n = len(z)", "tf.tile(x[:, None], [1, n])", "tf.tile(z[None, :], [len(x), 1])", True),
    ("", "tf.broadcast_to(x[None], tf.shape(y))", "y", True),
    ("", "tf.broadcast_to(tf.zeros([4]), [3, 4])", "tf.ones([3, 4])", True),
    ("", "tf.broadcast_to(tf.zeros([4]), [3, 4])", "tf.ones([4])", False),
]


@pytest.mark.parametrize(("before", "tiled", "other", "expected"), BRINGS)
def test_the_other_operand_has_the_copied_sizes(before: str, tiled: str, other: str, expected: bool) -> None:
    file = model_of(f"{before}\nprobe({tiled})\nother({other})")
    node, met = asked(file), file.calls_by_word["other"][0].args[0].value
    assert isinstance(node, cst.Call)
    found = tiling(file, file.call(node))
    assert found is not None
    assert brings(file, met, found) is expected


@pytest.mark.parametrize("tiled", ["tf.tile(x, [2, 1])", "tf.broadcast_to(layer.w, tf.shape(y))", "tf.tile(x, n)"])
def test_copies_along_axes_that_may_be_longer_are_none(tiled: str) -> None:
    file = model_of(f"probe({tiled})")
    node = asked(file)
    assert isinstance(node, cst.Call)
    assert tiling(file, file.call(node)) is None


PAIRED_ROWS = [
    ("probe(x[:, None, :] - x[None, :4])", 4),
    ("probe(x[:, None, :] - x[None, 4:])", None),
    ("c = x[2:6]\nprobe(x[:, None, :] - c[None])", 4),
    ("probe(x[:, None, :] - tf.reshape(y, [1, -1, 64]))", None),
    ("c = tf.Variable(tf.slice(x, [0, 0], [5, -1]))\nprobe(tf.subtract(x[:, None], c[None]))", 5),
    ("probe(x[:, None] - tf.slice(x, [0, 0], [-1, 3])[None])", None),
    ("def f(c):\n    probe(x[:, None] - c[None])\nf(x[:2])\nf(x[:7])", 7),
    ("def f(c):\n    probe(x[:, None] - c[None])\nf(x[:2])\nf(x)", None),
    ("def g(v):\n    return v[:2]\nc = g(x)\nprobe(x[:, None] - c[None])", 2),
    ("c = tf.math.unsorted_segment_sum(x, y, 6) / 2.0\nprobe(x[:, None] - c[None])", 6),
    ("c = x[:2]\nwhile p:\n    probe(x[:, None] - c[None])\n    c = c + c", None),
]


@pytest.mark.parametrize(("program", "expected"), PAIRED_ROWS)
def test_rows_of_the_smaller_side_of_all_pairs(program: str, expected: int | None) -> None:
    file = model_of(program)
    found = all_pairs(file, asked(file), -1)
    assert found is not None
    assert paired_rows(file, found) == expected


KEEPS = """
class A:
    def f(self, x, y):
        self.d = x[:, None, :] - y[None, :, :]
        self.r = tf.reduce_sum(self.d, -1)
"""


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("    def g(self): return self.d", True),
        ("    def g(self): return self.r", False),
        ("    def g(self): self.d = None", False),
        ("def g(self): return self.d", False),
    ],
)
def test_pairs_that_an_attribute_keeps_for_others(more: str, expected: bool) -> None:
    file = model_of(KEEPS + more)
    reduction = file.call(file.calls_by_word["reduce_sum"][0])
    found = all_pairs(file, reduction.node.args[0].value, -1)
    assert found is not None
    assert needed_pairs(file, reduction, found) is expected


DIFFERENCE = "d = x[:, None, :] - y[None, :, :]\nr = tf.reduce_sum(tf.square(d), -1)\n"


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("", False),
        ("use(d)", True),
        ("keras.layers.Dense(3)(d)", True),
        ("tf.gather(d, i, axis=1)", True),
        ("use(tf.nn.relu(d / 3.0))", True),
        ("d[..., 0]", True),
        ("use(r)", False),
        ("print(d)\ntf.print(d)\ntf.shape(d)", False),
        ("tf.reduce_max(tf.abs(d), axis=-1)", False),
        ("e = d * w\ntf.reduce_sum(e, axis=1)", False),
    ],
)
def test_pairs_that_are_needed_besides(more: str, expected: bool) -> None:
    file = model_of(DIFFERENCE + more)
    reduction = file.call(file.calls_by_word["reduce_sum"][0])
    found = all_pairs(file, reduction.node.args[0].value, -1)
    assert found is not None
    assert needed_pairs(file, reduction, found) is expected


def test_pairs_that_are_returned_beside_their_sums() -> None:
    file = model_of(
        "def f(x, y):\n    d = x[:, None, :] - y[None, :, :]\n    return d, tf.reduce_sum(d, -1)\n"
        "def g(x, y):\n    d = x[:, None, :] - y[None, :, :]\n    return x, tf.reduce_sum(d, -1)\n"
    )
    needed = []
    for node in file.calls_by_word["reduce_sum"]:
        found = all_pairs(file, node.args[0].value, -1)
        assert found is not None
        needed.append(needed_pairs(file, file.call(node), found))
    assert needed == [True, False]
