"""Which TensorFlow and Keras a text asks for: requirements, environments and setup files, and notebooks."""

from __future__ import annotations

import re
from typing import NamedTuple

NEWEST = (99,)
"""Later than any version: a requirement that says no latest one."""

Version = tuple[int, ...]

_PIN = re.compile(
    r"^[^\S\n]*(?:-[^\S\n]*)?[\"']?(tensorflow(?:[-_](?:gpu|cpu|macos|intel))?|keras)(?![-\w.])(?:\[[^\]\n]*\])?[\"']?[^\S\n]*"
    r"(?:=[^\S\n]*[\"'](?===|<|~=|\d))?(==?=?|<=?|~=)?[^\S\n]*(\d+(?:\.\d+)*)?",
    re.IGNORECASE | re.MULTILINE,
)
"""A line of a requirements file, an item of a list in Python, YAML or TOML, or an entry of a Pipfile."""

_INSTALLS = re.compile(r"pip3?[^\S\n]+install\b[^\n\"\\]*?[^\S\n](tensorflow(?:-gpu)?|keras)==(\d+(?:\.\d+)*)")
"""A command in a notebook."""

_NAMED = re.compile(
    r"(?<![\w./-])(tensorflow(?:-gpu)?|keras)[^\w\n<>]{0,4}(?:version[^\S\n]*)?v?(\d+\.(?:\d+(?:\.\d+)?|x))"
    r"(?![\w+]|\.\d|[^\S\n]*(?:\+|or[^\S\n]+(?:above|greater|higher|later|newer)"
    r"|(?:/|&|,|and|or|to|-)[^\S\n]*v?\d+\.(?:\d|x)))",
    re.IGNORECASE,
)
"""A release that a description names, or all of a kind, `1.x`: not one of those that may be later, too."""

_KERNEL = re.compile(r"\"language_info\":\s*\{.*?\"version\":\s*\"(\d+)\.(\d+)", re.DOTALL)

OF_PYTHON = (((3, 4), (1, 14)), ((3, 5), (2, 3)), ((3, 6), (2, 6)), ((3, 7), (2, 11)), ((3, 8), (2, 13)))
"""The latest TensorFlow for old releases of Python, by its wheels: none later was built for them."""


class Pins(NamedTuple):
    """The latest versions that a program may run with, as far as anything says so."""

    tensorflow: Version = NEWEST
    keras: Version = NEWEST

    @property
    def tell(self) -> bool:
        """Whether they say anything."""
        return self != NONE

    def within(self, others: Pins) -> Pins:
        """The latest versions that these and others let in."""
        return Pins(min(self.tensorflow, others.tensorflow), min(self.keras, others.keras))


NONE = Pins()


def pins_of(text: str) -> Pins:
    """What the text of one such file asks for; of several requirements of one library the latest counts."""
    found: dict[str, list[Version]] = {}
    for name, compared, written in _PIN.findall(text):
        library = "keras" if name.lower() == "keras" else "tensorflow"
        found.setdefault(library, []).append(_latest(compared, written))
    return Pins(**{library: max(versions) for library, versions in found.items()})


def pins_described(text: str) -> Pins:
    """What a description of a project says it runs with, where that is TensorFlow 1 or Keras before 2.4: few would name
    them but for that. Of several that are named the latest counts."""
    named: dict[str, list[Version]] = {}
    for name, written in _NAMED.findall(text):
        named.setdefault("keras" if name.lower() == "keras" else "tensorflow", []).append(_latest("==", written))
    found = Pins(**{library: max(versions) for library, versions in named.items()})
    return Pins(
        found.tensorflow if found.tensorflow < (2,) else NEWEST, found.keras if found.keras < (2, 4) else NEWEST
    )


def pins_in_notebook(raw: str) -> Pins:
    """What the text of a notebook says: by the commands that install a version, and by the Python that it was run with,
    where that is so old that there is no later TensorFlow for it."""
    python = python_of(raw) or NEWEST
    latest = next((version for release, version in OF_PYTHON if python <= release), NEWEST)
    return pins_installed(raw).within(Pins(tensorflow=latest))


def pins_installed(raw: str) -> Pins:
    """What the commands in the text of a notebook install."""
    installed: dict[str, list[Version]] = {}
    for name, written in _INSTALLS.findall(raw):
        installed.setdefault("keras" if name == "keras" else "tensorflow", []).append(_latest("==", written))
    return Pins(**{library: max(versions) for library, versions in installed.items()})


def python_of(raw: str) -> Version | None:
    """The release of Python that a notebook was run with, by its text; None where it does not say."""
    kernel = _KERNEL.search(raw)
    return (int(kernel[1]), int(kernel[2])) if kernel is not None else None


def _latest(compared: str, written: str) -> Version:
    """The latest version that a requirement lets in: 1.99 for `~=1.15`, 2.3.99 for `==2.3`, 1.99 for `<2`."""
    if not compared or not written:
        return NEWEST
    version = tuple(int(part) for part in written.split(".") if part.isdigit())
    if compared == "~=":
        return (*version[: max(1, len(version) - 1)], 99)
    if compared != "<":
        return (*version, 99)
    *above, last = version
    while above and last == 0:
        last = above.pop()
    return (*above, last - 1, 99)
