"""Rules that are selected and woken before they are imported, and the list that tells of them."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from packs import Install, forget, install, write_pack

from tfmemlint.config.settings import Config
from tfmemlint.lint import listed, registry, subjects
from tfmemlint.lint.entry_points import entry_points
from tfmemlint.lint.linter import Linter
from tfmemlint.lint.triggers import waits
from tfmemlint.rule import Rule

__all__ = ["install"]

PROGRAM = b"import tensorflow as tf\nds = tf.data.TFRecordDataset('a').batch(32).prefetch(1000)\n"
RULE = '''
from tfmemlint.api import Rule, on_call

class {name}(Rule):
    """## What it does
    ## Why it costs memory
    ## When not to use it
    ## References
    """

    code = "{code}"
    summary = "made for a test"

    @on_call("tf.data.Dataset.cache")
    def check(self, call, file):
        yield self.finding(call, file, "seen")
'''


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where Python keeps compiled modules, for this test alone."""
    folder = tmp_path / "compiled"
    monkeypatch.setattr(sys, "pycache_prefix", str(folder))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return folder


@pytest.fixture
def pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of rules that are imported."""
    site = tmp_path / "site"
    write_pack(site, "listed_rules", {"one": RULE.format(name="One", code="ABC001")})
    monkeypatch.syspath_prepend(str(site))
    for name in ("listed_rules", "listed_rules.one"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    importlib.invalidate_caches()
    importlib.import_module("listed_rules.one")
    return site / "listed_rules"


def rules() -> tuple[Rule, ...]:
    return (sys.modules["listed_rules.one"].One(),)


def test_a_list_tells_what_selection_and_triggers_ask(kept: Path, pack: Path) -> None:
    listed.write(str(pack), rules())
    found = listed.read(str(pack))
    assert found is not None and len(found) == 1
    assert (found[0].code, found[0].name, found[0].default) == ("ABC001", "one", True)
    assert waits(found[0]) == waits(rules()[0])
    assert found[0].summary == "made for a test" and len(found[0].handlers) == 1


def test_a_changed_module_ends_the_list(kept: Path, pack: Path) -> None:
    listed.write(str(pack), rules())
    module = pack / "one.py"
    before = module.stat()
    module.write_text(module.read_text().replace("seen", "said"))
    os.utime(module, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    assert listed.read(str(pack)) is None


def test_a_longer_module_of_the_same_time_ends_the_list(kept: Path, pack: Path) -> None:
    listed.write(str(pack), rules())
    module = pack / "one.py"
    before = module.stat()
    module.write_text(module.read_text() + "\n")
    os.utime(module, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert listed.read(str(pack)) is None


@pytest.mark.parametrize("change", ["add", "remove"])
def test_another_set_of_modules_ends_the_list(kept: Path, pack: Path, change: str) -> None:
    (pack / "two.py").write_text(RULE.format(name="Two", code="ABC002"))
    listed.write(str(pack), rules())
    if change == "add":
        (pack / "three.py").touch()
    else:
        (pack / "two.py").unlink()
    assert listed.read(str(pack)) is None


def test_a_list_that_was_copied_with_its_folder_speaks_of_the_copy(kept: Path, pack: Path, tmp_path: Path) -> None:
    listed.write(str(pack), rules())
    copy = tmp_path / "copy" / "listed_rules"
    shutil.copytree(pack, copy)
    place, beside = listed._place(str(pack)), listed._place(str(copy))
    os.makedirs(os.path.dirname(beside))
    shutil.copy2(place, beside)
    assert listed.read(str(copy)) is not None
    (copy / "one.py").write_text("")
    assert listed.read(str(copy)) is None


@pytest.mark.parametrize("content", [b"", b"garbage", b"\xe9\x00\x00", b"i\x01\x00\x00\x00"])
def test_a_damaged_list_is_no_list(kept: Path, pack: Path, content: bytes) -> None:
    listed.write(str(pack), rules())
    Path(listed._place(str(pack))).write_bytes(content)
    assert listed.read(str(pack)) is None


def test_nothing_is_kept_where_python_may_keep_nothing(
    kept: Path, pack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    listed.write(str(pack), rules())
    assert not list(kept.rglob("*.list")) and listed.read(str(pack)) is None


def test_packs_of_others_are_imported(kept: Path, install: Install) -> None:
    install(first=RULE.format(name="First", code="ABC001"))
    assert [type(rule).__name__ for rule in registry.installed()] == ["First"]
    assert not list(kept.rglob("*.list"))


def test_the_rules_of_the_tool_are_listed_as_they_are(kept: Path) -> None:
    forget()
    try:
        loaded = registry.installed()
        forget()
        told = registry.installed()
        assert all(isinstance(rule, listed.Listed) for rule in told)
        words = ("code", "name", "default", "in_tests", "worth_in_bytes", "spared")
        for rule, real in zip(told, loaded, strict=True):
            assert [getattr(rule, word) for word in words] == [getattr(real, word) for word in words]
            assert waits(rule) == waits(real)
        found = Linter(Config()).lint(PROGRAM, "a.py").findings
        assert found == Linter(Config(), loaded).lint(PROGRAM, "a.py").findings != ()
    finally:
        forget()


def test_a_small_file_imports_the_rules_that_it_wakes(kept: Path, tmp_path: Path) -> None:
    forget()
    registry.installed()
    script = f"""
