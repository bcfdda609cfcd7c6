"""What `tfmemlint check` writes in each format for Python files, notebooks, documents and files that do not parse."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from command_line import Run

WASTE = "ds = tf.data.Dataset.range(9).repeat().cache()"
REPAIRED = "ds = tf.data.Dataset.range(9).cache().repeat()"
PROGRAM = f"import tensorflow as tf\n{WASTE}\n"
CELLS = [
    {"cell_type": "markdown", "metadata": {}, "source": ["# Title"]},
    {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": 1, "source": PROGRAM.splitlines(True)},
]
NOTEBOOK = json.dumps({"cells": CELLS, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}, indent=1) + "\n"
GUIDE = f"# Title\n\n```python\n{PROGRAM}```\n"
FILES = {"a.py": PROGRAM, "nb.ipynb": NOTEBOOK, "guide.md": GUIDE, "sub dir/#1 50%ü.py": "# é\n" + PROGRAM}
FOUND = [("a.py", "2:40"), ("guide.md", "5:40"), ("nb.ipynb", "cell 2:2:40"), ("sub dir/#1 50%ü.py", "3:40")]
ROWS = {"a.py": 2, "guide.md": 5, "nb.ipynb": NOTEBOOK[: NOTEBOOK.index(WASTE)].count("\n") + 1, FOUND[3][0]: 3}
"""The rows of the files as they are stored."""

Check = Callable[..., str]


@pytest.fixture
def check(run: Run, here: Path) -> Check:
    """Writes a run's report on files of all kinds."""
    for name, text in FILES.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")

    def made(name: str, *words: str, expected: int = 1) -> str:
        options = ["--isolated", "-n", "--select=TFM305", "--include-markdown", f"--output-format={name}"]
        done = run("check", *options, *words)
        assert (done.code, done.err) == (expected, "")
        return done.out

    return made


def test_text_has_place_reason_code_and_repair(check: Check) -> None:
    blocks = check("text").split("\n\n")
    for block, (path, place) in zip(sorted(blocks[:4]), FOUND, strict=True):
        assert block.startswith(f"{path}:{place}: warning TFM305 cache-after-repeat\n")
        assert WASTE in block and REPAIRED in block and "safe fix: cache before repeating" in block
    assert blocks[4].startswith("Found 4 findings (4 warnings); 4 fixable with --fix. Read 4 files, in ")


def test_concise_has_a_line_each(check: Check) -> None:
    lines = sorted(check("concise").splitlines())
    assert [tuple(line.split(": TFM305")[0].split(":", 1)) for line in lines] == FOUND
    assert all(line.endswith("[safe fix]") for line in lines)


@pytest.mark.parametrize("name", ["json", "jsonl"])
def test_json_has_places_of_the_cell_and_edits(name: str, check: Check, here: Path) -> None:
    text = check(name)
    records = json.loads(text) if name == "json" else [json.loads(line) for line in text.splitlines()]
    by_path = {Path(each["filename"]).relative_to(here).as_posix(): each for each in records}
    for path, place in FOUND:
        record = by_path[path]
        cell = f"cell {record['cell']}:" if record["cell"] else ""
        assert f"{cell}{record['location']['row']}:{record['location']['column']}" == place
        assert record["fix"]["applicability"] == "safe" and record["fix"]["edits"]


def test_github_has_an_annotation_each(check: Check) -> None:
    for line in check("github").splitlines():
        fields, _, message = line.partition("::warning ")[2].partition("::")
        values = dict(pair.split("=", 1) for pair in fields.split(","))
        assert int(values["line"]) == ROWS[values["file"].replace("%25", "%")]
        assert values["title"] == "TFM305 cache-after-repeat" and "safe fix" in message


def test_gitlab_has_an_issue_each_with_a_name_of_its_own(check: Check) -> None:
    issues = json.loads(check("gitlab"))
    assert {issue["location"]["path"]: issue["location"]["lines"]["begin"] for issue in issues} == ROWS
    assert len({issue["fingerprint"] for issue in issues}) == 4


def test_junit_has_a_failed_case_each(check: Check) -> None:
    suites = ElementTree.fromstring(check("junit"))
    assert (suites.get("tests"), suites.get("failures"), suites.get("errors")) == ("4", "4", "0")
    cases = {case.get("file"): case.get("name") for case in suites.iter("testcase")}
    assert cases == {path: f"TFM305 cache-after-repeat at {place}" for path, place in FOUND}


def test_rdjson_has_a_suggestion_each(check: Check) -> None:
    diagnostics = json.loads(check("rdjson"))["diagnostics"]
    starts = {each["location"]["path"]: each["location"]["range"]["start"]["line"] for each in diagnostics}
    assert starts == ROWS
    for each in diagnostics:
        (suggestion,) = each["suggestions"]
        text = Path(each["location"]["path"]).read_text("utf-8").encode()
        assert replaced(text.split(b"\n"), suggestion) == fixed(text)


def replaced(lines: list[bytes], suggestion: dict[str, Any]) -> bytes:
    start, end = suggestion["range"]["start"], suggestion["range"]["end"]
    assert start["line"] == end["line"]
    line = lines[start["line"] - 1]
    new = line[: start["column"] - 1] + suggestion["text"].encode() + line[end["column"] - 1 :]
    return b"\n".join([*lines[: start["line"] - 1], new, *lines[start["line"] :]])


