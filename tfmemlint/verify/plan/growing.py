"""Numbers for sizes that nothing tells: primes, as large as it takes for a tensor to have so many bytes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from tfmemlint.verify.plan.sizes import Output, Seen, Size, Tensor

MOST_BYTES = 256 << 20
"""Bytes of any tensor of the function, beyond which sizes do not grow."""

TOO_LARGE = 4
"""Times the bytes that are asked for, from which sizes are made smaller: of many axes, of which each has a prime."""

LEAST = 3
ITEM = 4


def parts_of(value: Seen) -> tuple[Size, ...]:
    """The sizes of what an expression is."""
    if isinstance(value, Size):
        return (value,)
    return value.sizes if isinstance(value, (Tensor, Output)) else ()


def bytes_of(tensor: Tensor, numbers: Mapping[int, int]) -> int:
    """Bytes of a tensor, 0 where one of its sizes is not known."""
    return math.prod(number_of(size, numbers) for size in tensor.sizes) * ITEM


def number_of(size: Size, numbers: Mapping[int, int]) -> int:
    """What a size is; 0 where that is not known."""
    number = size.number
    return number if number is not None else numbers.get(id(size.root), 0)


def fit(about: Tensor, others: Sequence[Tensor], free: set[int], numbers: dict[int, int], target: int) -> None:
    """Change free sizes until the tensor has about so many bytes, in turn and to prime numbers."""
    while free and bytes_of(about, numbers) > TOO_LARGE * target:
        largest = max(free, key=lambda key: (numbers[key], key))
        half, taken = numbers[largest] // 2, set(numbers.values())
        below = (*range(half, LEAST - 1, -1), *range(half + 1, numbers[largest]))
        smaller = next((number for number in below if number not in taken and _is_prime(number)), None)
        if smaller is None:
            break
        numbers[largest] = smaller
    while free and bytes_of(about, numbers) < target:
        smallest = min(free, key=lambda key: (numbers[key], key))
        before = numbers[smallest]
        numbers[smallest] = _prime(before * 5 // 4 + 2, set(numbers.values()))
        if any(bytes_of(other, numbers) > MOST_BYTES for other in others):
            numbers[smallest] = before
            return


def _prime(least: int, taken: set[int]) -> int:
    number = least
    while number in taken or not _is_prime(number):
        number += 1
    return number


def _is_prime(number: int) -> bool:
    return all(number % by for by in range(2, math.isqrt(number) + 1))
