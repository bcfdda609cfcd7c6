"""Which dtype policy is set where."""

import pytest
from programs import model_of

from tfmemlint.query.keras.policies import dtype_policy, policy_set_after, policy_set_before

SET = "keras.mixed_precision.set_global_policy"
NAMES = [
    (f"{SET}('mixed_float16')", "mixed_float16"),
    (f"{SET}(policy='float64')", "float64"),
    (f"{SET}(keras.mixed_precision.Policy('mixed_bfloat16'))", "mixed_bfloat16"),
    (f"{SET}(unknown)", None),
    ("keras.backend.set_floatx('float16')", "float16"),
]


@pytest.mark.parametrize(("program", "expected"), NAMES)
def test_the_name_of_a_policy(program: str, expected: str | None) -> None:
    file = model_of(program)
    word = "set_floatx" if "floatx" in program else "set_global_policy"
    assert dtype_policy(file.call(file.calls_by_word[word][0])) == expected


BEFORE = [
    (f"{SET}('mixed_float16')\nprobe()", True),
    (f"probe()\n{SET}('mixed_float16')", False),
    (f"if c:\n    {SET}('mixed_float16')\nprobe()", False),
    (f"{SET}('float32')\nprobe()", False),
    (f"def f():\n    {SET}('mixed_float16')\nf()\nprobe()", True),
    ("keras.backend.set_floatx('mixed_float16')\nprobe()", False),
]


@pytest.mark.parametrize(("program", "expected"), BEFORE)
def test_a_policy_that_is_certainly_set_before(program: str, expected: bool) -> None:
    file = model_of(program)
    found = policy_set_before(file, file.calls_by_word["probe"][0], "mixed_float16")
    assert (found is not None) is expected


AFTER = [
    (f"probe()\n{SET}('float32')", True),
    (f"{SET}('float32')\nprobe()", False),
    (f"for x in y:\n    {SET}('float32')\n    probe()\n{SET}('float32')", False),
    (f"def f():\n    {SET}('float32')\nprobe()\nf()", True),
    (f"def f():\n    probe()\n{SET}('float32')", False),
]


@pytest.mark.parametrize(("program", "expected"), AFTER)
def test_a_policy_that_is_set_after(program: str, expected: bool) -> None:
    file = model_of(program)
    assert policy_set_after(file, file.calls_by_word["probe"][0]) is expected
