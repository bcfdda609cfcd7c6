"""Which files a run reads: what is named, what lies below, what is left out, and what cannot be read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tfmemlint.config.discover import discover
from tfmemlint.config.settings import Configs


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def tree(*names: str) -> None:
    """Make files, and directories for names that end in a slash."""
    for name in names:
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("/"):
            path.mkdir(exist_ok=True)
        else:
            path.touch()


def files(*paths: str, **settings: object) -> list[str]:
    found = discover(paths or ["."], Configs(overrides=settings))
    assert not [problem.message for problem in found.problems if problem.fails]
    return [target.path.replace(os.sep, "/") for target in found.targets]


def problems(*paths: str) -> list[str]:
    return [problem.message for problem in discover(paths or ["."], Configs()).problems]


def test_python_files_stubs_and_notebooks_in_a_stable_order() -> None:
    """Those of a directory by name, then those of its subdirectories by name."""
    tree("b.py", "a/z.py", "a/y.pyi", "a/in/x.py", "c/n.ipynb", "README.md", "data.txt", "c/x.pyc", "a.py")
    assert files() == ["a.py", "b.py", "a/y.pyi", "a/z.py", "a/in/x.py", "c/n.ipynb"]


def test_paths_stay_as_the_user_reaches_them(here: Path) -> None:
    tree("src/a.py")
    assert files("src") == ["src/a.py"]
    assert files("./src/") == ["src/a.py"]
    assert files(str(here / "src")) == [str(here / "src" / "a.py")]


def test_a_named_file_is_read_whatever_its_name() -> None:
    tree("script", "notes.md", "build/a.py")
    assert files("script", "notes.md", "build/a.py") == ["script", "notes.md", "build/a.py"]


def test_each_file_is_read_once() -> None:
    tree("src/a.py", "src/b.py")
    assert files("src/b.py", "src", ".", "./src/a.py") == ["src/b.py", "src/a.py"]


def test_markdown_is_read_when_asked_for() -> None:
    tree("README.md", "doc/page.qmd", "doc/index.rst", "a.py")
    assert files() == ["a.py"]
    assert files(include_markdown=True) == ["README.md", "a.py", "doc/index.rst", "doc/page.qmd"]


def test_include_patterns() -> None:
    tree("a.py", "bin/tool", "bin/other", "b.pyw")
    assert files(extend_include=("bin/tool", "*.pyw")) == ["a.py", "b.pyw", "bin/tool"]
    assert files(include=("*.pyw",)) == ["b.pyw"]


# -- what is left out -------------------------------------------------------------------------------------------------


def test_directories_of_tools_are_left_out_unless_named() -> None:
    tree(".venv/lib/a.py", "build/b.py", "build/sub/c.py", "node_modules/d.py", "src/dist/e.py", "src/f.py")
    assert files() == ["src/f.py"]
    assert files("build") == ["build/b.py", "build/sub/c.py"]


def test_exclude_replaces_the_defaults_and_extend_exclude_adds() -> None:
    tree("build/a.py", "gen/b.py", "src/gen/c.py", "src/d.py", "src/e_pb2.py")
    assert files(extend_exclude=("gen", "*_pb2.py")) == ["src/d.py"]
    assert files(extend_exclude=("/gen",)) == ["src/d.py", "src/e_pb2.py", "src/gen/c.py"]
    assert files(exclude=("src/gen",)) == ["build/a.py", "gen/b.py", "src/d.py", "src/e_pb2.py"]
    assert files(extend_exclude=("src/*.py",)) == ["gen/b.py", "src/gen/c.py"]


def test_patterns_are_relative_to_the_configuration() -> None:
    tree("project/src/a.py", "project/src/old/b.py", "project/old/c.py")
    Path("project/tfmemlint.toml").write_text('extend-exclude = ["src/old"]\n')
    assert files() == ["project/old/c.py", "project/src/a.py"]
    os.chdir("project/src")
    assert files() == ["a.py"]


def test_a_named_directory_is_read_even_where_a_pattern_leaves_it_out() -> None:
    tree("src/old/b.py")
    Path("tfmemlint.toml").write_text('extend-exclude = ["src/old/"]\n')
    assert files("src") == []
    assert files("src/old") == ["src/old/b.py"]


@pytest.mark.parametrize("path", ["build/a.py", "src/old/b.py", "build", "src/old"])
def test_force_exclude_holds_for_what_is_named(path: str) -> None:
    tree("build/a.py", "src/old/b.py", "src/c.py")
    Path("tfmemlint.toml").write_text('extend-exclude = ["src/old"]\n')
    assert files(path)
    assert files(path, "src/c.py", force_exclude=True) == ["src/c.py"]


def test_gitignore_files_nested_and_negated() -> None:
    every = [
        "a.py",
        "skip.py",
        "gen/b.py",
        "lib/keep.py",
        "lib/gen/c.py",
        "lib/skip.py",
        "lib/only/d.py",
        "lib/only/e.py",
    ]
    tree(*every)
    Path(".gitignore").write_text("# comment\nskip.py\n/gen/\n\n**/only/e.py\n")
    Path("lib/.gitignore").write_text("!skip.py\n/only/d.py\n")
    assert files() == ["a.py", "lib/keep.py", "lib/skip.py", "lib/gen/c.py"]
    assert sorted(files(respect_gitignore=False)) == sorted(every)


def test_gitignore_above_the_named_directory_counts_up_to_the_repository() -> None:
    tree("repo/.git/info/", "repo/src/a.py", "repo/src/secret.py", "repo/src/mine.py", "repo/src/outer.py")
    Path(".gitignore").write_text("outer.py\n")
    Path("repo/.gitignore").write_text("secret.py\n")
    Path("repo/.git/info/exclude").write_text("mine.py\n")
    assert files("repo/src") == ["repo/src/a.py", "repo/src/outer.py"]


def test_a_named_file_is_read_though_git_ignores_it() -> None:
    tree("a.py")
    Path(".gitignore").write_text("a.py\n")
    assert files("a.py") == ["a.py"]
    assert files() == []


def test_a_named_directory_is_read_though_git_ignores_it() -> None:
    tree(".git/", "out/gen/a.py", "out/gen/skip.py")
    Path(".gitignore").write_text("out/\n")
    Path("out/gen/.gitignore").write_text("skip.py\n")
    assert files() == []
    assert files("out") == ["out/gen/a.py"]
    assert files("out/gen") == ["out/gen/a.py"]


@pytest.mark.parametrize("line", ["[z-a].py", "!", "\\", "a**b///", "\ufeffskip.py", "("])
def test_odd_gitignore_lines_do_no_harm(line: str) -> None:
    tree("a.py", "skip.py")
    Path(".gitignore").write_text(f"{line}\nskip.py\n", encoding="utf-8")
    assert files() == ["a.py"]


# -- links, and what cannot be read -----------------------------------------------------------------------------------


def test_a_link_to_a_directory_above_is_one_remark_and_no_loop() -> None:
    tree("src/a.py", "src/deep/b.py")
    Path("src/deep/loop").symlink_to("..", target_is_directory=True)
    found = discover(["."], Configs())
    assert [target.path for target in found.targets] == [
        os.path.join("src", "a.py"),
        os.path.join("src", "deep", "b.py"),
    ]
    (problem,) = found.problems
    assert problem.message == "./src/deep/loop: link to a directory above it (a loop); not followed".replace(
        "/", os.sep
    )
    assert not problem.fails


def test_links_to_directories_are_followed_only_when_named(tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "a.py").touch()
    Path("link").symlink_to(outside, target_is_directory=True)
    assert files() == []
    assert files("link") == ["link/a.py"]


def test_links_to_files_are_read_unless_the_file_is() -> None:
    tree("src/a.py")
    Path("alias.py").symlink_to("src/a.py")
    Path("dangling.py").symlink_to("gone.py")
    assert files() == ["src/a.py"]
    assert files("alias.py") == ["alias.py"]


def test_links_to_files_outside_of_the_named_directory_are_left_out_with_one_line() -> None:
    tree("lib/a.py", "lib/b.py", "src/c.py", "src/in/d.py")
    Path("src/a.py").symlink_to("../lib/a.py")
    Path("src/in/b.py").symlink_to("../../lib/b.py")
    Path("src/alias.py").symlink_to("in/d.py")
    found = discover(["src"], Configs())
    assert [target.path for target in found.targets] == ["src/c.py", "src/in/d.py"]
    assert [(each.message, each.fails) for each in found.problems] == [
        ("src/a.py (and 1 more): link to a file outside of src; left out, name it to read it", False)
    ]
    assert files("src/a.py") == ["src/a.py"], "a link that is named is the user's word"
    assert files(".") == ["lib/a.py", "lib/b.py", "src/c.py", "src/in/d.py"]


def test_links_that_lead_in_a_circle_are_left_out() -> None:
    Path("one.py").symlink_to("two.py")
    Path("two.py").symlink_to("one.py")
    tree("a.py")
    assert "a.py" in [target.path for target in discover(["."], Configs()).targets]


def test_a_missing_path_is_one_line_and_other_paths_are_read() -> None:
    tree("a.py")
    found = discover(["gone.py", "a.py", "nowhere/"], Configs())
    assert [target.path for target in found.targets] == ["a.py"]
    assert [(each.message, each.fails) for each in found.problems] == [
        ("gone.py: no such file or directory", True),
        ("nowhere/: no such file or directory", True),
    ]


def test_a_directory_that_cannot_be_read_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    tree("a/x.py", "b/y.py")
    scandir = os.scandir

    def refusing(path: str) -> object:
        if os.path.basename(path) == "a":
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    found = discover(["."], Configs())
    assert [target.path for target in found.targets] == [os.path.join("b", "y.py")]
    assert [each.message for each in found.problems] == [f".{os.sep}a: directory cannot be read: permission denied"]
    assert found.problems[0].fails


def test_a_broken_configuration_costs_the_files_that_it_governs() -> None:
    tree("a.py", "bad/b.py", "bad/deep/c.py", "good/d.py")
    Path("bad/pyproject.toml").write_text("[tool.tfmemlint]\nfoo = 1\n")
    found = discover(["."], Configs())
    assert [target.path for target in found.targets] == ["a.py", os.path.join("good", "d.py")]
    (problem,) = found.problems
    assert problem.message.startswith(os.path.join("bad", "pyproject.toml") + ": [tool.tfmemlint] foo: unknown key")


def test_each_file_has_the_configuration_of_its_own_directory() -> None:
    tree("a.py", "inner/b.py")
    Path("tfmemlint.toml").write_text("min-bytes = 1\n")
    Path("inner/tfmemlint.toml").write_text("min-bytes = 2\n")
    assert [target.config.min_bytes for target in discover(["."], Configs()).targets] == [1, 2]


@pytest.mark.parametrize("name", ["with space.py", "ünï.py", "-dash.py", "new\nline.py", "a'b\".py", "[x].py"])
def test_odd_names(name: str) -> None:
    tree(name, "sub/a.py")
    assert name in files()
    assert files(name) == [name]


def test_names_that_are_no_text() -> None:
    name = os.fsdecode(b"\xff.py")
    try:
        Path(name).touch()
    except OSError:  # a file system that has only text for names
        name = "plain.py"
        Path(name).touch()
    assert files() == [name]


def test_a_nul_in_a_path_is_one_line() -> None:
    (message,) = problems("a\0b")
    assert "null" in message or "no such file" in message
