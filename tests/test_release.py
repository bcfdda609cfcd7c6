"""What `python -m tfmemlint.dev release` looks at before it builds, on a small checkout of its own. Building and trying
the wheel takes minutes and is what `make release` is for."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tfmemlint.dev import release

CHECKOUT = Path(__file__).parent.parent


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A committed checkout of version 1.2.3 in which all is as it should be."""
    for name, text in {
        "tfmemlint/__init__.py": '"""A tool."""\n\n__version__ = "1.2.3"\n',
        "CHANGELOG.md": "# Changes\n\n## 1.2.3\n\n- new\n\n## 1.2.2\n",
        "README.md": "repos:\n  - repo: here\n    rev: v1.2.3\n",
        "docs/ci.md": "- uses: OWNER/tfmemlint@v1.2.3   # here\n",
        "editors/vscode/package.json": '{"version": "1.2.3"}\n',
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    git(tmp_path, "init", "--quiet")
    commit(tmp_path)
    return tmp_path


def git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    subprocess.run(("git", "-C", str(folder), *identity, *words), check=True, capture_output=True)


def commit(folder: Path) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "all")


def test_the_texts_of_this_checkout_speak_of_its_version() -> None:
    assert list(release.stale_versions(CHECKOUT, release.version_of(CHECKOUT))) == []


def test_nothing_is_said_of_a_checkout_in_order(small: Path) -> None:
    version = release.version_of(small)
    assert version == "1.2.3"
    assert [*release.uncommitted(small), *release.stale_versions(small, version)] == []
    assert list(release.taken_tag(small, version)) == []


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("CHANGELOG.md", "# Changes\n\n## 1.2.2\n", "CHANGELOG.md: the topmost section is 1.2.2, not 1.2.3"),
        ("CHANGELOG.md", "# Changes\n", "CHANGELOG.md: the topmost section is missing, not 1.2.3"),
        ("README.md", "  - repo: here\n    rev: v1.2.0\n", "README.md: v1.2.0, not v1.2.3"),
        ("docs/ci.md", "- uses: OWNER/tfmemlint@v1.2.0\n", "docs/ci.md: v1.2.0, not v1.2.3"),
        ("editors/vscode/package.json", '{"version": "9"}', "editors/vscode/package.json: version 9, not 1.2.3"),
    ],
)
def test_a_text_that_speaks_of_another_version_is_named(small: Path, name: str, text: str, words: str) -> None:
    (small / name).write_text(text)
    assert list(release.stale_versions(small, "1.2.3")) == [words]
    assert list(release.uncommitted(small)) == [f" M {name}"]


def test_a_tag_may_name_this_commit_and_no_other(small: Path) -> None:
    git(small, "tag", "-a", "v1.2.3", "-m", "release")
    assert list(release.taken_tag(small, "1.2.3")) == []
    (small / "new.py").touch()
    commit(small)
    (words,) = release.taken_tag(small, "1.2.3")
    assert words.endswith("raise the version in tfmemlint/__init__.py")


def test_a_version_of_another_form_is_an_error(small: Path) -> None:
    (small / "tfmemlint/__init__.py").write_text('__version__ = "1.2"\n')
    with pytest.raises(ValueError, match="no __version__"):
        release.version_of(small)
