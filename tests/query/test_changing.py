"""Whether the argument of `probe(...)` is another Python value in each iteration, and other questions about it."""

import pytest
from programs import model_of

from tfmemlint.query.repetition.changing import changes_with, differs, made_anew
from tfmemlint.query.repetition.changing_shapes import resizes

NINE = "for i in range(9):\n    "

DIFFERENT = [
    ("probe(3)", False),
    (f"{NINE}probe(3)", False),
    (f"{NINE}probe(i)", True),
    ("for i in range(3):\n    probe(i)", False),
    (f"{NINE}probe(i * 2 + 1)", True),
    (f"{NINE}probe(i * x)", False),
    (f"{NINE}probe(f'{{i}}')", True),
    (f"{NINE}probe([i, 1])", True),
    (f"{NINE}probe({{'rate': i}})", True),
    (f"{NINE}probe(tf.constant(i))", False),
    (f"{NINE}probe(max(i, 3))", True),
    (f"{NINE}probe(float(i))", True),
    (f"{NINE}probe(str(x))", False),
    (f"{NINE}probe(np.random.rand())", True),
    (f"{NINE}probe(np.random.rand(3))", False),
    ("probe(np.random.rand())", False),
    ("for x in ds:\n    probe(x)", False),
    ("for i, x in enumerate(data):\n    probe(i)", True),
    ("for i, x in enumerate(data):\n    probe(x)", False),
    ("for i, x in zip(range(9), data):\n    probe(i)", True),
    ("for i, x in enumerate(tqdm(range(9))):\n    probe(x)", False),
    ("for name in ['a', 'b', 'c', 'd']:\n    probe(name)", True),
    ("for name in ['a', 'b']:\n    probe(name)", False),
    ("for line in open(path):\n    probe(line.strip())", True),
    ("rates = {'a': 1, 'b': 2, 'c': 3, 'd': 4}\nfor k, v in rates.items():\n    probe(v)", True),
    ("[probe(i) for i in range(9)]", True),
    ("n = 0\nfor x in data:\n    n += 1\n    probe(n)", True),
    ("for x in data:\n    n += 1\n    probe(n)", False),
    ("n = 1.0\nfor x in data:\n    n = n * 0.9\n    probe(n)", True),
    ("rates = [1, 2, 3, 4]\nfor i in range(4):\n    probe(rates[i])", True),
    ("rates = []\nfor x in data:\n    rates.append(1)\n    probe(rates)", True),
    ("def step(i):\n    probe(i)\nfor i in range(9):\n    step(i)", True),
    ("def step(i):\n    probe(i)\nfor i in range(9):\n    step(3)", False),
    ("def rate(i):\n    return 0.1 * i\nfor i in range(9):\n    probe(rate(i))", True),
    ("def rate(i):\n    return 0.1\nfor i in range(9):\n    probe(rate(i))", False),
]


@pytest.mark.parametrize(("program", "expected"), DIFFERENT)
def test_python_values_that_differ(program: str, expected: bool) -> None:
    file = model_of(program)
    assert differs(file, file.calls_by_word["probe"][0].args[0].value) is expected


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("probe(lambda: 3)", None),
        (f"{NINE}probe(lambda: 3)", "lambda: 3"),
        ("for i in range(2):\n    probe(lambda: 3)", None),
        ("f = lambda: 3\nfor i in range(9):\n    probe(f)", None),
        (f"{NINE}f = make(i)\n    probe(f)", "make(i)"),
        (f"{NINE}def f(): pass\n    probe(f)", "def f(): pass"),
        (f"{NINE}f, g = make(i)\n    probe(f)", None),
        ("[probe(make()) for i in range(9)]", "make()"),
    ],
)
def test_objects_that_are_made_anew(program: str, expected: str | None) -> None:
    file = model_of(program)
    made = made_anew(file, file.calls_by_word["probe"][0].args[0].value)
    assert (file.text(made).strip() if made is not None else None) == expected


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (f"{NINE}net = make()\n    f = Loss()\n    net.probe(f)", True),
        (f"{NINE}net = make()\n    for x in data:\n        net.probe(i)", True),
        (f"{NINE}net = make()\n    for x in data:\n        net.probe(i * 2)", True),
        (f"{NINE}net = make()\n    for x in data:\n        net.probe(Loss())", False),
        (f"{NINE}net = make()\n    for x in data:\n        net.probe(x)", False),
        (f"net = make()\n{NINE}net.probe(i)", False),
        (f"{NINE}net.probe(i)", False),
    ],
)
def test_what_changes_with_its_owner(program: str, expected: bool) -> None:
    file = model_of(program)
    call = file.call(file.calls_by_word["probe"][0])
    assert call.receiver_node is not None
    assert changes_with(file, call.node.args[0].value, call.receiver_node) is expected


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (f"{NINE}probe(x[:i])", True),
        (f"{NINE}probe(x[i:])", True),
        (f"{NINE}probe(x[i:i + 3])", False),
        (f"{NINE}probe(x[:3])", False),
        (f"{NINE}probe(x[:i][None])", True),
        (f"{NINE}probe(np.zeros((i, 3)))", True),
        (f"{NINE}probe(np.random.rand(i))", True),
        (f"{NINE}probe(tf.fill([3], i))", False),
        (f"{NINE}y = tf.zeros([i])\n    probe(y)", True),
        (f"{NINE}probe(tf.cast(np.ones(i), tf.int32))", True),
        ("y = np.zeros(0)\nfor i in range(9):\n    y = np.append(y, i)\n    probe(y)", True),
        ("y = []\nfor i in range(9):\n    y.append(i)\n    probe(np.array(y))", True),
        ("y = []\nfor i in range(9):\n    y.append(i)\n    probe(y)", False),
        ("for row in [[1], [1, 2], [1, 2, 3], [1, 2, 3, 4]]:\n    probe(np.array(row))", True),
        ("for row in [[1], [2], [3], [4]]:\n    probe(np.array(row))", False),
        ("for i in range(2):\n    probe(x[:i])", False),
    ],
)
def test_arrays_whose_shape_differs(program: str, expected: bool) -> None:
    file = model_of(program)
    assert resizes(file, file.calls_by_word["probe"][0].args[0].value) is expected
