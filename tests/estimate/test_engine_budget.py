"""Cards, what fits them, and what would save."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest
from made_steps import Network, chain, perceptron

from tfmemlint.estimate.advise import accumulating, in_blocks, what_if
from tfmemlint.estimate.budget import CARDS, GIB, MIB, card, largest_batch, usable, verdict
from tfmemlint.estimate.engine import Lows, estimate, lowest, per_example
from tfmemlint.estimate.step import Missing, Optimizer, TrainingStep


def convolutions(optimizer: str = "Adam", batch: int | None = 32) -> TrainingStep:
    def layer(filters: int) -> tuple[str, tuple[int, ...], dict[str, object]]:
        arguments = {"filters": filters, "kernel_size": 3, "padding": "same", "activation": "relu"}
        return "Conv2D", (32, 32, filters), arguments

    last = ("GlobalAveragePooling2D", (32,), {})
    return chain((32, 32, 3), *map(layer, (16, 16, 32, 32, 32, 32)), last, optimizer=optimizer, batch=batch)


@pytest.mark.parametrize("name", ["t4", "T4", "nvidia t4", "RTX 3060", "rtx3060", "a100-80", "H100", "h200"])
def test_cards_are_found_by_name(name: str) -> None:
    assert card(name) is not None


def test_other_cards_are_not_known() -> None:
    assert card("T5") is None


def test_memory_of_cards() -> None:
    """As their makers state it."""
    sizes = {"T4": 16, "V100": 16, "A100": 40, "A100-80": 80, "L4": 24, "A10": 24, "H100": 80, "H200": 141}
    sizes |= {"RTX3060": 12, "RTX3090": 24, "RTX4090": 24}
    assert {name: CARDS[name].bytes // GIB for name in sizes} == sizes


@pytest.mark.parametrize(
    ("gib", "capability", "reserve"),
    [(16, 6, 500), (16, 7, 1050), (24, 8, 1536), (80, 9, 1800), (192, 10, 1800), (12, 3, 500), (2, 8, 225)],
)
def test_what_is_kept_back(gib: int, capability: int, reserve: int) -> None:
    context = 1141 if capability >= 9 else 460
    assert usable(gib * GIB, capability) == gib * GIB - (context + reserve) * MIB


def test_what_is_kept_back_of_an_unknown_card() -> None:
    assert usable(16 * GIB) == 16 * GIB - 1996 * MIB
    assert usable(4 * GIB) == 3 * GIB
    assert usable(GIB // 2) == 0


@pytest.mark.parametrize("optimizer", ["SGD", "Adam", "AdamW"])
@pytest.mark.parametrize("limit", [2 * MIB, 3 * MIB, 17 * MIB, 100 * MIB, GIB])
def test_the_largest_batch_fits_and_one_more_does_not(optimizer: str, limit: int) -> None:
    step = convolutions(optimizer)
    found = largest_batch(step, limit)
    assert found is not None
    assert found > 0
    assert lowest(step, found) <= limit < lowest(step, found + 1)


def test_few_batches_are_worked_out() -> None:
    step = convolutions()
    lows = Lows(step, estimate(step))
    assert largest_batch(step, GIB, lows) == largest_batch(step, GIB)
    assert len(lows.known) <= 6


def test_no_batch_fits_what_the_weights_exceed() -> None:
    assert largest_batch(perceptron(4096, given=4096), 64 * MIB) == 0


def test_a_step_that_does_not_grow_has_no_largest_batch() -> None:
    made = Network()
    made.add("Dense", made.given(16), (16,), units=16)
    made.tensors = {number: replace(tensor, shape=(4, 16)) for number, tensor in made.tensors.items()}
    assert largest_batch(made.step(), MIB) is None


class Drawn(Lows):
    """A step whose bytes at a batch are those of a function."""

    def __init__(self, of: Callable[[int], int], *batches: int) -> None:
        super().__init__(convolutions())
        self.of = of
        self.known = {batch: of(batch) for batch in batches}

    def at(self, batch: int) -> int:
        return self.known.setdefault(batch, self.of(batch))


GROWTHS: dict[str, Callable[[int], int]] = {
    "straight": lambda batch: 1000 + 90 * batch,
    "steeper": lambda batch: 1000 + max(10 * batch, 90 * batch - 20_000, 300 * batch - 300_000),
    "flatter": lambda batch: 1000 + min(900 * batch, 90 * batch + 20_000),
    "in steps": lambda batch: 1000 + 5_000 * (batch // 64),
    "flat, then not": lambda batch: max(1000, 3 * batch),
    "by the square": lambda batch: 1000 + batch * batch,
    "by the root": lambda batch: 1000 + 40 * math.isqrt(100 * batch),
}


@pytest.mark.parametrize("known", [(), (1,), (32,), (32, 64, 16), (4096,)], ids=str)
@pytest.mark.parametrize("limit", [999, 1500, 30_000, 77_777, 1 << 20])
@pytest.mark.parametrize("growth", GROWTHS)
def test_the_search_finds_the_last_batch_that_fits(growth: str, limit: int, known: tuple[int, ...]) -> None:
    of = GROWTHS[growth]
    lows = Drawn(of, *known)
    found = largest_batch(lows.step, limit, lows)
    assert found is not None
    assert found == 0 or of(found) <= limit
    assert of(found + 1) > limit
    assert len(lows.known) <= len(known) + (4 if growth == "straight" else 40)


def test_the_lower_bound_is_that_of_the_estimate() -> None:
    step = convolutions()
    assert [lowest(step, batch) for batch in (1, 7, 32)] == [estimate(step, batch=batch).low for batch in (1, 7, 32)]


def test_bytes_for_each_example() -> None:
    step = convolutions(batch=None)
    assert per_example(step) == pytest.approx((lowest(step, 200) - lowest(step, 100)) / 100, rel=0.05)


def test_verdicts() -> None:
    found = estimate(convolutions())
    assert found.low < found.high
    assert verdict(found, found.high) == "fits"
    assert verdict(found, found.high - 1) == "may not fit"
    assert verdict(found, found.low) == "may not fit"
    assert verdict(found, found.low - 1) == "does not fit"


def test_a_lower_bound_never_fits() -> None:
    step = convolutions()
    unknown = TrainingStep(1, step.call, step.model, step.passes, missing=(Missing("the data", 3, "--input"),))
    assert verdict(estimate(unknown), 1 << 50) == "may not fit"


def test_what_would_save() -> None:
    step = convolutions(batch=256)
    before = lowest(step, 256)
    found = what_if(step)
    assert {one.change for one in found} == {
        "batch 128", "mixed_bfloat16", "keras.remat, 3 blocks", "gradient_accumulation_steps=4"
    }  # fmt: skip
    assert [one.low for one in found] == sorted(one.low for one in found)
    for one in found:
        assert one.saves == before - one.low > 0.05 * before


def test_what_saves_next_to_nothing_is_not_named() -> None:
    """Weights alone: a smaller batch saves nothing."""
    assert what_if(perceptron(2048, 2048, given=2048, optimizer="Adam", batch=2)) == ()


def test_a_smaller_batch_is_what_it_says() -> None:
    step = convolutions(batch=256)
    smaller = next(one for one in what_if(step) if one.change == "batch 128")
    assert smaller.low == lowest(step, 128)


def test_blocks_are_not_made_of_what_has_them() -> None:
    blocks = in_blocks(convolutions())
    assert blocks is not None
    assert in_blocks(blocks) is None


def test_accumulation_takes_an_array_for_each_weight() -> None:
    step = convolutions("Adam")
    changed = accumulating(step, 4)
    assert changed is not None
    assert estimate(changed).slots == estimate(step).slots * 3 // 2
    assert accumulating(changed, 4) is None
    assert changed.passes[0].optimizer == Optimizer("Adam", {"gradient_accumulation_steps": 4})


def test_of_the_card_that_was_measured_as_much_can_be_used() -> None:
    """An H200 shows 143,771 MiB, of which TensorFlow gave tensors 140,829."""
    assert usable(143_771 * MIB, 9) == pytest.approx(140_829 * MIB, rel=0.001)
