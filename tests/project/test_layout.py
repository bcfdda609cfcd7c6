"""Where the names of imports lead in the layouts that projects have."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tfmemlint.project.layout import MOST_FOLDERS, Layout, Seen, project_root

PACKAGE = "app/__init__.py app/train.py app/data.py app/nets/__init__.py app/nets/conv.py app/nets/deep/__init__.py"
SCRIPTS = "train.py data.py utils/io.py"
SOURCES = "src/app/__init__.py src/app/data.py scripts/train.py tests/test_app.py"

FOUND = [
    # Scripts that lie side by side, and folders of them.
    (SCRIPTS, "train.py", "data", "data.py", ""),
    (SCRIPTS, "train.py", "data.load", "data.py", "load"),
    (SCRIPTS, "train.py", "data.Loader.make", "data.py", "Loader.make"),
    (SCRIPTS, "train.py", "utils", "utils/", ""),
    (SCRIPTS, "train.py", "utils.io", "utils/io.py", ""),
    (SCRIPTS, "train.py", "utils.io.read", "utils/io.py", "read"),
    (SCRIPTS, "train.py", "utils.text", "utils/", "text"),
    (SCRIPTS, "utils/io.py", "data", "data.py", ""),
    (SCRIPTS, "train.py", ".data", "data.py", ""),
    (SCRIPTS, "train.py", "absent", None, ""),
    ("train.py wandb/run-1/log.txt", "train.py", "wandb", None, ""),  # what a library wrote, and no code
    ("train.py wandb/run-1/log.txt", "train.py", "wandb.run", None, ""),
    (SCRIPTS, "train.py", "io", None, ""),
    # A package and what lies below it.
    (PACKAGE, "app/train.py", "app", "app/__init__.py", ""),
    (PACKAGE, "app/train.py", "app.data", "app/data.py", ""),
    (PACKAGE, "app/train.py", "app.load", "app/__init__.py", "load"),
    (PACKAGE, "app/train.py", "app.nets.conv.Block", "app/nets/conv.py", "Block"),
    (PACKAGE, "app/train.py", "data", "app/data.py", ""),  # run as a script
    (PACKAGE, "app/nets/conv.py", "nets.deep", "app/nets/deep/__init__.py", ""),
    # Relative imports.
    (PACKAGE, "app/train.py", ".", "app/__init__.py", ""),
    (PACKAGE, "app/train.py", ".data", "app/data.py", ""),
    (PACKAGE, "app/train.py", ".load", "app/__init__.py", "load"),
    (PACKAGE, "app/nets/conv.py", "..data", "app/data.py", ""),
    (PACKAGE, "app/nets/conv.py", ".deep", "app/nets/deep/__init__.py", ""),
    (PACKAGE, "app/nets/deep/__init__.py", "...data.load", "app/data.py", "load"),
    (PACKAGE, "app/nets/deep/__init__.py", "..conv", "app/nets/conv.py", ""),
    (PACKAGE, "app/nets/__init__.py", ".conv", "app/nets/conv.py", ""),
    (PACKAGE, "app/train.py", "....data", None, ""),  # above the project
    # Code below src, its scripts and its tests.
    (SOURCES, "scripts/train.py", "app.data", "src/app/data.py", ""),
    (SOURCES, "tests/test_app.py", "app", "src/app/__init__.py", ""),
    (SOURCES, "src/app/data.py", "app", "src/app/__init__.py", ""),
    # Packages without an __init__, which several folders may hold parts of.
    ("train.py ns/a/one.py ns/b/two.py", "train.py", "ns.a.one", "ns/a/one.py", ""),
    ("train.py ns/a/one.py ns/b/two.py", "ns/b/two.py", "ns.a.one", "ns/a/one.py", ""),
    ("run/train.py run/ns/x.txt ns/one.py", "run/train.py", "ns.one", "ns/one.py", ""),
    ("train.py empty/x.txt", "train.py", "empty", None, ""),
    # Which of several counts.
    ("train.py data.py data/__init__.py", "train.py", "data", "data/__init__.py", ""),
    ("train.py data.py data/more.py", "train.py", "data", "data.py", ""),
    ("run/train.py run/data.py data.py", "run/train.py", "data", "run/data.py", ""),
    ("run/train.py run/data/notes.py data.py", "run/train.py", "data", "data.py", ""),
    ("run/train.py data.py src/data.py", "run/train.py", "data", "data.py", ""),
    ("net/net.py net/data.py", "net/net.py", "net.data", "net/data.py", ""),  # the folder, and no file of its name
    ("net/net.py net/data.py", "net/data.py", "net.data.load", "net/data.py", "load"),
    ("net/net.py net/data.py", "net/data.py", "net.load", "net/net.py", "load"),
    ("a/train.py b/data.py", "a/train.py", "data", None, ""),  # a folder that nobody is in
]


@pytest.mark.parametrize(("files", "importer", "name", "path", "rest"), FOUND)
def test_name_leads_to(files: str, importer: str, name: str, path: str | None, rest: str, tmp_path: Path) -> None:
    _make(tmp_path, files)
    assert _found(Layout(str(tmp_path)), tmp_path, importer, name) == (path, rest)


def _make(root: Path, files: str) -> None:
    for name in files.split():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()


def _found(layout: Layout, root: Path, importer: str, name: str) -> tuple[str | None, str]:
    """The path of what a name leads to, with a slash behind a folder that is no module, and what is left of it."""
    found = layout.find(str(root / importer), name)
    if found is None:
        return None, ""
    path = found.path if found.path is not None else f"{found.folder}/"
    assert path is not None
    return path.replace(os.sep, "/").removeprefix(f"{root.as_posix()}/"), ".".join(found.rest)


def test_whole_name_of_an_import_chooses_the_folder_of_its_first_part(tmp_path: Path) -> None:
    _make(tmp_path, "run/train.py run/ns/notes/x.txt ns/a/one.py")
    layout = Layout(str(tmp_path))
    top = layout.top(str(tmp_path / "run/train.py"), "ns.a.one")
    assert top is not None and top.folder == str(tmp_path / "ns")
    assert layout.top(str(tmp_path / "run/train.py"), "absent.one") is None


def test_what_was_looked_for_says_which_files_would_change_the_answer(tmp_path: Path) -> None:
    _make(tmp_path, "run/train.py data.py")
    layout = Layout(str(tmp_path))
    layout.find(str(tmp_path / "run/train.py"), "data")
    assert layout.probed[str(tmp_path / "run/data.py")] is False
    assert layout.probed[str(tmp_path / "run/data/__init__.py")] is False
    assert layout.probed[str(tmp_path / "data.py")] is True


@pytest.mark.parametrize(
    ("files", "path", "root"),
    [
        ("pyproject.toml app/train.py", "app/train.py", ""),
        ("setup.py src/app/__init__.py", "src/app/__init__.py", ""),
        ("pyproject.toml part/setup.cfg part/a/b.py", "part/a/b.py", "part"),
        ("tfmemlint.toml a/b/c/d.py", "a/b/c/d.py", ""),
    ],
)
def test_nearest_mark_of_a_project_is_its_root(files: str, path: str, root: str, tmp_path: Path) -> None:
    _make(tmp_path, files)
    assert project_root(str(tmp_path / path)) == str(tmp_path / root if root else tmp_path)


def test_every_folder_below_a_repository_belongs_to_it(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    _make(tmp_path, "a/b/train.py")
    assert project_root(str(tmp_path / "a/b/train.py")) == str(tmp_path)


def _link(link: Path, target: Path) -> None:
    try:
        link.symlink_to(target, target_is_directory=target.is_dir())
    except (OSError, NotImplementedError):
        pytest.skip("links cannot be made here")


def test_links_out_of_the_project_lead_nowhere(tmp_path: Path) -> None:
    root = tmp_path / "project"
    _make(root, "train.py inside.py")
    _make(tmp_path, "outside.py package/__init__.py folder/one.py")
    for name in ("outside.py", "package", "folder"):
        _link(root / name, tmp_path / name)
    _link(root / "again.py", root / "inside.py")
    layout = Layout(str(root))
    for name in ("outside", "package", "folder.one"):
        assert _found(layout, root, "train.py", name) == (None, ""), name
    assert _found(layout, root, "train.py", "again") == ("again.py", "")


def test_links_in_a_circle_end(tmp_path: Path) -> None:
    _make(tmp_path, "train.py a/one.py")
    _link(tmp_path / "a" / "a", tmp_path / "a")
    name = ".".join(["a"] * 50)
    assert Layout(str(tmp_path)).find(str(tmp_path / "train.py"), name) is not None


def test_folders_far_above_are_not_asked(tmp_path: Path) -> None:
    deep = "/".join("d" * (MOST_FOLDERS + 2))
    _make(tmp_path, f"data.py {deep}/train.py {'/'.join('d' * 4)}/near.py")
    layout = Layout(str(tmp_path))
    assert _found(layout, tmp_path, f"{deep}/train.py", "data") == (None, "")
    assert len(layout.probed) < 5 * MOST_FOLDERS


def test_layouts_that_share_what_was_seen_tell_alike_what_was_looked_for(tmp_path: Path) -> None:
    _make(tmp_path, SOURCES)
    importer, seen = str(tmp_path / "scripts/train.py"), Seen()
    first = Layout(str(tmp_path), seen)
    found = first.find(importer, "app.data.load")
    assert found is not None and found.rest == ("load",)
    (tmp_path / "src/app/data.py").unlink()
    for _ in range(2):
        later = Layout(str(tmp_path), seen)
        assert later.find(importer, "app.data.load") == found
        assert later.probed == first.probed
    assert Layout(str(tmp_path)).find(importer, "app.data.load") != found