import json, sys
from tfmemlint.config.settings import Config
from tfmemlint.lint import registry
from tfmemlint.lint.linter import Linter
sys.pycache_prefix = {str(kept)!r}
registry.installed()
sys.pycache_prefix = None
found = Linter(Config()).lint({PROGRAM!r}, "a.py").findings
print(json.dumps([[each.code for each in found], [m for m in sys.modules if m.startswith("tfmemlint")]]))
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, stdout=subprocess.PIPE, check=True)
    codes, modules = json.loads(done.stdout)
    assert codes == ["TFM304"]
    assert "tfmemlint_rules.oversized_prefetch" in modules
    assert "tfmemlint_rules.persistent_tape" not in modules and "tfmemlint.query.runtime.strategies" not in modules


def test_subjects_give_what_their_modules_do() -> None:
    origins = subjects.origins()
    assert {"tfmemlint.api.keras", "tfmemlint.api.pipelines", "tfmemlint.api.facts"} <= set(origins)
    for name, table in origins.items():
        module = importlib.import_module(name)
        lazy = subjects._Subject(name, table)
        assert set(module.__all__) <= set(dir(lazy))
        assert all(getattr(lazy, word) is getattr(module, word) for word in module.__all__)
        with pytest.raises(AttributeError, match="no_such_question"):
            lazy.no_such_question  # noqa: B018


def test_entry_points_are_those_of_importlib(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from importlib.metadata import entry_points as asked

    for package, version in (("made_one", "1.0"), ("made_two", "2.0")):
        write_pack(tmp_path / "first", package, {}, version=version)
    write_pack(tmp_path / "second", "made_one", {}, version="3.0")  # behind the other, so that it does not count
    (tmp_path / "first" / "made_two-2.0.dist-info" / "entry_points.txt").write_text(
        "# ours\n[console_scripts]\ntool = made_two:main\n\n[tfmemlint.rules]\n# more\nmade-two = made_two.rules\n"
    )
    assert [p.dist and p.dist.name for p in asked(group=registry.GROUP)]  # which imports what is needed below
    monkeypatch.setattr(sys, "path", [str(tmp_path / "first"), str(tmp_path / "second"), str(tmp_path / "none")])
    expected = {(p.name, p.value, p.dist and (p.dist.name, p.dist.version)) for p in asked(group=registry.GROUP)}
    assert len(expected) == 2
    found = [(p.name, p.value, p.dist and (p.dist.name, p.dist.version)) for p in entry_points(registry.GROUP)]
    assert set(found) == expected and len(found) == 2


def test_other_finders_are_asked_for_their_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib.metadata import Distribution

    class Made(Distribution):
        def read_text(self, filename: str) -> str | None:
            if filename == "METADATA":
                return "Name: elsewhere\nVersion: 1\n"
            return "[tfmemlint.rules]\nx = elsewhere\n" if filename == "entry_points.txt" else None

        def locate_file(self, path: object) -> Path:
            return Path(str(path))

    finder = SimpleNamespace(find_spec=lambda *_: None, find_distributions=lambda *_: [Made()])
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, finder])
    assert "elsewhere" in {point.value for point in entry_points(registry.GROUP)}
