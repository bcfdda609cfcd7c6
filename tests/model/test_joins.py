"""What is known where more alternatives meet than are told apart: what all of them share."""

from __future__ import annotations

import pytest
from programs import model_of, shown_in, value_in

from tfmemlint.model.values import MOST_OPTIONS, Array, Dataset, Instance, Unknown, Value


def meeting(*expressions: str) -> Value:
    """What a name is that each of many branches gives another value."""
    branches = [f"{'el' if i else ''}if a{i}:\n    v = {expression}\n" for i, expression in enumerate(expressions)]
    return value_in(model_of("".join(branches) + "v"))


SIZES = range(1, MOST_OPTIONS + 2)


@pytest.mark.parametrize("turn", [1, -1])
def test_arrays_share_dtype_rank_and_equal_sizes(turn: int) -> None:
    made = [f"tf.zeros(({n}, 3))" for n in SIZES][::turn]
    value = meeting(*made)
    assert isinstance(value, Array)
    assert (value.library, value.dtype, value.shape, value.origin) == ("tf", "float32", (None, 3), None)


def test_arrays_of_several_ranks_and_dtypes_are_arrays_of_unknown_shape() -> None:
    value = meeting(*(f"np.zeros({(2,) * n}, np.{'float32' if n % 2 else 'int8'})" for n in SIZES))
    assert isinstance(value, Array)
    assert (value.library, value.dtype, value.shape) == ("np", None, None)


def test_where_casts_differ_the_call_that_made_the_data_does_not_decide_its_dtype() -> None:
    casts = [f"x.astype('float32').reshape(-1, {n})" if n % 2 else f"x.reshape(-1, {n})" for n in SIZES]
    value = value_in(model_of("x = np.zeros((720,))\n" + "".join(
        f"{'el' if i else ''}if a{i}:\n    v = {cast}\n" for i, cast in enumerate(casts)) + "v"))  # fmt: skip
    assert isinstance(value, Array)
    assert (value.dtype, value.dtype_call) == (None, None)


def test_pipelines_share_their_last_steps() -> None:
    value = meeting(*(f"tf.data.Dataset.range(9).take({n}).batch({n}).prefetch({n})" for n in SIZES))
    assert isinstance(value, Dataset)
    assert (value.source, value.steps) == (None, ())  # steps are told apart by their calls
    made = "".join(f"    if a{n}:\n        ds = ds.take({n})\n" for n in SIZES)
    build = f"def build(n):\n    ds = tf.data.Dataset.range(n)\n{made}    return ds.batch(4).prefetch(2)\n"
    value = value_in(model_of(f"{build}build(7)"))
    assert isinstance(value, Dataset)
    assert (value.source, value.names()) == (None, ("batch", "prefetch"))


def test_objects_share_their_class() -> None:
    assert meeting(*(f"tf.keras.optimizers.Adam({n})" for n in SIZES)) == Instance("tf.keras.optimizers.Adam")


@pytest.mark.parametrize("last", ["None", "5", "'text'", "unknown", "tf.keras.Model()"])
def test_values_of_several_kinds_share_nothing(last: str) -> None:
    value = meeting(*(f"tf.zeros(({n}, 3))" for n in SIZES), last)
    assert isinstance(value, Unknown) or last == "None"


def test_as_many_as_are_told_apart_stay_apart() -> None:
    assert len(meeting(*(f"tf.zeros(({n}, 3))" for n in SIZES[:-1])).options) == MOST_OPTIONS


def test_an_optional_step_after_many_is_one_more_alternative() -> None:
    made = "".join(f"if a{n}:\n    ds = ds.take({n})\n" for n in SIZES)
    assert "batch" in shown_in("ds = tf.data.Dataset.range(9)\n" + made + "ds = ds.batch(2)\nds")
