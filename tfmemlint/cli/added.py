"""Configuration files of others with a part of ours added: their own text stays, byte for byte, or nothing is made."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from tfmemlint.config.toml import read_toml

_COMMENT = "# Keys: `tfmemlint config`; one of them: `tfmemlint config KEY`. Rules: `tfmemlint rules`.\n"
_SUGGESTED = (
    '# extend-select = ["ADVICE"]   # the rules that are off by default\n'
    '# gpu-memory = "16GiB"         # the card that models must fit into\n'
)
_HOOK = """\
- repo: local
  hooks:
    - id: tfmemlint
      name: tfmemlint
      entry: tfmemlint check --force-exclude
      language: system
      types_or: [python, pyi, jupyter]
      require_serial: true
"""
_TOP_KEY = re.compile(r"[^\s#-]|---|\.\.\.")
"""How a line begins that is on the top level of a YAML document and no item of a list."""


@dataclass(frozen=True)
class Refused:
    """Why nothing could be added, and what a person may add."""

    reason: str
    text: str


def with_table(data: bytes, name: str, baseline: str | None) -> bytes | Refused:
    """A TOML file with our table at its end; `name` says whether it is a pyproject.toml, where the table has a
    heading."""
    heading = "[tool.tfmemlint]\n" if name == "pyproject.toml" else ""
    ours = f"{heading}{_COMMENT}{_SUGGESTED}" + (f'baseline = "{baseline}"\n' if baseline else "")
    try:
        before = read_toml(data)
    except ValueError as error:
        return Refused(str(error), "[tool.tfmemlint]")
    text = _appended(data.decode(), ours)
    try:
        after = read_toml(text)
    except ValueError:  # `tool` is written in one line, so that no table can be added to it
        return Refused("its `tool` takes no further table", "tfmemlint = {} in it, or use --into tfmemlint.toml")
    if _without_ours(after) != _without_ours(before):
        return Refused("the table would change what the file says", "[tool.tfmemlint]")
    return text


def _without_ours(table: dict[str, Any]) -> dict[str, Any]:
    tool = {key: value for key, value in table.get("tool", {}).items() if key != "tfmemlint"}
    return {**{key: value for key, value in table.items() if key not in ("tool", "baseline")}, "tool": tool}


def _appended(text: str, ours: str) -> bytes:
    """Our lines after those of a text, with its own line ends and an empty line between."""
    end = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text else end if text.endswith("\n") else 2 * end
    return (text + gap + ours.replace("\n", end)).encode()


def with_hook(data: bytes) -> bytes | Refused:
    """A configuration of pre-commit with our hook as the last of its `repos`.

    There is no parser of YAML here, and none that keeps comments would be small: so only files of the form that
    pre-commit itself writes are added to, one `repos:` with a list in lines below it.
    """
    if not data.strip():
        return data + ("repos:\n" + _indented(_HOOK, "  ")).encode()
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return Refused("is not UTF-8 text", "the hook that docs/ci.md shows")
    lines = text.splitlines(keepends=True)
    heads = [number for number, line in enumerate(lines) if re.match(r"repos[ \t]*:", line)]
    refused = Refused("its `repos` are not a list in lines of their own", "the hook that docs/ci.md shows")
    if len(heads) != 1 or not re.fullmatch(r"repos:[ \t]*(#.*)?", lines[heads[0]].strip()) or "\t" in text:
        return refused
    first = next((line for line in lines[heads[0] + 1 :] if line.strip() and not line.lstrip().startswith("#")), "")
    indent = re.match(r"( *)- +(repo|hooks) *:", first)
    if indent is None:
        return refused
    after = len(lines)
    for number in range(heads[0] + 1, len(lines)):
        if _TOP_KEY.match(lines[number]):
            after = number
            break
    while not lines[after - 1].strip() or lines[after - 1].startswith("#"):
        after -= 1
    return _inserted(lines, after, _indented(_HOOK, indent[1]))


def _indented(text: str, indent: str) -> str:
    return "".join(f"{indent}{line}" for line in text.splitlines(keepends=True))


def _inserted(lines: list[str], at: int, ours: str) -> bytes:
    end = "\r\n" if lines[0].endswith("\r\n") else "\n"
    if not lines[at - 1].endswith("\n"):
        lines[at - 1] += end
    return "".join([*lines[:at], ours.replace("\n", end), *lines[at:]]).encode()
