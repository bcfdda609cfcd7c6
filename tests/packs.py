"""Rule packs made for a test: a package with rules, and what pip would have written to announce it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from tfmemlint.lint import registry

Install = Callable[..., None]

_RULE = '''
import re

from tfmemlint.api import Edit, Fact, Finding, Fix, Rule, Safety, Severity, Span, on


class {name}(Rule):
    """Made for a test.

    ## What it does
    Reports the word `{word}`.

    ## Why it costs memory
    It does not.

    ## Example
    `{word}`

    ## Fix safety
    Safe.

    ## When not to use it
    Outside of tests.

    ## References
    None.
    """

    code = "{code}"
    summary = "the word {word} is there"
    severity = Severity.{severity}
    default = {default}
    fix_safety = (Safety.{safety},)

    @on(Fact(lambda file: re.finditer(r"\\b{word}\\b", file.source.text), "{word}"))
    def check(self, match, file):
        span = Span(*match.span())
        {body}
'''

_REPORT = """fix = Fix("write it otherwise", (Edit(span.start, span.end, "calm"),), Safety.{safety})
        yield self.finding(span, file, "found {word}", fix=fix, bytes={bytes})"""


def rule_module(
    code: str,
    name: str,
    word: str,
    *,
    severity: str = "WARNING",
    default: bool = True,
    safety: str = "SAFE",
    bytes: int | None = None,
    body: str = "",
) -> str:
    """The text of a module with one rule, which reports all places of a word and runs `body` instead if given."""
    body = body or _REPORT.format(word=word, safety=safety, bytes=bytes)
    return _RULE.format(code=code, name=name, word=word, severity=severity, default=default, safety=safety, body=body)


def write_pack(folder: Path, package: str, modules: dict[str, str], *, version: str = "1.0") -> Path:
    """Write an installed distribution with one package of rules into a folder of `sys.path`."""
    (folder / package).mkdir(parents=True)
    (folder / package / "__init__.py").touch()
    for name, text in modules.items():
        (folder / package / f"{name}.py").write_text(text)
    info = folder / f"{package}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
    (info / "entry_points.txt").write_text(f"[tfmemlint.rules]\n{package} = {package}\n")
    return folder


@pytest.fixture
def install(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Makes a package of the given modules the only rule pack that is installed."""
    site = tmp_path_factory.mktemp("site")
    before = set(sys.modules)

    def made(package: str = "made_rules", **modules: str) -> None:
        write_pack(site, package, modules)
        point = EntryPoint(package, package, registry.GROUP)
        monkeypatch.setattr(registry, "packs", lambda: (point,))

    monkeypatch.syspath_prepend(str(site))
    forget()
    yield made
    forget()
    for name in set(sys.modules) - before:
        if name.startswith("made_rules"):
            del sys.modules[name]
    importlib.invalidate_caches()


def forget() -> None:
    """Let the rules be loaded anew."""
    registry.load_rules.cache_clear()
    registry.installed.cache_clear()
    registry.fingerprint.cache_clear()
