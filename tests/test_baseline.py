"""Accepted findings: what an entry survives, when it is stale, and what is said about a baseline that is none."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tfmemlint.cli.commands import main
from tfmemlint.finding import Finding, Severity, Span
from tfmemlint.lint.baseline import Baseline, BaselineError, write_baseline
from tfmemlint.lint.engine import FileResult
from tfmemlint.text.read import read_source

MARKS = {"cache": ("TFM305", "cache-after-repeat"), "GradientTape": ("TFM402", "persistent-tape")}


def linted(path: Path, text: str) -> FileResult:
    """The result for a file with a finding at each `cache(` and `GradientTape(`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    source = read_source(text.encode(), str(path))
    findings = [
        Finding(*MARKS[match[1]], Severity.WARNING, f"at {match.start()}", Span(match.start(), match.end() - 1))
        for match in re.finditer(r"\b(cache|GradientTape)\(", source.text)
    ]
    return FileResult(str(path), source, tuple(sorted(findings, key=lambda finding: finding.sort_key)))


def rest(folder: Path, before: str, after: str) -> tuple[int, int, int]:
    """How many findings are left, matched and stale when `before` was accepted and the file became `after`."""
    baseline = folder / "baseline.json"
    write_baseline(str(baseline), [linted(folder / "a.py", before)])
    found = Baseline.load(str(baseline)).filter([linted(folder / "a.py", after)])
    return len(found.results[0].findings), found.matched, len(found.stale)


ACCEPTED = "ds = tf.data.Dataset.range(9).map(f, num_parallel_calls=4).cache()\n"


