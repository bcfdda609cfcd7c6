"""Bytes for people: the right words at the edges, and never far from the number."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfmemlint.units import AtLeast, at_most, parse_size, show_bytes, show_each, show_halved, total_bytes


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (1023, "1023 bytes"),
        (1024, "1 KiB"),
        (1025, "1.0 KiB"),
        (10_000, "9.8 KiB"),
        (10_239, "10 KiB"),
        ((1 << 20) - 1, "1.0 MiB"),
        (1 << 20, "1 MiB"),
        ((1 << 30) - 1, "1.0 GiB"),
        (1 << 30, "1 GiB"),
        (3 << 29, "1.5 GiB"),
        (1 << 40, "1 TiB"),
        (5 << 50, "5 PiB"),
        (1 << 61, "2048 PiB"),
    ],
)
def test_edges(count: int, shown: str) -> None:
    assert show_bytes(count) == shown


@given(st.integers(0, 1 << 55))
def test_what_is_shown_is_a_size_near_the_number(count: int) -> None:
    shown = show_bytes(count)
    assert re.fullmatch(r"1 byte|\d+ bytes|(\d\.\d|\d{1,4}) [KMGTP]iB", shown)
    if "byte" not in shown:
        assert float(shown.split()[0]) < 1024 or "PiB" in shown
        assert abs(parse_size(shown) - count) <= count * 0.055


@pytest.mark.parametrize(
    ("size", "count", "shown"),
    [
        (6 << 20, 256, " of 6 MiB: 1.5 GiB"),
        (AtLeast(6 << 20), 256, " of at least 6 MiB: at least 1.5 GiB"),
        (1, 2, " of 1 byte: 2 bytes"),
        (None, 3, ""),
        (3, None, ""),
    ],
)
def test_what_each_of_many_weighs(size, count, shown):
    assert show_each(size, count) == shown


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ([1, 2], "3 bytes"),
        ([5000, None], "at least 4.9 KiB"),
        ([AtLeast(5000), 1024], "at least 5.9 KiB"),
        ([2048, None], "None"),
        ([None], "None"),
    ],
)
def test_sums_with_unknown_parts_are_lower_bounds(sizes, expected):
    found = total_bytes(sizes)
    assert ("None" if found is None else show_bytes(found)) == expected


def test_what_is_made_of_a_lower_bound_is_one():
    bound = AtLeast(4096)
    assert [show_bytes(each) for each in (bound * 2, 2 * bound, bound + 4096, 4096 + bound)] == ["at least 8 KiB"] * 4
    assert show_halved(bound * 2) == ": at least 8 KiB instead of 4 KiB"


@pytest.mark.parametrize(
    ("size", "expected"), [(5, True), (6, False), (None, False), (AtLeast(5), False), (AtLeast(6), False)]
)
def test_a_lower_bound_is_never_known_to_be_small(size, expected):
    assert at_most(size, 5) is expected
