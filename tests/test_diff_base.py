"""Findings in what changed since a git revision."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from tfmemlint.cli.commands import main
from tfmemlint.finding import Finding, Severity, Span
from tfmemlint.lint.changed_lines import changed_lines, keep_changed
from tfmemlint.lint.engine import FileResult
from tfmemlint.lint.git import GitError
from tfmemlint.text.read import read_source

PIPELINE = """\
import tensorflow as tf

a = tf.data.Dataset.range(9).cache()
b = (
    tf.data.Dataset.range(9)
    .map(f)
    .repeat()
    .cache()
)
c = tf.data.Dataset.range(9).cache()
"""


class Repository:
    """A git repository in a temporary folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str) -> str:
        settings = ("-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
        command = ("git", "-C", str(self.folder), *settings, *arguments)
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        return path

    def commit(self) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "state")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    return Repository(tmp_path / "project")


def linted(path: Path) -> FileResult:
    source = read_source(path.read_bytes(), str(path))
    findings = [
        Finding("TFM305", "cache-after-repeat", Severity.WARNING, "wastes", Span(match.start(), match.end()))
        for match in re.finditer(r"\bcache(?=\()", source.text)
    ]
    return FileResult(str(path), source, tuple(findings))


def names(path: Path, ref: str = "HEAD") -> list[str]:
    """The variables whose findings are kept."""
    (result,) = keep_changed([linted(path)], ref)
    assert result.source is not None
    kept = []
    for finding in result.findings:
        before = result.source.text[: finding.span.start]
        kept.append(re.findall(r"^\s*(\w+) = ", before, re.MULTILINE)[-1])
    return kept


def test_nothing_is_kept_where_nothing_changed(repository: Repository) -> None:
    path = repository.write("train.py", PIPELINE)
    repository.commit()
    assert names(path) == []
    assert keep_changed([linted(path)], "HEAD")[0].source is not None


@pytest.mark.parametrize(
    ("old", "new", "kept"),
    [
        ("import tensorflow", "import os\nimport tensorflow", []),
        ("a = tf", "a =  tf", ["a"]),
        ("    .map(f)\n", "    .map(g)\n", ["b"]),
        ("b = (\n", "b = (  # why\n", ["b"]),
        ("    .map(f)\n", "", ["b"]),
        ("    .map(f)\n", "    .map(f)\n    .batch(2)\n", ["b"]),
        (")\nc = ", ")\n\n\nc = ", []),
        ("\na = ", "\n\na = ", []),
        ("cache()\nb", "cache(\n)\nb", ["a"]),
        ("    .cache()\n)\n", ").cache()\n", ["b"]),
        ("c = tf.data.Dataset.range(9).cache()\n", "c = tf.data.Dataset.range(9).cache()", ["c"]),
        ("range(9).cache()\n", "range(8).cache()\n", ["a", "c"]),
    ],
)
def test_a_finding_is_kept_when_a_line_of_its_statement_changed(
    repository: Repository, old: str, new: str, kept: list[str]
) -> None:
    path = repository.write("train.py", PIPELINE)
    repository.commit()
    assert old in PIPELINE
    repository.write("train.py", PIPELINE.replace(old, new))
    assert names(path) == kept
    repository.git("add", "--all")
    assert names(path) == kept, "staged or not is all the same"


def test_a_removed_statement_between_two_changes_neither(repository: Repository) -> None:
    path = repository.write("train.py", PIPELINE.replace(")\nc = ", ")\nx = 1\nc = "))
    repository.commit()
    repository.write("train.py", PIPELINE)
    assert names(path) == []


def test_the_body_does_not_make_its_header_changed(repository: Repository) -> None:
    path = repository.write("train.py", "with f(x.cache()) as y:\n    z = 1\n")
    repository.commit()
    repository.write("train.py", "with f(x.cache()) as y:\n    z = 2\n")
    assert keep_changed([linted(path)], "HEAD")[0].findings == ()


def test_lines_that_look_like_a_diff_are_content(repository: Repository) -> None:
    path = repository.write("train.py", PIPELINE + "x = '''\n-- a\n'''")
    repository.write("other.py", PIPELINE)
    repository.commit()
    repository.write("train.py", PIPELINE + "x = '''\n++ b/other.py\n@@ -1 +1,9 @@\n'''")
    repository.write("other.py", PIPELINE.replace("a = ", "a  = "))
    assert names(path) == []
    assert changed_lines("HEAD", [str(repository.folder / "other.py")]).popitem()[1].rows == ((3, 3),)