def fixed(text: bytes) -> bytes:
    return text.replace(WASTE.encode(), REPAIRED.encode())


def sarif(text: str) -> dict[str, dict[str, Any]]:
    """The results of a log by the paths that their addresses mean."""
    (run,) = json.loads(text)["runs"]
    places = [each["locations"][0]["physicalLocation"]["artifactLocation"] for each in run["results"]]
    assert all(place["uriBaseId"] == "%SRCROOT%" for place in places)
    return {unquote(place["uri"]): each for place, each in zip(places, run["results"], strict=True)}


def test_sarif_is_valid_and_its_fixes_are_those_that_are_made(check: Check, validator: Any, here: Path) -> None:
    text = check("sarif")
    validator.validate(json.loads(text))
    results = sarif(text)
    assert sorted(results) == [path for path, _ in FOUND]
    for path, result in results.items():
        assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == ROWS[path]
        (change,) = result["fixes"][0]["artifactChanges"]
        lines = Path(path).read_text("utf-8").split("\n")
        for each in reversed(change["replacements"]):
            region = each["deletedRegion"]
            assert region["startLine"] == region["endLine"]
            line, number = lines[region["startLine"] - 1], region["startLine"] - 1
            lines[number] = (
                line[: region["startColumn"] - 1] + each["insertedContent"]["text"] + line[region["endColumn"] - 1 :]
            )
        assert "\n".join(lines).encode() == fixed(Path(path).read_bytes())
    check("sarif", "--fix", expected=0)
    for path, text in FILES.items():
        assert Path(path).read_bytes() == fixed(text.encode())


def test_sarif_describes_the_rules_with_findings_in_markdown(check: Check) -> None:
    Path("broken.py").write_text("import keras\ndef f(:\n")
    (run,) = json.loads(check("sarif"))["runs"]
    rules = {rule["id"]: rule for rule in run["tool"]["driver"]["rules"]}
    assert set(rules) == {each["ruleId"] for each in run["results"]} == {"TFM002", "TFM305"}
    assert rules["TFM002"]["help"]["markdown"]
    assert rules["TFM305"]["help"]["markdown"].startswith("## What it does")
    assert "\n## Measured\nTwo programs," in rules["TFM305"]["help"]["markdown"]


def test_one_base_gives_every_format_the_address_of_the_page(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    formats = ("json", "jsonl", "sarif", "rdjson")
    assert [word for word in formats if "/rules/TFM305/" in check(word, "a.py")] == []
    assert json.loads(check("json", "a.py"))[0]["url"] is None
    monkeypatch.setattr("tfmemlint.report.site.base", lambda: "https://docs.example.org/lint/")
    page = "https://docs.example.org/lint/rules/TFM305/"
    assert json.loads(check("json", "a.py"))[0]["url"] == page
    assert json.loads(check("jsonl", "a.py"))["url"] == page
    assert json.loads(check("sarif", "a.py"))["runs"][0]["tool"]["driver"]["rules"][0]["helpUri"] == page
    assert json.loads(check("rdjson", "a.py"))["diagnostics"][0]["code"] == {"value": "TFM305", "url": page}


def test_sarif_names_survive_moved_and_reformatted_code(check: Check) -> None:
    before = {path: each["partialFingerprints"] for path, each in sarif(check("sarif")).items()}
    assert len({str(each) for each in before.values()}) == 4
    laid_out = "# moved\n\nds = (\n    tf.data.Dataset.range(9)\n    .repeat()  # more\n    .cache()\n)"
    for path in ("a.py", "guide.md", "sub dir/#1 50%ü.py"):
        Path(path).write_text(FILES[path].replace(WASTE, laid_out), encoding="utf-8")
    cells = [CELLS[0], {**CELLS[1], "source": "x = 1"}, {**CELLS[1], "source": PROGRAM.replace(WASTE, laid_out)}]
    Path("nb.ipynb").write_text(json.dumps({"cells": cells, "metadata": {}}))
    assert {path: each["partialFingerprints"] for path, each in sarif(check("sarif")).items()} == before


def test_a_file_that_does_not_parse_is_in_every_report(check: Check, validator: Any) -> None:
    Path("broken.py").write_text("import keras\ndef f(:\n")
    for name in ("text", "concise", "json", "jsonl", "sarif", "github", "gitlab", "junit", "rdjson"):
        text = check(name)
        assert "TFM002" in text and "broken.py" in text
        assert len(re.findall("TFM305", check(name, "a.py"))) >= 1
    log = json.loads(check("sarif"))
    validator.validate(log)
    assert log["runs"][0]["invocations"] == [{"executionSuccessful": True}]


def test_a_clean_run_is_a_report_too(check: Check, validator: Any) -> None:
    Path("clean.py").write_text("import keras\n")
    outputs = {
        name: check(name, "clean.py", expected=0)
        for name in ("concise", "json", "jsonl", "sarif", "github", "gitlab", "junit", "rdjson")
    }
    assert (outputs["concise"], outputs["json"], outputs["jsonl"], outputs["github"]) == ("", "[]\n", "", "")
    assert json.loads(outputs["gitlab"]) == []
    assert json.loads(outputs["rdjson"])["diagnostics"] == []
    validator.validate(json.loads(outputs["sarif"]))
    assert ElementTree.fromstring(outputs["junit"]).get("failures") == "0"
