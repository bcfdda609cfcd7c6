"""Samples with a few tokens replaced by others of their kind: a third of them parses and means something else."""

from __future__ import annotations

import io
import keyword
import tokenize
from random import Random

from ..case import Broken, Case, Kind
from ..checks import repaired
from ..programs import samples

NUMBERS = ("0", "-1", "1", "2", "9223372036854775808", "0x1", "0b1", "1_0", "0o17", "1e400", "1e-320", ".5", "1j",
           "10 ** 18", "1000000000000000000000", "9" * 5000, "0x" + "f" * 4000, "True")  # fmt: skip
OPERATORS = (
    ("+", "-", "*", "/", "//", "%", "**", "@", "<<", ">>", "&", "|", "^", ",", "and", "or"),
    ("=", "+=", "-=", "*=", "//=", "**=", "@=", ":=", "=="),
    ("==", "!=", "<", ">", "<=", ">=", "in", "is", "not in"),
    (".", ","),
    ("(", "["),
    (")", "]"),
)
LAYOUTS = {"": "\n", "CRLF": "\r\n", "CR": "\r"}


def make(chance: Random, number: int) -> Case | None:
    """A sample with up to four tokens replaced, now and then with other line ends."""
    text = chance.choice(samples())
    text = mutated(text, chance)
    if not chance.randrange(4):
        text = text.replace("\n", chance.choice(["\r\n", "\r"]))
    data = text.encode("utf-8", "surrogateescape")
    return Case("tokens.py", b"\xef\xbb\xbf" + data if not chance.randrange(12) else data)


def mutated(text: str, chance: Random) -> str:
    """The text with one to four tokens replaced."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return text
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    wanted = [token for token in tokens if token.type in (tokenize.NAME, tokenize.NUMBER, tokenize.STRING, tokenize.OP)]
    chosen = chance.sample(wanted, min(len(wanted), chance.randint(1, 4)))
    for token in sorted(chosen, key=lambda token: token.start, reverse=True):
        new = _other(token, wanted, chance)
        start, end = (starts[row - 1] + column for row, column in (token.start, token.end))
        text = text[:start] + new + text[end:]
    return text


def _other(token: tokenize.TokenInfo, tokens: list[tokenize.TokenInfo], chance: Random) -> str:
    if token.type == tokenize.NUMBER and chance.random() < 0.8:
        return chance.choice(NUMBERS)
    if token.type == tokenize.OP:
        alike = [group for group in OPERATORS if token.string in group]
        return chance.choice(chance.choice(alike)) if alike else token.string
    if token.type == tokenize.NAME and keyword.iskeyword(token.string):
        return token.string
    alike_tokens = [each.string for each in tokens if each.type == token.type and not keyword.iskeyword(each.string)]
    return chance.choice(alike_tokens)


def check(case: Case) -> None:
    """Repairs are sound, and the same with all line ends."""
    data = repaired(case.data, case.path)
    for end in (b"\r\n", b"\r"):
        if end in case.data and not case.data.replace(end, b"").count(b"\n") + case.data.replace(end, b"").count(b"\r"):
            plain = repaired(case.data.replace(end, b"\n"), case.path)
            if plain.replace(b"\n", end) != data:
                raise Broken("repairs differ with other line ends")


KIND = Kind("tokens", make, check)
