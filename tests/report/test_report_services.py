"""Reports for code hosts and CI systems: the fields that they read, and text that would break their syntax."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from xml.etree import ElementTree

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_samples import PIPELINE, cache_after_repeat, growth_too_late, notebook, read_elsewhere, result

from tfmemlint.report import FORMATS
from tfmemlint.report.github import _PROPERTY, _VALUE
from tfmemlint.report.junit import _text

COUNT = {"type": "integer", "minimum": 1}


def strict(required: dict, **optional: dict) -> dict:
    """An object with these fields and no others."""
    return {
        "type": "object",
        "properties": {**required, **optional},
        "required": list(required),
        "additionalProperties": False,
    }


GITLAB_PLACE = RDJSON_PLACE = strict({"line": COUNT, "column": COUNT})
GITLAB_LOCATION = strict(
    {
        "path": {"type": "string", "pattern": "^(?!\\./)"},
        "lines": strict({"begin": COUNT, "end": COUNT}),
        "positions": strict({"begin": GITLAB_PLACE, "end": GITLAB_PLACE}),
    }
)
GITLAB = {
    "type": "array",
    "items": strict(
        {
            "description": {"type": "string", "minLength": 1},
            "check_name": {"type": "string", "minLength": 1},
            "fingerprint": {"type": "string", "pattern": "^[0-9a-f]{32}$"},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": GITLAB_LOCATION,
        },
        type={"const": "issue"},
        trace=strict({"locations": {"type": "array", "items": GITLAB_LOCATION, "minItems": 1}}),
        categories={"type": "array", "items": {"enum": ["Performance"]}},
    ),
}

RDJSON_RANGE = strict({"start": RDJSON_PLACE, "end": RDJSON_PLACE})
RDJSON_LINE = strict({"line": COUNT}, column=COUNT)
RDJSON_LINES = strict({"start": RDJSON_LINE, "end": RDJSON_LINE})
RDJSON = strict(
    {
        "source": strict({"name": {"const": "tfmemlint"}}),
        "diagnostics": {
            "type": "array",
            "items": strict(
                {
                    "message": {"type": "string"},
                    "location": strict({"path": {"type": "string"}, "range": RDJSON_RANGE}),
                    "severity": {"enum": ["ERROR", "WARNING", "INFO"]},
                    "code": strict({"value": {"type": "string"}}, url={"type": "string"}),
                },
                related_locations={
                    "type": "array",
                    "items": strict(
                        {
                            "message": {"type": "string"},
                            "location": strict({"path": {"type": "string"}, "range": RDJSON_LINES}),
                        }
                    ),
                },
                suggestions={"type": "array", "items": strict({"range": RDJSON_RANGE, "text": {"type": "string"}})},
            ),
        },
    }
)

JSON_PLACE = strict({"row": COUNT, "column": COUNT})
JSON_RECORD = strict(
    {
        "code": {"type": "string"},
        "name": {"type": "string"},
        "severity": {"enum": ["error", "warning", "info"]},
        "message": {"type": "string"},
        "filename": {"type": "string", "pattern": "^/"},
        "location": JSON_PLACE,
        "end_location": JSON_PLACE,
        "bytes": {"type": ["integer", "null"]},
        "bytes_exact": {"type": ["boolean", "null"]},
        "url": {"type": ["string", "null"]},
        "related": {
            "type": "array",
            "items": strict(
                {
                    "message": {"type": "string"},
                    "filename": {"type": "string"},
                    "location": JSON_PLACE,
                    "end_location": JSON_PLACE,
                },
                cell=COUNT,
            ),
        },
        "fix": {
            "oneOf": [
                {"type": "null"},
                strict(
                    {
                        "applicability": {"enum": ["safe", "unsafe", "display"]},
                        "message": {"type": "string"},
                        "edits": {
                            "type": "array",
                            "items": strict(
                                {"content": {"type": "string"}, "location": JSON_PLACE, "end_location": JSON_PLACE},
                                cell=COUNT,
                            ),
                        },
                    }
                ),
            ]
        },
        "cell": {"type": ["integer", "null"]},
    }
)

SCHEMAS = {"json": {"type": "array", "items": JSON_RECORD}, "gitlab": GITLAB, "rdjson": RDJSON}


@pytest.mark.parametrize("name", SCHEMAS)
def test_json_formats_hold_the_fields_that_are_read_and_no_others(name, report):
    jsonschema.Draft7Validator(SCHEMAS[name]).validate(json.loads(report(name)))
    jsonschema.Draft7Validator(SCHEMAS[name]).validate(json.loads(report(name, [])))


def test_jsonl_is_json_a_line_each(report):
    assert [json.loads(line) for line in report("jsonl").splitlines()] == json.loads(report("json"))
    assert report("jsonl", []) == ""


def test_json_names_the_cell_of_places_outside_the_cell_of_the_finding(report):
    (record,) = json.loads(report("json", [result("/proj/demo.ipynb", notebook(), growth_too_late)]))
    assert record["cell"] == 4
    assert [edit.get("cell") for edit in record["fix"]["edits"]] == [2, None]
    assert [related.get("cell") for related in record["related"]] == [2]


def test_json_takes_relative_paths_from_the_root(report):
    (record,) = json.loads(report("json", [result("src/a.py", PIPELINE, cache_after_repeat)]))
    assert record["filename"] == record["related"][0]["filename"] == "/proj/src/a.py"


@pytest.mark.parametrize("name", ["json", "jsonl", "sarif", "gitlab", "rdjson", "junit"])
def test_formats_for_programs_are_ascii(name, report):
    def with_other_signs(text):
        return replace(cache_after_repeat(text), message="größer \udc80 \U0001f600")

    assert report(name, [result("/proj/ü.py", PIPELINE, with_other_signs)]).isascii()


def command(line: str) -> tuple[str, dict[str, str], str]:
    """Read a workflow command as the runner does."""
    kind, properties, message = re.fullmatch(r"::(\w+) (.*?)::(.*)", line).groups()
    pairs = (pair.split("=", 1) for pair in properties.split(","))
    return kind, {key: plain(value) for key, value in pairs}, plain(message)


def plain(value: str) -> str:
    for escape, char in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        value = value.replace(escape, char)
    return value


def test_github_commands_say_what_and_where(report):
    def of_many_signs(text):
        return replace(cache_after_repeat(text), message="50%, a::b\n%0A \x1b[31m")

    (line,) = report("github", [result("/proj/a,b: 100%.py", PIPELINE, of_many_signs)]).splitlines()
    kind, properties, message = command(line)
    assert kind == "warning"
    assert properties == {
        "file": "a,b: 100%.py",
        "line": "6",
        "endLine": "6",
        "col": "21",
        "endColumn": "26",
        "title": "TFM305 cache-after-repeat",
    }
    assert message.split("\n")[0] == "a,b: 100%.py:6:21: 50%, a::b\\n%0A \\x1b[31m"


@given(st.text(alphabet="%:,\r\n0AD235Cax"))
def test_github_escapes_can_be_undone(text):
    assert plain(text.translate(_VALUE)) == text
    assert plain(text.translate(_PROPERTY)) == text
    assert not set(text.translate(_PROPERTY)) & set(":,\r\n")


def test_github_gives_no_columns_for_several_lines(report):
    def wide(text):
        return replace(cache_after_repeat(text), span=text.span("repeat(10).cache()\n\treturn"))

    (line,) = report("github", [result("/proj/a.py", PIPELINE, wide)]).splitlines()
    assert command(line)[1] == {"file": "a.py", "line": "6", "endLine": "7", "title": "TFM305 cache-after-repeat"}


def test_gitlab_fingerprints_are_unique_and_name_the_cell(report):
    issues = json.loads(report("gitlab"))
    assert len({issue["fingerprint"] for issue in issues}) == len(issues)
    (issue,) = json.loads(report("gitlab", [result("/proj/demo.ipynb", notebook(), growth_too_late)]))
    assert issue["description"].startswith("TFM101 device-config-after-init: cell 4:2:24: ")


@pytest.mark.parametrize("name", FORMATS)
def test_places_in_other_files_are_named_in_every_format(name, report):
    made = report(name, [result("/proj/src/run.py", PIPELINE, read_elsewhere)])
    if name in ("json", "jsonl", "sarif", "gitlab", "rdjson"):
        made = json.dumps(json.loads(made), ensure_ascii=False)
    elif name == "junit":
        made = "".join(ElementTree.fromstring(made).itertext())
    elif name == "github":
        made = command(made.strip())[2]
    named = "src/größe, data.py" if name != "sarif" else "src/gr%C3%B6%C3%9Fe%2C%20data.py"
    assert named in made or name in ("concise", "grouped")


def test_junit_counts_what_it_lists(report):
    root = ElementTree.fromstring(report("junit"))
    cases = list(root.iter("testcase"))
    assert int(root.get("tests")) == len(cases) == 12
    assert int(root.get("failures")) == len(list(root.iter("failure"))) == 9
    assert int(root.get("errors")) == len(list(root.iter("error"))) == 1
    for suite in root:
        assert int(suite.get("tests")) == len(suite.findall("testcase"))
        assert int(suite.get("failures")) == len(suite.findall("testcase/failure"))


def test_junit_fails_nothing_for_advice_and_passes_clean_files(report):
    root = ElementTree.fromstring(report("junit"))
    (advice,) = (case for case in root.iter("testcase") if case.get("name").startswith("TFM208"))
    assert [child.tag for child in advice] == ["system-out"]
    (clean,) = root.findall("testsuite[@name='clean.py']/testcase")
    assert list(clean) == []
    assert root.find("testsuite[@name='setup.py']") is None


def test_junit_of_no_files_holds_a_passed_case(report):
    root = ElementTree.fromstring(report("junit", []))
    assert root.get("tests") == "1"
    assert [case.get("name") for case in root.iter("testcase")] == ["no findings"]


@given(st.text(alphabet=st.characters(exclude_categories=[])))
def test_junit_text_is_xml_whatever_it_holds(text):
    element = ElementTree.fromstring(f'<a b="{_text(text, quoted=True)}">{_text(text)}</a>')
    kept = re.sub("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", text)
    assert element.get("b") == kept
    assert (element.text or "") == kept


def test_rdjson_has_no_suggestion_that_cannot_be_taken_whole(report):
    far = PIPELINE.replace("\tds = ds", "\tpass\n" * 30 + "\tds = ds")

    def from_the_top(text):
        finding = cache_after_repeat(text)
        edits = (replace(finding.fix.edits[0], start=0, end=0, content="import os\n"), finding.fix.edits[1])
        return replace(finding, fix=replace(finding.fix, edits=edits))

    (diagnostic,) = json.loads(report("rdjson", [result("/proj/a.py", far, from_the_top)]))["diagnostics"]
    assert "suggestions" not in diagnostic
    assert diagnostic["message"].endswith("safe fix: cache before repeating")
