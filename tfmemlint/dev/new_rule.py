"""The skeleton of a new rule: its module and its first case."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

from tfmemlint.dev.families import FAMILIES, family_of, next_code
from tfmemlint.dev.sample_call import api_name, imports, sample_call
from tfmemlint.knowledge.tables import texts

_MODULE = '''from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import Call, File, Finding, Rule, on_call


class {class_name}(Rule):
    """
    ## What it does
    Reports ...

    ## Why it costs memory
    ...

    ## When not to use it
    ...

    ## References
    - ...
    """

    code = "{code}"
    summary = "..."
    no_fix = "..."

    @on_call("{api}")
    def check(self, call: Call, file: File) -> Iterator[Finding]:
        # Stop wherever something is not known; a call stands for its method's name.
        if call.open:
            return
        yield self.finding(call, file, "what is wrong here, and why it costs memory in one clause")
'''

_API = "tf.data.Dataset.cache"


class NewRuleError(Exception):
    """A rule that cannot be made: a malformed name or code, or one that exists, or an API that nobody knows."""


def new_rule(
    name: str, code: str | None, rules: Path, fixtures: Path, *, family: str | None = None, api: str | None = None
) -> list[Path]:
    """Write the module and the first case of a new rule and return the files' paths. Raises NewRuleError.

    Without a code the rule gets the next one of the family, or of the family to which rules about the API belong.
    """
    words = [word.lower() for word in re.split(r"[-_\s]+", name) if word]
    if not words or not all(re.fullmatch(r"[a-z][a-z0-9]*", word) for word in words):
        raise NewRuleError(f"'{name}' is not a rule's name; use words with hyphens, such as cache-after-repeat")
    for folder in (rules, fixtures):
        if not folder.is_dir():
            raise NewRuleError(f"there is no folder '{folder}'; run this in the checkout's root or name the folder")
    called = _API if api is None else _known(api)
    code = _wanted(code) if code else _next(family, None if api is None else called)
    module, folder = rules / f"{'_'.join(words)}.py", fixtures / f"{code}-{'-'.join(words)}"
    for path in (module, folder):
        if path.exists():
            raise NewRuleError(f"{path} exists already")
    class_name = "".join(word.capitalize() for word in words)
    bad = sample_call(called) or f"{imports(called)}\nresult = {called}()\n"
    written = {
        module: _MODULE.format(class_name=class_name, code=code, api=called),
        folder / "basic" / "bad.py": bad.replace("\n\n", "\n\n# [example]\n", 1)[:-1] + f"  #! {code}\n",
        folder / "basic" / "good.py": f"{imports(called)}\n# [example] Better:\n...\n",
    }
    (folder / "basic").mkdir(parents=True)
    for path, text in written.items():
        path.write_text(text, "utf-8")
    return list(written)


def _known(api: str) -> str:
    """The canonical name of an API."""
    found = api_name(api)
    if found is None:
        near = difflib.get_close_matches(api, texts("signatures"), 1, 0.6)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise NewRuleError(f"'{api}' is no function, class or method of TensorFlow or NumPy that the model knows{hint}")
    return found


def _wanted(code: str) -> str:
    """The code, if no rule has it."""
    from tfmemlint.lint.registry import known_codes

    if not re.fullmatch(r"[A-Z]{3,6}\d{3}", code):
        raise NewRuleError(f"'{code}' is not a code; use a prefix of capitals and three digits, such as TFM305")
    if code in known_codes():
        raise NewRuleError(f"{code} is the code of {known_codes()[code]}; codes are never used twice")
    return code


def _next(family: str | None, api: str | None) -> str:
    """The next free code of the family, or of that of the API."""
    from tfmemlint.lint.registry import known_codes

    family = family or (family_of(api) if api else None)
    if family is None:
        known = ", ".join(f"{code} {entry.title}" for code, entry in FAMILIES.items() if code != "TFM0")
        raise NewRuleError(f"say with --call what the rule is about, or with --family where it belongs: {known}")
    if not re.fullmatch(r"[A-Z]{3,6}\d", family):
        raise NewRuleError(f"'{family}' is no family of codes; use a prefix and one digit, such as TFM3")
    code = next_code(family, known_codes())
    if code is None:
        raise NewRuleError(f"all codes of {family} are in use")
    return code
