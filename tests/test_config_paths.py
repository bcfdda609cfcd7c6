"""Which files a run may write, by what the user named and where links lead."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from command_line import HEAD, Run, write

from tfmemlint.config.paths import leads_away

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links are for those who may make them elsewhere")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with links beside a folder of the user's."""
    for name in ("project/sub", "home"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "home" / "there.json").write_text("precious")
    for name, target in {
        "out.json": "../home/there.json", "new.json": "../home/new.json", "latest.json": "sub/today.json",
        "folder": "../home", "out": "/dev/stdout",
    }.items():  # fmt: skip
        (tmp_path / "project" / name).symlink_to(target)
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("plain.json", False),
        ("../home/there.json", False),
        ("latest.json", False),
        ("/dev/stdout", False),
        ("/dev/fd/1", False),
        ("out.json", True),
        ("new.json", True),
        ("folder/new.json", True),
        ("out", True),
    ],
)
def test_a_link_is_not_taken_for_the_file_that_was_named(path: str, expected: bool, project: Path) -> None:
    assert leads_away(path) is expected
    assert leads_away(os.path.abspath(path)) is expected


@pytest.mark.parametrize("name", ["out.json", "new.json", "out"])
def test_from_above_the_project_too(name: str, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project.parent)
    assert leads_away(f"project/{name}")
    assert not leads_away("project/latest.json")


@pytest.mark.parametrize("name", ["out.json", "folder/there.json"])
def test_a_report_does_not_go_through_a_link_of_the_project(
    name: str, project: Path, run: Run, word_rules: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    write(a=HEAD + "shout\n")
    done = run("check", "-n", "-o", name)
    home = os.path.realpath(project.parent / "home" / "there.json")
    assert done.err == f"tfmemlint: error: --output-file {name}: a link to {home}; name that file itself\n"
    assert done.code == 2
    assert Path(home).read_text() == "precious"
    assert run("check", "-n", "-o", home).code == 1
    assert Path(home).read_text() != "precious"
