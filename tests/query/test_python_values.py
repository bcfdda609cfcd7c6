"""Which expressions are Python numbers or strings: the argument of `probe(...)`."""

import pytest
from programs import model_of

from tfmemlint.query.tracing.python_values import draws_anything, draws_number, is_python

EXPRESSIONS = [
    ("probe(3)", True),
    ("probe('a')", True),
    ("probe(True)", False),
    ("probe(None)", False),
    ("probe(f'{x}')", True),
    ("probe('%s' % x)", True),
    ("probe(len(x))", True),
    ("probe(math.sqrt(x))", True),
    ("probe(unknown(x))", False),
    ("probe(tf.constant(3))", False),
    ("probe(np.zeros(3))", False),
    ("probe(random.random())", True),
    ("probe(np.random.rand())", True),
    ("probe(np.random.rand(3))", False),
    ("probe(np.random.uniform(0, 1))", True),
    ("probe(np.random.uniform(0, 1, 5))", False),
    ("rng = np.random.default_rng()\nprobe(rng.normal())", True),
    ("rng = np.random.default_rng()\nprobe(rng.normal(size=3))", False),
    ("probe(len(x) * 2)", True),
    ("probe(-len(x))", True),
    ("probe(len(x) * y)", False),
    ("n = len(x)\nprobe(n)", True),
    ("def f(n):\n    for i in range(n):\n        pass\n    probe(n)", True),
    ("def f(n):\n    step = 0\n    while step < n:\n        step += 1\n    probe(n)", True),
    ("def f(n):\n    probe(n)", False),
    ("args = parser.parse_args()\nprobe(args.epochs)", True),
    ("args = other()\nprobe(args.epochs)", False),
]


@pytest.mark.parametrize(("program", "expected"), EXPRESSIONS)
def test_python_values(program: str, expected: bool) -> None:
    file = model_of(f"import random\n{program}")
    assert is_python(file, file.calls_by_word["probe"][0].args[0].value) is expected


@pytest.mark.parametrize(
    ("program", "word", "number", "anything"),
    [
        ("np.random.rand()", "rand", True, True),
        ("np.random.rand(3)", "rand", False, True),
        ("time.time()", "time", True, False),
        ("now = datetime.datetime.now()\nnow.isoformat()", "isoformat", True, False),
        ("day.isoformat()", "isoformat", False, False),
        ("rng = np.random.default_rng()\nrng.integers(3)", "integers", False, True),
        ("np.zeros(3)", "zeros", False, False),
    ],
)
def test_draws(program: str, word: str, number: bool, anything: bool) -> None:
    file = model_of(f"import datetime, time\n{program}")
    call = file.call(file.calls_by_word[word][-1])
    assert (draws_number(file, call), draws_anything(file, call)) == (number, anything)
