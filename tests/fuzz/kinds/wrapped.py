"""Samples below each compound statement, and two samples with their statements mixed."""

from __future__ import annotations

from random import Random

from ..case import Case, Kind
from ..checks import repaired
from ..programs import samples, statements
from .tokens import mutated

HEADS = (
    ("for _ in range(3):",), ("for _ in items:",), ("while True:",), ("if flag:",), ("if flag:", "    pass", "else:"),
    ("with open('f') as handle:",), ("try:", "    pass", "except ValueError:"), ("try:", "    pass", "finally:"),
    ("def wrapper(flag):",), ("async def wrapper(*items):",), ("class Wrapper:",), ("match flag:", "    case [1, *_]:"),
    ("@tf.function", "def traced(x):"), ("for epoch in range(10 ** 6):",), ("with tf.device('/CPU:0'):",),
    ("with strategy.scope():",), ("with tf.GradientTape(persistent=True) as tape:",), ("class Layer(tf.keras.Model):",
    "    def call(self, x):"), ("while (n := n + 1) < 2 ** 63:",), ("async def f():", "    async for x in xs:"),
)  # fmt: skip


def make(chance: Random, number: int) -> Case | None:
    """A sample below one to three statements; every second one has another sample mixed into it first."""
    text = chance.choice(samples())
    if number % 2:
        text = mixed(text, chance.choice(samples()), chance)
    if number % 3 == 2:
        text = mutated(text, chance)
    for _ in range(chance.randint(0 if number % 2 else 1, 3)):
        text = below(text, chance)
    return Case("wrapped.py", text.encode("utf-8", "surrogateescape"))


def below(text: str, chance: Random) -> str:
    """The program as the body of a compound statement, or a part of it at its end."""
    head = chance.choice(HEADS)
    depth = len(head[-1]) - len(head[-1].lstrip()) + 4
    parts = statements(text)
    kept = chance.randrange(len(parts)) if not chance.randrange(3) else 0
    body = "".join(parts[kept:]) or "pass\n"
    indented = "".join(" " * depth + line if line.strip() else line for line in body.splitlines(keepends=True))
    return "".join(parts[:kept]) + "".join(f"{line}\n" for line in head) + indented


def mixed(text: str, other: str, chance: Random) -> str:
    """The statements of two programs in their orders, any of them first."""
    first, second, done = list(statements(text)), list(statements(other)), []
    while first or second:
        source = first if not second or (first and chance.random() < 0.5) else second
        done.append(source.pop(0))
    return "".join(part if part.endswith("\n") else f"{part}\n" for part in done)


def check(case: Case) -> None:
    """Repairs are sound."""
    repaired(case.data, case.path)


KIND = Kind("wrapped", make, check)
