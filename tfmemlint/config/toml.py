"""TOML as a configuration file may hold it: of any size and any author, read in little time."""

from __future__ import annotations

import re
import sys
from typing import Any

LARGEST = 4 << 20
"""Bytes of a configuration file."""

_DIGITS = 4_000
"""Digits of a number that every Python reads; they take it a time that grows with their square."""
_LONG = re.compile(rf"[0-9_]{{{_DIGITS},}}")

_NAME = r"""(?:[\w-]+|"[^"\n]*"|'[^'\n]*')"""
_DEEP_KEY = re.compile(rf"""(?<![\w"'-])(?:{_NAME}[ \t]*\.[ \t]*){{100}}""")
"""A key of more parts than people write; they too take a time that grows with their square."""


def read_toml(data: bytes) -> dict[str, Any]:
    """The tables of a TOML file. Raises ValueError, in words for people, for one that cannot be read.

    A number of thousands of digits, for which Python has no time, is cut short: it may stand in the table of another
    tool, and is too large for any key of ours as it is.
    """
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    if len(data) > LARGEST:
        raise ValueError(f"is larger than {LARGEST >> 20} MiB")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"is not UTF-8 text: byte {error.start} cannot be decoded") from None
    if _DEEP_KEY.search(text):
        raise ValueError("is nested too deeply")
    try:
        try:
            return tomllib.loads(text)
        except tomllib.TOMLDecodeError:
            raise
        except ValueError:
            return tomllib.loads(_LONG.sub(lambda found: found[0][:_DIGITS].rstrip("_"), text))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"is not valid TOML: {error}") from None
    except RecursionError:
        raise ValueError("is nested too deeply") from None
