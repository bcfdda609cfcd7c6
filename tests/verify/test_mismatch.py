"""Shapes that were made up and do not fit: what errors say of them."""

from __future__ import annotations

import pytest

from tfmemlint.verify.plan.asked_columns import with_columns
from tfmemlint.verify.plan.mismatch import corrected
from tfmemlint.verify.plan.widths import told
from tfmemlint.verify.result import Pair
from tfmemlint.verify.run.measure import Program
from tfmemlint.verify.run.runs import Failure, Run

SOURCE = 'train(x=tfmemlint_array("float32", (512, 1021)), y=tfmemlint_array("int64", (512,)))'
NOTES = ("labels.npy is not there: float32[1024,1031] was made up",)


def shapes(message: str, known: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = ()) -> object:
    """What is corrected after a run that failed so; None where nothing is."""
    pair = Pair(Program(SOURCE, shapes=known), Program(SOURCE, shapes=known))
    found = corrected(pair, Run("error", error=Failure("ValueError", message=message), notes=NOTES))
    if found is None:
        return None
    assert found.after is not None and found.after.shapes == found.before.shapes
    return found.before.shapes


@pytest.mark.parametrize(
    ("message", "found", "wanted"),
    [
        (
            "expected axis -1 of input shape to have value 784, but received input with shape (None, 1021)",
            (1021,),
            (784,),
        ),
        ("expected shape=(None, 28, 28, 1), found shape=(32, 1021)", (1021,), (28, 28, 1)),
        ("expected shape=(None, None, 8), found shape=(None, 1031)", (1031,), (16, 8)),
        ("expected min_ndim=4, found ndim=2. Full shape received: (None, 1021)", (1021,), (64, 64, 3)),
        ("Cannot feed value of shape (32, 1021) for Tensor x:0, which has shape (?, 784)", (1021,), (784,)),
        ("Shapes (None, 1031) and (None, 10) are incompatible", (1031,), (10,)),
        ("Expected shape (None, 8, 8), but input has incompatible shape (32, 1021)", (1021,), (8, 8)),
        ("could not broadcast input array from shape (1031,) into shape (3,)", (1031,), (3,)),
        ("Matrix size-incompatible: In[0]: [32,1021], In[1]: [784,10]", (1021,), (784,)),
        ("Dimensions must be equal, but are 1021 and 784 for MatMul", (1021,), (784,)),
        ("too many indices for array: array is 2-dimensional, but 4 were indexed", (1021,), (64, 64, 3)),
        ("cannot reshape array of size 1055744 into shape (6,125)", (1031,), (750,)),
        ("Input to reshape is a tensor with 1045504 values, but the requested shape has 51200", (1021,), (50,)),
        (
            "Input to reshape is a tensor with 2091008 values, but the requested shape requires a multiple of 2000",
            (1021,),
            (500,),
        ),
        ("yielded an element of shape (1021, 3) where an element of shape (8, 3) was expected", (1021,), (8,)),
    ],
)
def test_an_error_tells_what_fits_in_the_place_of_an_array(
    message: str, found: tuple[int, ...], wanted: tuple[int, ...]
) -> None:
    assert shapes(message) == ((found, wanted),)


@pytest.mark.parametrize(
    "message",
    [
        "expected shape=(None, 28, 28, 1), found shape=(32, 784)",
        "Shapes (None, 8) and (None, 10) are incompatible",
        "cannot reshape array of size 100 into shape (6,125)",
        "Input to reshape is a tensor with 100 values, but the requested shape has 64",
        "It failed.\n\nArguments received by Dense.call():\n  inputs=tf.Tensor(shape=(32, 1021)) (None, 8)",
        "",
    ],
)
def test_an_error_about_other_arrays_changes_nothing(message: str) -> None:
    assert shapes(message) is None


def rows(message: str, *notes: str) -> object:
    """What numbers of rows are corrected after a run that failed so."""
    pair = Pair(Program(SOURCE), None)
    found = corrected(pair, Run("error", error=Failure("ValueError", message=message), notes=(*NOTES, *notes)))
    return None if found is None else found.before.rows


@pytest.mark.parametrize(
    ("message", "found"),
    [
        ("Data cardinality is ambiguous:\n  x sizes: 1024\n  y sizes: 128\nMake sure", ((1024, 128),)),
        ("Found input variables with inconsistent numbers of samples: [100, 512]", ((512, 100),)),
        ("Dimensions 1024 and 60 are not compatible", ((1024, 60),)),
        ("Dimensions 1024 and 512 are not compatible", None),
        ("Dimensions 7 and 8 are not compatible", None),
        ("condition [512,4,9], then [512,4,9], and else [1024,4,9] must be broadcastable", ((1024, 512),)),
        ("Incompatible shapes: [512,4] vs. [1024,4] [Op:Add]", ((1024, 512),)),
        ("Incompatible shapes: [512,4] vs. [1,4] [Op:Add]", None),
        ("Incompatible shapes: [512,4] vs. [7,4] [Op:Add]", None),
    ],
)
def test_an_error_tells_how_many_rows_fit(message: str, found: object) -> None:
    assert rows(message) == found


