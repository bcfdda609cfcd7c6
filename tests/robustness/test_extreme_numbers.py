"""Numbers that no program means: the samples with their numbers replaced, and programs that would fill the memory if
their constants were worked out."""

from __future__ import annotations

import io
import tokenize

import pytest
from daily import share
from wrapped import NOWHERE, problems, sample_cases

from tfmemlint.config.settings import Config
from tfmemlint.finding import MOST_BYTES, Finding
from tfmemlint.lint.engine import lint
from tfmemlint.lint.registry import load_rules
from tfmemlint.testing import Case

EXTREMES = (
    "0", "-1", "1_0", "0b1", "0o17", "0xFF", "2**63", "9223372036854775807", "18446744073709551616", "0x" + "f" * 6000,
    "1e400", "-1e400", "1e300", "1e-320", "1j", "None", "True", "(2 ** 62)", "float('nan')", "int(1e300)",
    "(1 << 10 ** 9)", "10 ** 10 ** 10", "'9' * 10 ** 12", "[0] * 10 ** 9", "'ab'", "-0.0",
)  # fmt: skip
CASES = list(enumerate(sample_cases()))
DAYS = 4
"""On how many days each sample has been tried with a number of its own."""


def with_numbers(text: str, number: str) -> str:
    """The program with another number in place of each one in it."""
    lines = text.splitlines(keepends=True)
    for token in reversed(list(tokenize.generate_tokens(io.StringIO(text).readline))):
        if token.type == tokenize.NUMBER:
            (row, start), (_, end) = token.start, token.end
            lines[row - 1] = f"{lines[row - 1][:start]}{number}{lines[row - 1][end:]}"
    return "".join(lines)


@pytest.mark.parametrize(("place", "case"), share(CASES, DAYS), ids=[str(case) for _, case in share(CASES, DAYS)])
def test_samples_with_other_numbers(place: int, case: Case) -> None:
    number = EXTREMES[place % len(EXTREMES)]
    assert problems(with_numbers(case.text("bad.py"), number), case.config) == [], number


def findings(code: str) -> tuple[Finding, ...]:
    text = f"import numpy as np\nimport tensorflow as tf\n{code}"
    result = lint(text.encode(), NOWHERE, Config(), load_rules())
    assert not any(each.code == "TFM000" for each in result.findings), result.findings
    return result.findings


GROWING = {
    "text": "x = 'ab'\n" + "x = x + x\n" * 60,
    "formatted text": "x = 'ab'\n" + "x = f'{x}{x}'\n" * 60,
    "list": "x = [1]\n" + "x = x + x\n" * 40,
    "number": "x = 10\n" + "x = x * x\n" * 40,
    "shape": f"x = tf.zeros([{', '.join(['1 << 60'] * 300)}])",
    "layers": "x = tf.keras.Input((1 << 60, 1 << 60))\n"
    + "x = tf.keras.layers.Flatten()(tf.keras.layers.Reshape((1 << 60, -1))(tf.keras.layers.Dense(1 << 60)(x)))\n" * 20,
}


@pytest.mark.parametrize("code", GROWING.values(), ids=GROWING)
def test_constants_do_not_grow_without_end(code: str) -> None:
    findings(code + "\ny = tf.constant(x)\nz = tf.zeros(x)\n")


@pytest.mark.parametrize("count", ["2**63", "10**30", "0x" + "f" * 6000, "-1, 2**64, 3"])
def test_ranges_longer_than_a_machine_word(count: str) -> None:
    findings(f"@tf.function\ndef f(x):\n    for i in range({count}):\n        x = x + 1\n    return x\n")


@pytest.mark.parametrize("size", ["9" * 5000, "0x" + "f" * 6000])
def test_numbers_of_many_digits(size: str) -> None:
    """Python itself refuses to read or to write more than a few thousand decimal digits."""
    findings(f"x = tf.zeros([{size}])\ny = tf.linspace(0, {size}, 50_000_000)\nz = np.ones(({size}, 2))\n")


def test_costs_stay_within_what_json_holds() -> None:
    code = "ds = tf.data.Dataset.range(1 << 62).map(lambda i: tf.zeros([1 << 40])).batch(1 << 20).prefetch(1 << 40)\n"
    code += "for batch in ds:\n    print(batch)\n"
    found = [each.bytes for each in findings(code) if each.bytes is not None]
    assert max(found) == MOST_BYTES