def test_older_revisions_branches_and_tags_can_be_named(repository: Repository) -> None:
    path = repository.write("train.py", PIPELINE)
    repository.commit()
    repository.git("tag", "old")
    repository.write("train.py", PIPELINE.replace("c = ", "c  = "))
    repository.commit()
    repository.git("branch", "next")
    repository.write("train.py", PIPELINE.replace("c = ", "c  = ").replace("a = ", "a =  "))
    assert names(path, "next") == ["a"]
    assert len(keep_changed([linted(path)], "old")[0].findings) == 2
    assert len(keep_changed([linted(path)], "HEAD~1")[0].findings) == 2


@pytest.mark.parametrize("name", ["new name.py", "größe.py", 'quo"te\t.py', "sub/dir/new.py", "-x.py", "script"])
def test_renamed_files_are_followed_whatever_their_name(repository: Repository, name: str) -> None:
    old = repository.write("old.py" if name != "script" else "old", PIPELINE)
    repository.commit()
    old.unlink()
    path = repository.write(name, PIPELINE.replace("c = ", "c =  "))
    repository.git("add", "--all")
    assert names(path) == ["c"]


def test_a_file_that_was_only_renamed_has_no_changes(repository: Repository) -> None:
    repository.write("old.py", PIPELINE)
    repository.commit()
    repository.git("mv", "old.py", "new.py")
    assert names(repository.folder / "new.py") == []


def test_untracked_ignored_and_added_files_are_new_from_start_to_end(repository: Repository) -> None:
    repository.write(".gitignore", "ignored.py\n")
    repository.commit()
    paths = [repository.write(name, PIPELINE) for name in ("untracked.py", "ignored.py", "added.py")]
    repository.git("add", "added.py")
    assert [names(path) for path in paths] == [["a", "b", "c"]] * 3


@pytest.mark.parametrize("ref", ["HEAD", "main"])
def test_on_a_branch_without_commits_everything_is_new(repository: Repository, ref: str) -> None:
    assert names(repository.write("train.py", PIPELINE), ref) == ["a", "b", "c"]


def test_users_settings_for_diffs_do_not_matter(repository: Repository) -> None:
    path = repository.write("train.py", PIPELINE)
    repository.write(".gitattributes", "*.py binary\n")
    repository.commit()
    for key, value in (
        ("diff.noprefix", "true"), ("diff.mnemonicPrefix", "true"), ("diff.external", "false"), ("color.ui", "always"),
        ("diff.context", "9"), ("diff.interHunkContext", "9"), ("diff.renames", "false"), ("diff.relative", "true"),
        ("core.quotePath", "false"),
    ):  # fmt: skip
        repository.git("config", key, value)
    repository.write("train.py", PIPELINE.replace("import", "import ", 1).replace("c = ", "c =  "))
    assert names(path) == ["c"]


def test_variables_of_a_git_hook_do_not_matter(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    path = repository.write("sub/train.py", PIPELINE)
    repository.commit()
    repository.write("sub/train.py", PIPELINE.replace("c = ", "c =  "))
    monkeypatch.setenv("GIT_DIR", ".git")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere/index")
    assert names(path) == ["c"]


def test_files_of_several_repositories_and_relative_paths(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Repository(tmp_path / "other")
    for each in (repository, other):
        each.write("src/train.py", PIPELINE)
        each.commit()
    other.write("src/train.py", PIPELINE.replace("c = ", "c =  "))
    monkeypatch.chdir(repository.folder / "src")
    results = keep_changed([linted(Path("train.py")), linted(Path("../../other/src/train.py"))], "HEAD")
    assert [len(result.findings) for result in results] == [0, 1]


def notebook(*cells: str, count: int = 1, indent: int | None = 1) -> str:
    made = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": count, "source": cell.splitlines(True)}
        for cell in cells
    ]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=indent) + "\n"


@pytest.mark.parametrize("indent", [1, None])
def test_of_a_notebook_the_code_is_compared(repository: Repository, indent: int | None) -> None:
    cells = ("import tensorflow as tf", "a = x.cache()\nb = x.cache()", "c = x.cache()")
    path = repository.write("train.ipynb", notebook(*cells, indent=indent))
    repository.commit()
    repository.write("train.ipynb", notebook(*cells, count=7, indent=indent))
    assert names(path) == []
    changed = ("import tensorflow as tf", "new = 1", "a = x.cache()\nb =  x.cache()", "c = x.cache()")
    repository.write("train.ipynb", notebook(*changed, count=7, indent=indent))
    assert names(path) == ["b"]


def test_a_notebook_that_could_not_be_read_before_is_new(repository: Repository) -> None:
    path = repository.write("train.ipynb", "not a notebook")
    repository.commit()
    repository.write("train.ipynb", notebook("a = x.cache()"))
    assert names(path) == ["a"]