@pytest.mark.parametrize(
    ("message", "columns"),
    [
        ("cannot reshape array of size 9000 into shape (1000,28,28,1)", 785),
        ("cannot reshape array of size 9000 into shape (28,28,1)", 785),
        ("cannot reshape array of size 9 into shape (28,28)", 785),
        ("Input to reshape is a tensor with 9000 values, but the requested shape has 784000", 785),
        ("a tensor with 900 values, but the requested shape requires a multiple of 784", 785),
        ("expected axis -1 of input shape to have value 784, but received input with shape (None, 9)", 785),
        ("expected shape=(None, 784), found shape=(32, 9)", 785),
        ("expected shape=(None, 784), found shape=(32, 5)", None),
        ("cannot reshape array of size 9000 into shape (1000,9)", None),
    ],
)
def test_a_table_gets_as_many_columns_as_a_row_is_to_have_numbers(message: str, columns: int | None) -> None:
    notes = ("a.csv is not there: a table of 1000 rows was made up, with 10 columns: label",)
    assert list(told(message, notes))[:1] == ([((10,), (columns,))] if columns else [])


def test_a_table_gets_as_many_rows_as_can_be_reshaped() -> None:
    message, table = "cannot reshape array of size 10000 into shape (6,125)", "a.csv: a table of 1000 rows was made up"
    assert rows(message, table) == ((1000, 1050),)


def test_a_row_that_is_reshaped_has_parts_of_that_shape() -> None:
    assert shapes("cannot reshape array of size 1031 into shape (3)") == (((1031,), (344, 3)),)


def test_what_was_corrected_is_corrected_again_where_an_error_asks_for_it() -> None:
    known = (((1031,), (344, 3)),)
    message = "expected input_1 to have shape (1024, 3) but got array with shape (344, 3)"
    pair = Pair(Program("", shapes=known), None)
    notes = ("points.npy is not there: float32[512,344,3] was made up",)
    found = corrected(pair, Run("error", error=Failure("ValueError", message=message), notes=notes))
    assert found is not None and found.before.shapes == (*known, ((344, 3), (1024, 3)))


def test_each_array_is_corrected_once() -> None:
    known = (((1021,), (784,)),)
    message = "expected shape=(None, 28, 28), found shape=(32, 1031)"
    assert shapes(message, known) == (*known, ((1031,), (28, 28)))
    assert shapes("expected shape=(None, 28, 28), found shape=(32, 784)", known) is None


@pytest.mark.parametrize(
    ("line", "names", "wanted"),
    [
        ("n, height, width, depth = images.shape", ("images", "other"), (64, 64, 3)),
        ("(n, height, width, depth) = self.data.images.shape", ("images", "other"), (64, 64, 3)),
        ("n, height, width, depth = rows.shape", ("images", "other"), None),
        ("n, height, width, depth = rows.shape", ("images",), (64, 64, 3)),
        ("n, height, width, depth = sizes", ("images",), None),
    ],
)
def test_names_for_the_axes_of_an_array_tell_how_many_it_has(line: str, names: tuple[str, ...], wanted: object) -> None:
    message = "not enough values to unpack (expected 4, got 2)"
    notes = [f"{name!r} of a.h5 is not there: float32[1024,{1021 + at}] was made up" for at, name in enumerate(names)]
    trace = f'File "program.py", line 3, in <module>\n    {line}\nValueError: {message}'
    run = Run("error", error=Failure("ValueError", message=message, traceback=trace), notes=tuple(notes))
    found = corrected(Pair(Program(""), None), run)
    assert (None if found is None else found.before.shapes) == (wanted and (((1021,), wanted),))


def test_a_loop_over_the_rows_of_another_array_tells_how_many_there_are() -> None:
    source = 'f(boxes=tfmemlint_tensor("float32", (31, 37, 4)), scores=tfmemlint_tensor("float32", (19, 37)))'
    for index, wanted in ((19, ((19, 31),)), (31, None), (7, None)):
        error = Failure("InvalidArgumentError", message=f"slice index {index} of dimension 0 out of bounds. [Op:Slice]")
        found = corrected(Pair(Program(source), None), Run("error", error=error))
        assert (None if found is None else found.before.rows) == wanted


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ("index 9999 is out of bounds for axis 0 with size 1024", ((1024, 20_000),)),
        ("index 59999 is out of bounds for axis 0 with size 1024", ((1024, 60_000),)),
        ("index 9999 is out of bounds for axis 0 with size 7", None),
        ("index 9999 is out of bounds for axis 1 with size 1024", None),
    ],
)
def test_an_index_tells_how_many_rows_there_have_to_be(message: str, wanted: object) -> None:
    run = Run("error", error=Failure("IndexError", message=message), notes=NOTES)
    found = corrected(Pair(Program(SOURCE), None), run)
    assert (None if found is None else found.before.rows) == wanted


def test_what_rows_are_chosen_by_has_one_axis() -> None:
    message = "too many indices for array: array is 1-dimensional, but 2 were indexed"
    run = Run("error", error=Failure("IndexError", message=message), notes=NOTES)
    found = corrected(Pair(Program("rows[labels == 3]"), None), run)
    assert found is not None and found.before.shapes == (((1031,), ()),)


@pytest.mark.parametrize(
    ("message", "columns"),
    [
        ("'float' object is not subscriptable", ("*",)),
        ("'numpy.float64' object has no attribute 'encode'", ("*",)),
        ("expected string or bytes-like object, got 'float'", ("*",)),
        ("'float' object has no attribute 'shape'", None),
    ],
)
def test_columns_are_of_texts_where_an_error_says_so_of_their_numbers(
    message: str, columns: tuple[str, ...] | None
) -> None:
    notes = ("texts.csv is not there: a table of 1000 rows was made up, with 10 columns: word",)
    run = Run("error", error=Failure("TypeError", message=message), notes=notes)
    found = with_columns(Pair(Program(SOURCE), None), run)
    assert (found and found.before.columns) == columns
    assert found is None or with_columns(found, run) is None
