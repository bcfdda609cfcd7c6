"""What lives together: laws of the walk over ops, and of the steps that are made of them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made_steps import Network, chain, perceptron

from tfmemlint.estimate.engine import estimate
from tfmemlint.estimate.live import walk
from tfmemlint.estimate.program import Buffer, Program, breadth_first
from tfmemlint.estimate.separable import exchangeable


def test_an_op_takes_over_memory_that_nobody_else_reads() -> None:
    program = Program()
    a = program.op("a", [], 100)
    b = program.op("b", [a], 100, in_place=[a])
    program.sink("end", [b])
    assert walk(program.ops).curve == [100, 100, 100]


def test_an_op_takes_new_memory_where_another_one_still_reads() -> None:
    program = Program()
    a = program.op("a", [], 100)
    b = program.op("b", [a], 100, in_place=[a])
    program.sink("end", [a, b])
    assert walk(program.ops).curve == [100, 200, 200]


def test_an_op_takes_new_memory_where_sizes_differ() -> None:
    program = Program()
    a = program.op("a", [], 100)
    program.sink("end", [program.op("b", [a], 50, in_place=[a])])
    assert walk(program.ops).curve == [100, 150, 50]


def test_without_a_graph_no_op_takes_over_memory() -> None:
    program = Program(reuses=False)
    a = program.op("a", [], 100)
    program.sink("end", [program.op("b", [a], 100, in_place=[a])])
    assert walk(program.ops).peak == 200


def test_an_alias_keeps_the_memory_that_it_shows() -> None:
    program = Program()
    a = program.op("a", [], 100)
    flat = program.alias("flat", a)
    program.sink("other", [])
    program.sink("end", [flat])
    assert walk(program.ops).curve == [100] * 4


def test_what_nobody_reads_is_freed_at_once() -> None:
    program = Program()
    program.op("a", [], 100)
    program.op("b", [], 10)
    assert walk(program.ops).curve == [100, 10]


def test_what_is_kept_outlives_the_step() -> None:
    program = Program()
    a = program.op("a", [], 100)
    program.op("b", [], 10)
    assert walk(program.ops, kept=[a]).curve == [100, 110]


def test_what_is_outside_is_neither_counted_nor_overwritten() -> None:
    program = Program()
    batch = Buffer(100, None, "input")
    program.op("a", [batch], 100, in_place=[batch])
    assert walk(program.ops, [batch]).curve == [100]


def test_workspace_is_taken_while_an_op_runs() -> None:
    program = Program()
    a = program.op("a", [], 100, workspace=50)
    program.sink("end", [a])
    assert walk(program.ops).curve == [150, 100]


def test_breadth_first_runs_what_waits_for_nothing_at_once() -> None:
    program = Program()
    a = program.op("a", [], 1)
    b = program.op("b", [a], 1)
    early = program.op("early", [], 1, early=True)
    program.sink("end", [b, early])
    assert [op.name for op in breadth_first(program.ops)] == ["a", "early", "b", "end"]


def test_an_op_that_reads_nothing_waits_for_the_one_before_it() -> None:
    program = Program()
    first = program.op("first", [], 1)
    program.sink("middle", [first])
    program.sink("after", [])
    assert [op.name for op in breadth_first(program.ops)] == ["first", "middle", "after"]


def network() -> Network:
    """Convolutions with a branch around two of them, dropout and pooling."""
    made = Network()
    x = made.given(16, 16, 3)
    x = made.add("Conv2D", x, (16, 16, 8), filters=8, kernel_size=3, padding="same", activation="relu")
    y = made.add("Conv2D", x, (16, 16, 8), filters=8, kernel_size=3, padding="same")
    y = made.add("BatchNormalization", y, (16, 16, 8))
    y = made.add("Activation", y, (16, 16, 8), activation="gelu")
    x = made.add("Add", [x, y], (16, 16, 8))
    x = made.add("MaxPooling2D", x, (8, 8, 8))
    x = made.add("Dropout", x, (8, 8, 8), rate=0.5)
    x = made.add("Flatten", x, (512,))
    made.add("Dense", x, (10,), units=10)
    return made


def test_the_peak_is_the_highest_moment_and_made_of_what_is_held_then() -> None:
    found = estimate(network().step("Adam"))
    assert found.step == max(moment.bytes for moment in found.curve)
    assert found.step == sum(held.bytes for held in found.held)
    assert all(held.bytes > 0 for held in found.held)
    assert [held.bytes for held in found.held] == sorted((held.bytes for held in found.held), reverse=True)


def test_all_is_freed_at_the_end() -> None:
    found = estimate(network().step("Adam"))
    # The last op sums the gradient of the first layer's output for its bias.
    assert found.curve[-1].bytes == 8 * 16 * 16 * 8 * 4
    assert next(moment.part for moment in found.curve) == "forward"


@pytest.mark.parametrize("optimizer", ["SGD", "Adam", "RMSprop"])
def test_bytes_grow_with_the_batch(optimizer: str) -> None:
    step = network().step(optimizer)
    found = [estimate(step, batch=batch) for batch in range(1, 40)]
    lows = [each.low for each in found]
    assert lows == sorted(lows)
    assert all(each.low <= each.guess <= each.high for each in found)
    assert {each.weights for each in found} == {found[0].weights}


def test_without_a_batch_one_example_is_meant() -> None:
    step = network().step(batch=None)
    assert estimate(step).batch == 1
    assert estimate(step) == estimate(step, batch=1)
    assert estimate(step, batch=4).data == 4 * estimate(step).data == 4 * 16 * 16 * 3 * 4


def test_what_lies_below_the_first_trained_layer_keeps_nothing() -> None:
    layers = [("Dense", (64,), {"units": 64, "activation": "relu"})] * 3 + [("Dense", (2,), {"units": 2})]
    frozen = [(kind, shape, {**more, "trainable": False}) for kind, shape, more in layers[:3]] + layers[3:]
    found = estimate(chain((32,), *frozen, batch=8))
    # The last layer's input alone, which is the output of the third one.
    assert [layer.kept for layer in found.layers] == [0, 0, 8 * 64 * 4, 0]
    assert [layer.gradients for layer in found.layers] == [0, 0, 0, (64 * 2 + 2) * 4]
    assert found.step < estimate(chain((32,), *layers, batch=8)).step


def test_inference_keeps_nothing() -> None:
    made = network()
    found = estimate(made.step(backward=False, losses=(), optimizer=None))
    assert not found.bounded
    assert found.slots == 0
    assert {layer.kept for layer in found.layers} == {0}
    assert {moment.part for moment in found.curve} == {"forward"}
    assert found.step < estimate(made.step()).step


def test_blocks_that_are_computed_again_keep_their_inputs_alone() -> None:
    layers = [("Dense", (256,), {"units": 256, "activation": "gelu"})] * 8
    plain = estimate(chain((256,), *layers, batch=4096))
    blocks = [(kind, shape, {**more, "remat": index // 2}) for index, (kind, shape, more) in enumerate(layers)]
    again = estimate(chain((256,), *blocks, batch=4096))
    assert again.weights == plain.weights
    assert again.step < 0.6 * plain.step
    assert sum(layer.kept for layer in again.layers) == 3 * 4096 * 256 * 4


def test_gradients_at_a_fork_are_added_in_place() -> None:
    """Both branches of a sum share its gradient: the fork needs one tensor more, not two."""
    width = 1024
    made = Network()
    x = made.add("Dense", made.given(8), (width,), units=width, use_bias=False)
    made.add("Add", [x, x], (width,))
    twice = estimate(made.step(batch=1024))
    single = estimate(chain((8,), ("Dense", (width,), {"units": width, "use_bias": False}), batch=1024))
    assert twice.step <= single.step + 1024 * width * 4


def test_a_batch_of_words_is_as_wide_as_its_dtype() -> None:
    made = Network()
    rows = made.add("Embedding", made.given(10, dtype="int64"), (10, 4), input_dim=100, output_dim=4)
    made.add("Flatten", rows, (40,))
    assert estimate(made.step(batch=2)).data == 2 * 10 * 8


def test_lengths_that_are_not_known_make_a_lower_bound() -> None:
    step = chain((None, 4), ("Conv1D", (None, 8), {"filters": 8, "kernel_size": 3}), batch=2)
    found = estimate(step)
    assert [(each.what, each.option) for each in found.missing] == [("the shape at Conv1D 'Conv1D_0'", "--input")]
    assert found.bounded
    assert found.low > found.weights > 0


def test_perceptrons_grow_with_their_width() -> None:
    assert estimate(perceptron(8, 8)).low < estimate(perceptron(16, 8)).low < estimate(perceptron(16, 16)).low


def test_passes_that_may_run_at_once_make_the_upper_bound_higher() -> None:
    one = perceptron(64, 64, given=64, batch=256)
    both = replace(one, passes=(*one.passes, *one.passes))
    alone, together = estimate(one), estimate(both)
    assert together.step == alone.step
    assert together.high > alone.high


def test_only_convolutions_of_several_pixels_over_many_channels_are_exchanged() -> None:
    network = Network()
    x = network.given(8, 8, 32)
    x = network.add("Conv2D", x, (8, 8, 32), filters=32, kernel_size=1, padding="same")
    x = network.add("Conv2D", x, (8, 8, 32), filters=32, kernel_size=(1, 3), padding="same")
    x = network.add("Conv2D", x, (8, 8, 32), filters=32, kernel_size=3, padding="same", groups=4)
    network.add("Conv2D", x, (8, 8, 32), filters=32, kernel_size=3, padding="same")
    assert exchangeable(network.step()) == {1, 3}