def test_rows_of_markdown_are_those_of_the_file(repository: Repository) -> None:
    text = "# Title\n\n```python\nimport tensorflow as tf\na = x.cache()\n```\n\nwords\n\n"
    text += "```python\nb = x.cache()\n```\n"
    path = repository.write("guide.md", text)
    repository.commit()
    repository.write("guide.md", text.replace("words", "other words").replace("b = x", "b = y"))
    assert names(path) == ["b"]


def test_files_that_cannot_be_checked_are_told_of_where_they_changed(repository: Repository) -> None:
    path = repository.write("train.py", "x = (\n")
    repository.commit()
    internal = Finding("TFM000", "internal-error", Severity.ERROR, "a rule failed", Span(0, 0))
    failure = Finding("TFM002", "syntax-error", Severity.ERROR, "cannot parse", Span(0, 0))
    unreadable = Finding("TFM001", "unreadable-file", Severity.ERROR, "cannot be read", Span(0, 0))
    results = [
        FileResult(str(path), read_source(path.read_bytes(), str(path)), (failure, internal)),
        FileResult(str(path), None, (unreadable,)),
    ]
    assert [each.findings for each in keep_changed(results, "HEAD")] == [(internal,), ()]
    path.write_text("x = (\n\ny = 1\n")
    assert keep_changed(results, "HEAD") == results


def one_line(ref: str, path: Path) -> str:
    with pytest.raises(GitError) as caught:
        changed_lines(ref, [str(path)])
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("ref", ["nonesuch", "HEAD~9", "--output=stolen", "", "HEAD:train.py"])
def test_an_unknown_revision_is_named(repository: Repository, ref: str) -> None:
    path = repository.write("train.py", PIPELINE)
    repository.commit()
    assert f"--diff-base {ref}: no such revision" in one_line(ref, path)
    assert sorted(each.name for each in repository.folder.iterdir()) == [".git", "train.py"]


def test_an_unknown_revision_is_named_even_without_findings(repository: Repository) -> None:
    path = repository.write("train.py", "x = 1\n")
    with pytest.raises(GitError, match="no such revision"):
        keep_changed([linted(path)], "nonesuch")


def test_a_file_outside_any_repository_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    path = tmp_path / "train.py"
    path.write_text(PIPELINE)
    assert f"{path}: not in a git repository" in one_line("HEAD", path)


def test_without_git_one_line_says_so(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    path = repository.write("train.py", PIPELINE)
    monkeypatch.setenv("PATH", str(repository.folder))
    assert "git was not found" in one_line("HEAD", path)


# --- through the command line


WASTE = "import tensorflow as tf\na = tf.data.Dataset.range(9).repeat().cache()\n"


def check(*arguments: str) -> int:
    return main(["check", "--isolated", "--no-cache", "--select=TFM305", "--output-format=concise", *arguments])


def test_check_reports_and_repairs_changed_lines_only(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    path = repository.write("train.py", WASTE)
    repository.commit()
    assert check("--diff-base=HEAD", str(path)) == 0
    repository.write("train.py", "# new\n" + WASTE + WASTE.splitlines()[1].replace("a =", "b ="))
    capsys.readouterr()
    assert check("--diff-base=HEAD", str(path)) == 1
    assert [line.split(":")[1] for line in capsys.readouterr().out.splitlines() if "TFM305" in line] == ["4"]
    assert check("--diff-base=HEAD", "--fix", str(path)) == 0
    assert path.read_text() == "# new\n" + WASTE + "b = tf.data.Dataset.range(9).cache().repeat()"


def test_a_wrong_revision_stops_the_run(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    path = repository.write("train.py", WASTE)
    repository.commit()
    assert check("--diff-base=nonesuch", str(path)) == 2
    output = capsys.readouterr()
    assert len(output.err.splitlines()) == 1 and "--diff-base nonesuch: no such revision" in output.err
    assert output.out == ""


def test_of_a_notebook_and_a_document_what_changed_is_reported(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    head, waste = WASTE.splitlines()
    nb = repository.write("train.ipynb", notebook(head, waste))
    guide = repository.write("guide.md", f"```python\n{WASTE}```\n")
    repository.commit()
    assert check("--diff-base=HEAD", str(nb), str(guide)) == 0
    repository.write("train.ipynb", notebook(head, "new = 1", waste, waste.replace("a =", "b =")))
    repository.write("guide.md", f"# Title\n\n```python\n{WASTE}{waste.replace('a =', 'c =')}\n```\n")
    capsys.readouterr()
    assert check("--diff-base=HEAD", str(nb), str(guide)) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" TFM305")[0].split("/")[-1] for line in lines] == ["train.ipynb:cell 4:1:39:", "guide.md:6:39:"]


def test_a_new_file_is_reported_whole(repository: Repository) -> None:
    repository.write("old.py", "x = 1\n")
    repository.commit()
    path = repository.write("train.py", WASTE)
    assert check("--diff-base=HEAD", str(path)) == 1
