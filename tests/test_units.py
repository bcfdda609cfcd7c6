"""Bytes for people: the right words at the edges, and never far from the number."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfmemlint.units import parse_size, show_bytes, show_each


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
    [(6 << 20, 256, " of 6 MiB: 1.5 GiB"), (1, 2, " of 1 byte: 2 bytes"), (None, 3, ""), (3, None, "")],
)
def test_what_each_of_many_weighs(size, count, shown):
    assert show_each(size, count) == shown
