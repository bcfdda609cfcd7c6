"""What Python's operations make of values: each kind for itself, and alternatives on either side."""

import pytest

from tfmemlint.model.values import (
    BOTTOM,
    AnyShape,
    Api,
    Array,
    Const,
    Dataset,
    Devices,
    Length,
    Mapping,
    Sequence,
    Unknown,
    Value,
    one_of,
    unpacked,
)

ONE, TWO = Const(1), Const(2)
EITHER = one_of([ONE, TWO])
FLOATS, BYTES = Array("np", "float32", (3,)), Array("np", "uint8", (3,))
DATASET = Dataset("tf.data.Dataset.range")


@pytest.mark.parametrize(
    ("left", "name", "right", "expected"),
    [
        (TWO, "Power", Const(3), Const(8)),
        (Length(DATASET, 10), "FloorDivide", Const(4), TWO),
        (EITHER, "Add", ONE, one_of([TWO, Const(3)])),
        (ONE, "Add", EITHER, one_of([TWO, Const(3)])),
        (EITHER, "Multiply", EITHER, one_of([ONE, TWO, Const(4)])),
        (
            Sequence((ONE,)),
            "Add",
            one_of([Sequence((TWO,)), Sequence(())]),
            one_of([Sequence((ONE, TWO)), Sequence((ONE,))]),
        ),
        (Sequence((ONE,), "list"), "Multiply", TWO, Sequence((ONE, ONE), "list")),
        (Mapping((("a", ONE),)), "BitOr", Mapping((("a", TWO),)), Mapping((("a", TWO),))),
        (TWO, "Multiply", FLOATS, FLOATS),  # the number leaves the answer to the array
        (FLOATS, "Add", one_of([TWO, BYTES]), FLOATS),
        (Sequence((ONE,)), "Multiply", BOTTOM, BOTTOM),
        (BOTTOM, "Add", FLOATS, BOTTOM),
        (FLOATS, "Add", BOTTOM, BOTTOM),
    ],
)
def test_binary_operations(left: Value, name: str, right: Value, expected: Value) -> None:
    assert left.binary(name, right) == expected


@pytest.mark.parametrize(
    ("left", "name", "right"), [(ONE, "Divide", Const(0)), (DATASET, "Add", ONE), (EITHER, "Add", Unknown("a name"))]
)
def test_operations_that_give_nothing_known(left: Value, name: str, right: Value) -> None:
    assert not left.binary(name, right).known


@pytest.mark.parametrize(
    ("left", "name", "right", "expected"),
    [
        (FLOATS, "Add", Array("np", "float64", (3,)), FLOATS),  # NumPy writes into it
        (BYTES, "Add", ONE, BYTES),
        (BYTES, "Add", one_of([ONE, Const(0.5)]), one_of([BYTES, Array("np", "float64", (3,))])),
        (Api("os.environ"), "BitOr", Unknown("settings"), Api("os.environ")),
        (EITHER, "Add", ONE, one_of([TWO, Const(3)])),
    ],
)
def test_operations_in_place(left: Value, name: str, right: Value, expected: Value) -> None:
    assert left.in_place(name, right) == expected


@pytest.mark.parametrize(
    ("value", "index", "expected"),
    [
        (Sequence((ONE, TWO)), Const(-1), TWO),
        (Sequence((ONE, TWO)), Unknown("an index"), EITHER),
        (one_of([Sequence((ONE,)), Sequence((TWO,))]), Const(0), EITHER),
        (Mapping((("a", ONE),)), Const("a"), ONE),
        (FLOATS, Const(0), Array("np", "float32", ())),
        (Devices("GPU", "all"), Const(0), Devices("GPU", "one")),
        (AnyShape(), Const(0), Length(Unknown("shape"))),
    ],
)
def test_items(value: Value, index: Value, expected: Value) -> None:
    assert value.item_at(index) == value.subscript([index]) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (
            one_of([Devices("GPU", "all"), Devices("GPU", "some")]),
            one_of([Devices("GPU", "each"), Devices("GPU", "some")]),
        ),
        (Sequence((ONE, TWO)), EITHER),
        (Array("np", "float32", (3, 4)), Array("np", "float32", (4,))),
        (BOTTOM, BOTTOM),
    ],
)
def test_what_a_loop_takes(value: Value, expected: Value) -> None:
    assert value.iterated() == expected


def test_unpacking() -> None:
    pair = Sequence((ONE, Sequence((TWO, ONE))))
    assert unpacked(pair, (1, 0)) == TWO
    assert unpacked(pair, (slice(1, None),)) == Sequence((Sequence((TWO, ONE)),), "list")
