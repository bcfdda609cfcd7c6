"""The skeleton of a new rule: its module and its case folder."""

from __future__ import annotations

import re
from pathlib import Path

_MODULE = '''from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import Call, File, Finding, Rule, on_call


class {class_name}(Rule):
    """
    ## What it does
    Reports ...

    ## Why it costs memory
    ...

    ## Example
    ```python
    ...
    ```
    Better:
    ```python
    ...
    ```

    ## Fix safety
    The rule has no fix.

    ## When not to use it
    ...

    ## References
    - ...
    """

    code = "{code}"
    summary = "..."

    @on_call("tf.data.Dataset.cache")
    def check(self, call: Call, file: File) -> Iterator[Finding]:
        # Stop wherever something is not known; a call stands for its method's name.
        if call.open:
            return
        yield self.finding(call, file, "what is wrong here, and why it costs memory in one clause")
'''

_BAD = """import tensorflow as tf

ds = tf.data.Dataset.range(8).cache()  #! {code}
"""

_GOOD = """import tensorflow as tf

ds = tf.data.Dataset.range(8)
"""


class NewRuleError(Exception):
    """A rule that cannot be made: a malformed name or code, or one that exists."""


def new_rule(name: str, code: str | None, rules: Path, fixtures: Path) -> list[Path]:
    """Write the module and the case folder of a new rule and return the files' paths. Raises NewRuleError."""
    words = [word.lower() for word in re.split(r"[-_\s]+", name) if word]
    if not words or not all(re.fullmatch(r"[a-z][a-z0-9]*", word) for word in words):
        raise NewRuleError(f"'{name}' is not a rule's name; use words with hyphens, such as cache-after-repeat")
    for folder in (rules, fixtures):
        if not folder.is_dir():
            raise NewRuleError(f"there is no folder '{folder}'; run this in the checkout's root or name the folder")
    code = _code(code)
    stem = "_".join(words)
    module, folder = rules / f"{stem}.py", fixtures / f"{code}-{'-'.join(words)}" / "basic"
    for path in (module, folder.parent):
        if path.exists():
            raise NewRuleError(f"{path} exists already")
    class_name = "".join(word.capitalize() for word in words)
    folder.mkdir(parents=True)
    written = {
        module: _MODULE.format(class_name=class_name, code=code),
        folder / "bad.py": _BAD.format(code=code),
        folder / "good.py": _GOOD,
    }
    for path, text in written.items():
        path.write_text(text, "utf-8")
    return list(written)


def _code(wanted: str | None) -> str:
    """The code to use: the one that is wanted, if no rule has it, or the next after the highest in use."""
    from tfmemlint.lint.registry import known_codes

    used = known_codes()
    if wanted is None:
        highest = max((int(code[3:]) for code in used if re.fullmatch(r"TFM\d{3}", code)), default=0)
        return f"TFM{highest + 1:03}"
    if not re.fullmatch(r"[A-Z]{3,6}\d{3}", wanted):
        raise NewRuleError(f"'{wanted}' is not a code; use a prefix of capitals and three digits, such as TFM305")
    if wanted in used:
        raise NewRuleError(f"{wanted} is the code of {used[wanted]}; codes are never used twice")
    return wanted
