"""Rule selectors: codes, starts of codes, rule names, `ALL` and `ADVICE`, and which of them wins."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

import msgspec

from tfmemlint.units import shortened

_PREFIX = re.compile(r"[A-Z]{1,6}\d{0,3}")
_EXACT = 100
_MISREAD = str.maketrans("OIL", "011")
"""Letters that are taken for digits."""


class Known(NamedTuple):
    """What a selector can speak of: one rule's code, name and whether the default selection holds it."""

    code: str
    name: str
    default: bool


ENGINE = (
    Known("TFM000", "internal-error", True),
    Known("TFM001", "unreadable-file", True),
    Known("TFM002", "syntax-error", True),
    Known("TFM003", "unused-suppression", True),
)
"""What the tool itself reports; the first three say what kept a file from being checked."""

INTERNAL_ERROR = "TFM000"
"""The one code that no configuration switches off."""

FAILURES = frozenset((INTERNAL_ERROR, "TFM001", "TFM002"))
UNUSED = "TFM003"


class Layer(msgspec.Struct, frozen=True, kw_only=True):
    """The selection of one place: of a configuration file, or of the command line, which is applied after it."""

    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()


def specificity(selector: str, rule: Known) -> int | None:
    """How closely a selector speaks of a rule, or None when it does not: a name or code wins over the start of a code,
    a longer start over a shorter one, and any of them over `ADVICE` and `ALL`."""
    text = selector.strip()
    upper = text.upper()
    if upper == "ALL":
        return 0
    if upper == "ADVICE":
        return None if rule.default else 1
    if upper == rule.code or text.lower() == rule.name:
        return _EXACT
    if _PREFIX.fullmatch(upper) and rule.code.startswith(upper):
        return 1 + len(upper)
    return None


def closest(selectors: Iterable[str], rule: Known) -> int:
    """The specificity of the selector that speaks most closely of a rule; -1 when none does."""
    found = (specificity(selector, rule) for selector in selectors)
    return max((each for each in found if each is not None), default=-1)


def selected(rules: Collection[Known], layers: Sequence[Layer], *, preview: bool = False) -> frozenset[str]:
    """The codes that run after all layers.

    Within a layer the more specific selector wins, and of two alike the one that ignores. A layer with a `select`
    starts afresh; one without changes what the layers before it left. With `preview` the default selection holds all.
    Files that cannot be checked are told of whichever rules are selected, unless the codes for them are ignored; a
    failure of the tool always is.
    """
    chosen = {rule.code for rule in rules if rule.default or preview}
    for layer in layers:
        before = chosen if layer.select is None else chosen & FAILURES
        wanted = (*(layer.select or ()), *layer.extend_select)
        chosen = set()
        for rule in rules:
            plus, minus = closest(wanted, rule), closest(layer.ignore, rule)
            if plus > minus or (plus == minus == -1 and rule.code in before):
                chosen.add(rule.code)
    return frozenset(chosen) | ({INTERNAL_ERROR} & {rule.code for rule in rules})


def is_known(selector: str, rules: Collection[Known]) -> bool:
    """Whether a selector speaks of any rule; `ALL` and `ADVICE` are known even where they choose nothing."""
    if selector.strip().upper() in ("ALL", "ADVICE"):
        return True
    return any(specificity(selector, rule) is not None for rule in rules)


def complaint(selector: str, rules: Collection[Known]) -> str:
    """What to say about an unknown selector, with the nearest known one where there is any."""
    if not selector.strip():
        return "an empty rule selector; write a code, the start of one, a rule's name, ALL or ADVICE"
    import difflib

    selector = shortened(selector)
    upper, lower = selector.strip().upper(), selector.strip().lower()
    digits = upper[:3] + upper[3:].translate(_MISREAD)
    if any(rule.code == digits for rule in rules):
        return f"unknown rule selector '{selector}'; did you mean {digits}?"
    names = difflib.get_close_matches(lower, [rule.name for rule in rules], 1, 0.6)
    codes = difflib.get_close_matches(upper, [rule.code for rule in rules] + ["ALL", "ADVICE"], 1, 0.7)
    near = names or codes
    hint = f"did you mean {near[0]}?" if near else "`tfmemlint rules` lists all codes and names"
    return f"unknown rule selector '{selector}'; {hint}"
