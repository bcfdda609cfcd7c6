"""Arguments that a call certainly leaves to their default."""

import pytest
from programs import model_of

START = "ds = tf.data.Dataset.range(9)\nn = None\noptions = {'num_parallel_calls': 2}\n"


@pytest.mark.parametrize(
    ("call", "parameter", "expected"),
    [
        ("ds.map(f)", "num_parallel_calls", True),
        ("ds.map(f, num_parallel_calls=None)", "num_parallel_calls", True),
        ("ds.map(f, None)", "num_parallel_calls", True),
        ("ds.map(f, num_parallel_calls=2)", "num_parallel_calls", False),
        ("ds.map(f, num_parallel_calls=n)", "num_parallel_calls", False),
        ("ds.map(f, **options)", "num_parallel_calls", False),
        ("np.concatenate(ds, axis=None)", "axis", False),
        ("np.sum(ds, axis=None)", "axis", True),
        ("unknown(size=None)", "size", False),
        ("unknown()", "size", True),
    ],
)
def test_none_is_left_out_where_it_is_the_default(call: str, parameter: str, expected: bool) -> None:
    file = model_of(f"{START}probe({call})")
    argument = file.calls_by_word["probe"][0].args[0].value
    assert file.call(argument).lacks(parameter) is expected  # type: ignore[arg-type]