@pytest.mark.parametrize(
    "after",
    [
        ACCEPTED,
        "import os\n\n\n# moved\n" + ACCEPTED,
        "def build():\n    with x:\n        " + ACCEPTED,
        ACCEPTED.replace("\n", "  # a comment\n"),
        "ds = tf.data.Dataset.range(9) \\\n    .map( f,num_parallel_calls = 4 ) \\\n    .cache()\n",
        "ds = (\n  tf.data.Dataset.range(9)\n  .map(\n    f,  # why\n    num_parallel_calls=4,\n  )\n  .cache()\n)\n",
        "if x:\n    other = 1\n" + ACCEPTED,
        "x = 1; " + ACCEPTED,
        "if x: " + ACCEPTED,
    ],
)
def test_an_entry_survives_moves_and_reformatting(tmp_path: Path, after: str) -> None:
    assert rest(tmp_path, ACCEPTED, after) == (0, 1, 0)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x.cache('a', 'it\\'s', '''b''')\n", 'x.cache("a", "it\'s", """b""")\n'),
        ("x.cache('a, '\n        'b')\n", 'x.cache("a, b")\n'),
        ("x, = y.cache()\n", "(x,) = y.cache()\n"),
        ("assert(x.cache());\n", "assert x.cache()\n"),
    ],
)
def test_an_entry_survives_what_formatters_do(tmp_path: Path, before: str, after: str) -> None:
    assert rest(tmp_path, before, after) == (0, 1, 0)


@pytest.mark.parametrize(
    "after",
    [
        ACCEPTED.replace("9", "10"),
        ACCEPTED.replace("ds =", "other ="),
        ACCEPTED.replace(".cache()", ".cache('file')"),
        ACCEPTED.replace("f,", "'f',"),
    ],
)
def test_an_entry_ends_when_the_statement_changes(tmp_path: Path, after: str) -> None:
    assert rest(tmp_path, ACCEPTED, after) == (1, 0, 1)


def test_another_finding_of_the_same_statement_is_not_accepted(tmp_path: Path) -> None:
    assert rest(tmp_path, "f(x, a.cache())\n", "f(x, a.cache())\nwith GradientTape() as t: pass\n") == (1, 1, 0)


def test_a_header_and_its_body_are_apart(tmp_path: Path) -> None:
    before = "with GradientTape(persistent=True) as tape:\n    a.cache()\n"
    assert rest(tmp_path, before, before.replace("a.cache", "b.cache")) == (1, 1, 1)


def test_of_several_alike_as_many_are_accepted_as_there_were(tmp_path: Path) -> None:
    assert rest(tmp_path, "a.cache()\nb = 1\na.cache()\n", "a.cache()\n" * 3) == (1, 2, 0)
    assert rest(tmp_path, "a.cache()\na.cache()\n", "a.cache()\n") == (0, 1, 1)


def test_findings_of_other_files_stand(tmp_path: Path) -> None:
    baseline = str(tmp_path / "baseline.json")
    write_baseline(baseline, [linted(tmp_path / "a.py", ACCEPTED)])
    found = Baseline.load(baseline).filter([linted(tmp_path / "b.py", ACCEPTED), linted(tmp_path / "a.py", ACCEPTED)])
    assert [len(result.findings) for result in found.results] == [1, 0]


def test_a_clean_file_makes_its_entries_stale(tmp_path: Path) -> None:
    assert rest(tmp_path, ACCEPTED, "x = 1\n") == (0, 0, 1)


def test_a_skipped_file_makes_its_entries_stale(tmp_path: Path) -> None:
    baseline, path = str(tmp_path / "baseline.json"), tmp_path / "a.py"
    write_baseline(baseline, [linted(path, ACCEPTED)])
    (entry,) = Baseline.load(baseline).filter([FileResult(str(path), skipped=True)]).stale
    assert (entry.path, entry.code) == ("a.py", "TFM305")


def test_what_was_not_checked_is_not_stale(tmp_path: Path) -> None:
    baseline, path = str(tmp_path / "baseline.json"), tmp_path / "a.py"
    write_baseline(baseline, [linted(path, ACCEPTED)])
    loaded = Baseline.load(baseline)
    clean = FileResult(str(path), read_source(b"x = 1\n", str(path)))
    failure = Finding("TFM002", "syntax-error", Severity.ERROR, "cannot parse", Span(0, 0))
    broken = FileResult(str(path), read_source(b"x = (\n", str(path)), (failure,), failures=(failure,))
    assert loaded.filter([]).stale == []
    assert loaded.filter([clean], ran={"TFM402"}).stale == []
    assert loaded.filter([broken]).stale == []
    assert loaded.filter([broken]).results[0].findings == (failure,)
    path.unlink()
    assert len(loaded.filter([]).stale) == 1


def test_a_failure_of_the_tool_is_not_accepted(tmp_path: Path) -> None:
    baseline = str(tmp_path / "baseline.json")
    failure = Finding("TFM000", "internal-error", Severity.ERROR, "a rule failed", Span(0, 0))
    assert write_baseline(baseline, [FileResult("a.py", None, (failure,))]) == 0
    assert Baseline.load(baseline).filter([FileResult("a.py", None, (failure,))]).results[0].findings == (failure,)


def test_files_that_cannot_be_checked_are_accepted(tmp_path: Path) -> None:
    baseline, path = str(tmp_path / "baseline.json"), str(tmp_path / "a.py")
    unreadable = Finding("TFM001", "unreadable-file", Severity.ERROR, "cannot be decoded", Span(0, 0))
    unparsable = Finding("TFM002", "syntax-error", Severity.ERROR, "cannot parse", Span(4, 4))

    def broken(text: str) -> FileResult:
        return FileResult(path, read_source(text.encode(), path), (unparsable,), failures=(unparsable,))

    results = [FileResult(str(tmp_path / "b.py"), None, (unreadable,), failures=(unreadable,)), broken("x = (\n")]
    assert write_baseline(baseline, results) == 2
    assert [each.findings for each in Baseline.load(baseline).filter(results).results] == [(), ()]
    assert Baseline.load(baseline).filter([broken("y = (\n")]).results[0].findings == (unparsable,)


def test_notebook_findings_survive_new_cells(tmp_path: Path) -> None:
    def notebook(*cells: str) -> str:
        empty = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
        made = [{**empty, "source": [cell]} for cell in cells]
        return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})

    baseline = str(tmp_path / "baseline.json")
    write_baseline(baseline, [linted(tmp_path / "a.ipynb", notebook("x = 1", "ds.cache()"))])
    found = Baseline.load(baseline).filter([linted(tmp_path / "a.ipynb", notebook("y = 2", "x = 1", "", "ds.cache()"))])
    assert (found.results[0].findings, found.matched, found.stale) == ((), 1, [])


def test_the_file_is_stable_and_holds_no_lines(tmp_path: Path) -> None:
    results = [linted(tmp_path / "sub" / "b.py", ACCEPTED), linted(tmp_path / "a.py", "a.cache()\n" + ACCEPTED)]
    path = tmp_path / "baseline.json"
    assert write_baseline(str(path), results) == 3
    text = path.read_text()
    write_baseline(str(path), reversed(results))
    assert path.read_text() == text
    document = json.loads(text)
    assert [entry["path"] for entry in document["entries"]] == ["a.py", "a.py", "sub/b.py"]
    assert {key for entry in document["entries"] for key in entry} == {"path", "code", "statement", "occurrence"}
    assert len(text.splitlines()) == 5 + 3
    assert list(tmp_path.glob(".*")) == []


def test_an_empty_baseline_can_be_read_back(tmp_path: Path) -> None:
    assert write_baseline(str(tmp_path / "b.json"), []) == 0
    assert Baseline.load(str(tmp_path / "b.json")).entries == frozenset()


def test_paths_start_from_the_baseline_wherever_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ci").mkdir()
    result = linted(tmp_path / "src" / "a.py", ACCEPTED)
    write_baseline(str(tmp_path / "ci" / "baseline.json"), [result])
    monkeypatch.chdir(tmp_path / "src")
    relative = FileResult("a.py", result.source, result.findings)
    found = Baseline.load("../ci/baseline.json").filter([relative])
    assert found.results[0].findings == ()
    assert "../src/a.py" in (tmp_path / "ci" / "baseline.json").read_text()


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        '{"version": 1}',
        '{"version": 1, "entries": [{"path": "a.py"}]}',
        '{"version": 1, "entries": [\n<<<<<<< HEAD\n]}',
        '{"version": "1", "entries": []}',
        "\ufeff\x00",
        '{"version": 2, "entries": []}',
    ],
)
def test_what_is_no_baseline_gives_one_line_that_names_it(tmp_path: Path, content: str) -> None:
    path = tmp_path / "baseline.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(BaselineError) as caught:
        Baseline.load(str(path))
    message = str(caught.value)
    assert message.startswith(f"{path}: ") and "\n" not in message
    assert "--write-baseline" in message


def test_a_missing_and_an_unreadable_baseline_say_so(tmp_path: Path) -> None:
    with pytest.raises(BaselineError, match="no such baseline; write it with"):
        Baseline.load(str(tmp_path / "none.json"))
    with pytest.raises(BaselineError, match="cannot be read"):
        Baseline.load(str(tmp_path))
    with pytest.raises(BaselineError, match="cannot be written"):
        write_baseline(str(tmp_path / "no" / "such" / "folder.json"), [])


# --- through the command line


HEAD = "import tensorflow as tf\n\n"
WASTE = "ds = tf.data.Dataset.range(9).repeat().cache()\n"


def check(*arguments: str) -> int:
    return main(["check", "--no-cache", "--output-format=concise", *arguments])


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one wasteful file and a configuration that names a baseline, which is written."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(HEAD + WASTE)
    (tmp_path / "tfmemlint.toml").write_text("select = ['TFM305']\nbaseline = 'accepted.json'\n")
    assert check("--write-baseline", "train.py") == 0
    return tmp_path


def test_accepted_findings_pass_and_new_ones_fail(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = project / "train.py"
    assert check("train.py") == 0
    path.write_text(HEAD + "# moved\n\n" + WASTE.replace(".repeat()", "\\\n    .repeat( )"))
    assert check("train.py") == 0
    path.write_text(HEAD + WASTE + WASTE.replace("ds", "other"))
    capsys.readouterr()
    assert check("train.py") == 1
    assert "train.py:4:" in capsys.readouterr().out


def test_accepted_findings_are_not_repaired(project: Path) -> None:
    path = project / "train.py"
    path.write_text(HEAD + WASTE + WASTE.replace("ds", "other"))
    assert check("--fix", "train.py") == 0
    assert path.read_text() == HEAD + WASTE + "other = tf.data.Dataset.range(9).cache().repeat()\n"


def test_stale_entries_are_told_and_fail_nothing(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "train.py").write_text(HEAD)
    assert check("train.py") == 0
    output = capsys.readouterr()
    assert "accepted.json" in output.err and "train.py" in output.err and "TFM305" in output.err
    assert check("--select=TFM402", "train.py") == 0
    assert "TFM305" not in capsys.readouterr().err


@pytest.mark.parametrize("content", [None, "{"])
def test_a_baseline_that_cannot_be_used_stops_the_run(
    content: str | None, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = project / "accepted.json"
    path.unlink() if content is None else path.write_text(content)
    assert check("train.py") == 2
    output = capsys.readouterr()
    assert len(output.err.splitlines()) == 1 and "accepted.json: " in output.err
    assert output.out == ""


def entries(project: Path) -> list[tuple[str, str]]:
    document = json.loads((project / "accepted.json").read_text())
    return [(entry["path"], entry["code"]) for entry in document["entries"]]


@pytest.fixture
def parts(project: Path) -> Path:
    """The project with two more files, `a/one.py` and `b/two.py`, all of them accepted."""
    for name in ("a/one.py", "b/two.py"):
        (project / name).parent.mkdir()
        (project / name).write_text(HEAD + WASTE)
    assert check("--write-baseline") == 0
    assert entries(project) == [("a/one.py", "TFM305"), ("b/two.py", "TFM305"), ("train.py", "TFM305")]
    return project


def test_writing_for_a_part_renews_that_part(parts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (parts / "a/one.py").write_text(HEAD)
    (parts / "b/two.py").write_text(HEAD)
    (parts / "a/new.py").write_text(HEAD + WASTE)
    assert check("--write-baseline", "a") == 0
    assert "accepted 1 finding in accepted.json and kept 2 of what was not checked\n" in capsys.readouterr().err
    assert entries(parts) == [("a/new.py", "TFM305"), ("b/two.py", "TFM305"), ("train.py", "TFM305")]
    assert check("--write-baseline") == 0
    assert "accepted 2 findings in accepted.json\n" in capsys.readouterr().err
    assert entries(parts) == [("a/new.py", "TFM305"), ("train.py", "TFM305")]


def test_writing_for_a_part_forgets_files_that_are_gone(parts: Path) -> None:
    (parts / "a/one.py").unlink()
    (parts / "b/two.py").unlink()
    assert check("--write-baseline", "train.py") == 0
    assert entries(parts) == [("train.py", "TFM305")]


def test_writing_with_other_rules_keeps_what_they_say_nothing_of(parts: Path) -> None:
    assert check("--write-baseline", "--select=TFM402") == 0
    assert len(entries(parts)) == 3
    (parts / "b/two.py").write_text(HEAD)
    assert check("--write-baseline", "--select=TFM305") == 0
    assert entries(parts) == [("a/one.py", "TFM305"), ("train.py", "TFM305")]


def test_writing_keeps_the_entries_of_a_file_that_could_not_be_checked(parts: Path) -> None:
    (parts / "a/one.py").write_text(HEAD + "def f(:\n")
    assert check("--write-baseline") == 0
    assert len(entries(parts)) == 4
    assert ("a/one.py", "TFM002") in entries(parts)
    assert check() == 0


def test_writing_from_another_directory_knows_its_part(parts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (parts / "a/one.py").write_text(HEAD)
    monkeypatch.chdir(parts / "a")
    assert check("--write-baseline") == 0
    assert entries(parts) == [("b/two.py", "TFM305"), ("train.py", "TFM305")]
    (parts / "b/two.py").write_text(HEAD)
    assert check("--write-baseline", "..") == 0
    assert entries(parts) == [("train.py", "TFM305")]


CONFLICT = """\
{
  "version": 1,
  "entries": [
<<<<<<< HEAD
    {"path":"a.py","code":"TFM305","statement":"0000000000000000","occurrence":1}
=======
    {"path":"b.py","code":"TFM305","statement":"0000000000000000","occurrence":1}
>>>>>>> theirs
  ]
}
"""
DAMAGED = (
    "<<<<<<< HEAD\n", "", " \n", CONFLICT, CONFLICT[:60], "<<<<<<< HEAD\n" + CONFLICT, CONFLICT.replace("\n", "\r\n"),
    '{"entries": [1, 2], "version": "x"}', '{"version": 99, "entries": []}',
)  # fmt: skip


@pytest.mark.parametrize("text", DAMAGED)
def test_a_damaged_baseline_is_written_anew(text: str, parts: Path) -> None:
    (parts / "accepted.json").write_bytes(text.encode())
    assert check("--write-baseline", "a") == 0
    assert entries(parts) == [("a/one.py", "TFM305")]


OTHERS = (
    '{"auths": {"registry": {"auth": "key"}}}', '{"name": "x", "version": 1}', '{"entries": []}', "[]", "1",
    "x = 1\n", '{"name": "x", "version": 1, "entries": [', "[" * 100_000, "\0",
)  # fmt: skip


@pytest.mark.parametrize("text", OTHERS)
def test_nothing_else_is_taken_for_a_damaged_baseline(
    text: str, parts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (parts / "accepted.json").write_text(text)
    (parts / "package.json").write_text(text)
    for word in ("--write-baseline", "--write-baseline=package.json"):
        assert check(word, "a") == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert line.endswith("not a baseline of tfmemlint; it is not overwritten, name another file")
    assert (parts / "accepted.json").read_text() == (parts / "package.json").read_text() == text


WAYS_OUT = ("../{outside}/elsewhere.json", "~/elsewhere.json", "link.json", "link/elsewhere.json", "dangling.json")


@pytest.mark.parametrize("value", WAYS_OUT)
@pytest.mark.parametrize("there", [True, False])
def test_a_configuration_does_not_choose_what_is_written_elsewhere(
    value: str,
    there: bool,
    parts: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    value = value.format(outside=outside.name)
    monkeypatch.setenv("HOME", str(outside))
    if there:
        (outside / "elsewhere.json").write_text('{"version": 1, "entries": []}')
    (parts / "link.json").symlink_to(outside / "elsewhere.json")
    (parts / "dangling.json").symlink_to(outside / "nowhere.json")
    (parts / "link").symlink_to(outside, target_is_directory=True)
    (parts / "tfmemlint.toml").write_text(f"select = ['TFM305']\nbaseline = '{value}'\n")

    def state() -> dict[Path, str]:
        return {path: path.read_text() for folder in (parts, outside) for path in folder.rglob("*") if path.is_file()}

    before = state()
    assert check("--write-baseline", "a") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "the baseline lies outside of " in line and "--write-baseline=FILE" in line
    assert state() == before
    if value.startswith(("link", "dangling")):
        assert check(f"--write-baseline={value}", "a") == 2, "a link in the project is nobody's word"
        assert state() == before
    assert check(f"--write-baseline={outside / 'named.json'}", "a") == 0
    assert (outside / "named.json").exists()


def test_a_link_inside_the_project_stays(parts: Path) -> None:
    (parts / "ci").mkdir()
    (parts / "accepted.json").unlink()
    (parts / "accepted.json").symlink_to("ci/accepted.json")
    for _ in range(2):
        assert check("--write-baseline", "a") == 0
        assert (parts / "accepted.json").is_symlink() and (parts / "ci/accepted.json").is_file()


def test_names_that_are_no_text_are_accepted_and_forgotten(parts: Path) -> None:
    name = parts / "a" / "\udcff.py"
    name.write_text(HEAD + WASTE)
    assert check("--write-baseline") == 0
    assert ("a/\\xff.py", "TFM305") in entries(parts)
    assert check() == 0
    assert check("--write-baseline", "b") == 0
    assert ("a/\\xff.py", "TFM305") in entries(parts), "the file is still there"
    name.unlink()
    assert check("--write-baseline", "b") == 0
    assert ("a/\\xff.py", "TFM305") not in entries(parts)


def test_a_file_that_is_no_baseline_is_not_overwritten(parts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check("--write-baseline=train.py") == 2
    assert "train.py: not a baseline of tfmemlint; it is not overwritten, name another file" in capsys.readouterr().err
    assert (parts / "train.py").read_text() == HEAD + WASTE


def test_only_what_changed_cannot_be_accepted(parts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check("--write-baseline", "--diff-base=HEAD") == 2
    assert "--write-baseline and --diff-base cannot be used together" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--least-cost=1GiB", "--min-bytes=1GiB", "--max-tensor=1GiB", "--gpu-memory=8GiB"])
def test_other_limits_make_no_entry_stale(option: str, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "train.py").write_text(HEAD)
    assert check(option, "train.py") == 0
    assert "stale" not in capsys.readouterr().err


def test_accepted_findings_of_a_notebook_pass_when_cells_are_added(project: Path) -> None:
    def notebook(*cells: str) -> str:
        made = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": cell} for cell in cells]
        return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})

    path = project / "demo.ipynb"
    path.write_text(notebook(HEAD, WASTE))
    assert check("demo.ipynb") == 1
    assert check("--write-baseline") == 0
    assert check("demo.ipynb") == 0
    path.write_text(notebook("import os", HEAD, "x = 1", WASTE.replace(".cache()", ".cache( )")))
    assert check("demo.ipynb") == 0
    path.write_text(notebook(HEAD, WASTE, WASTE.replace("ds", "other")))
    assert check("demo.ipynb") == 1
