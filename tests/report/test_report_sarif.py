"""SARIF logs against the schema of the standard, and what services read out of them."""

from __future__ import annotations

import json
from dataclasses import replace
from urllib.parse import unquote, urljoin

import pytest
from report_samples import PIPELINE, cache_after_repeat, growth_too_late, notebook, result

from tfmemlint.finding import Finding, Severity, Span
from tfmemlint.lint.engine import FileResult
from tfmemlint.text.read import read_source


@pytest.fixture
def run(report):
    def made(*chosen: FileResult, **changes) -> dict:
        (run,) = json.loads(report("sarif", list(chosen) or None, **changes))["runs"]
        return run

    return made


def test_the_schema_refuses_what_is_wrong(validator, report):
    log = json.loads(report("sarif"))
    log["runs"][0]["results"][0]["level"] = "advice"
    del log["runs"][0]["results"][1]["locations"][0]["physicalLocation"]["region"]["startLine"]
    assert len(list(validator.iter_errors(log))) == 2


@pytest.mark.parametrize("changes", [{}, {"rules": {}}, {"version": ""}, {"root": ""}, {"sort": "bytes"}])
def test_a_log_is_valid(validator, report, changes):
    validator.validate(json.loads(report("sarif", **changes)))


def test_a_log_without_findings_is_valid_and_lists_no_rules(validator, report):
    log = json.loads(report("sarif", []))
    validator.validate(log)
    assert log["runs"][0]["results"] == []
    assert log["runs"][0]["tool"]["driver"]["rules"] == []


def test_a_log_lists_the_rules_with_findings_alone(run):
    log = run(result("/proj/a.py", PIPELINE, cache_after_repeat))
    assert [rule["id"] for rule in log["tool"]["driver"]["rules"]] == ["TFM305"]


def test_each_result_points_to_its_rule_with_help_in_markdown(run):
    log = run()
    rules = log["tool"]["driver"]["rules"]
    assert all(rules[each["ruleIndex"]]["id"] == each["ruleId"] for each in log["results"])
    (rule,) = (rule for rule in rules if rule["id"] == "TFM305")
    assert rule["help"]["markdown"].startswith("## What it does")
    assert rule["helpUri"] == "https://example.org/rules/TFM305"


def test_addresses_are_relative_to_the_root_and_lead_back_to_the_file(run):
    log = run(result("/proj/a b/#1 50%ü.py", PIPELINE, cache_after_repeat))
    artifact = log["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact["uri"] == "a%20b/%231%2050%25%C3%BC.py"
    base = log["originalUriBaseIds"][artifact["uriBaseId"]]["uri"]
    assert unquote(urljoin(base, artifact["uri"])) == "file:///proj/a b/#1 50%ü.py"


def test_a_file_outside_the_root_has_an_absolute_address(run):
    log = run(result("/other/train.py", PIPELINE, cache_after_repeat))
    artifact = log["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact == {"uri": "file:///other/train.py"}


def test_columns_count_code_points_as_declared(run):
    text = 's = "\U0001f600"; ' + "ds.repeat(10).cache()\n"
    log = run(result("/proj/a.py", text, cache_after_repeat))
    region = log["results"][0]["locations"][0]["physicalLocation"]["region"]
    assert log["columnKind"] == "unicodeCodePoints"
    assert text[region["startColumn"] - 1 : region["endColumn"] - 1] == "cache"


def test_a_notebook_has_regions_in_its_json_and_cells_as_logical_locations(run):
    text = notebook()
    log = run(result("/proj/demo.ipynb", text, growth_too_late))
    (location,) = log["results"][0]["locations"]
    region = location["physicalLocation"]["region"]
    line = text.splitlines()[region["startLine"] - 1]
    assert line[region["startColumn"] - 1 : region["endColumn"] - 1] == "set_memory_growth"
    assert location["logicalLocations"][0]["fullyQualifiedName"] == "demo.ipynb:cell 4:2:24"


def test_a_suggestion_is_no_fix_and_an_unsafe_fix_says_so(run):
    fixes = {each["ruleId"]: each.get("fixes", []) for each in run()["results"]}
    assert fixes["TFM208"] == []
    assert fixes["TFM302"][0]["description"]["text"] == "let the runtime choose (unsafe fix)"


@pytest.mark.parametrize("code, successful", [("TFM000", False), ("TFM002", True)])
def test_a_run_in_which_the_tool_failed_was_not_successful(run, code, successful):
    source = read_source(b"x =\n", "/proj/a.py")
    found = FileResult("/proj/a.py", source, (Finding(code, "name", Severity.ERROR, "why", Span(3, 3)),))
    assert run(found)["invocations"] == [{"executionSuccessful": successful}]


def prints(run, path: str, text: str, *makers) -> list[str]:
    return [each["partialFingerprints"]["tfmemlint/v1"] for each in run(result(path, text, *makers))["results"]]


def test_fingerprints_survive_moved_lines_and_formatting(run):
    before = prints(run, "/proj/a.py", PIPELINE, cache_after_repeat)
    moved = "# A comment\n\n" + PIPELINE
    laid_out = PIPELINE.replace("\tds = ds.repeat(10).cache()", "\tds = (\n\t\tds.repeat(10)  # ten\n\t\t.cache()\n\t)")
    for text in (moved, laid_out, PIPELINE.replace("\n", "\r\n")):
        assert prints(run, "/proj/a.py", text, cache_after_repeat) == before


def test_fingerprints_differ_by_path_code_and_statement(run):
    def other_code(text):
        return replace(cache_after_repeat(text), code="TFM306")

    made = [
        *prints(run, "/proj/a.py", PIPELINE, cache_after_repeat),
        *prints(run, "/proj/b.py", PIPELINE, cache_after_repeat),
        *prints(run, "/proj/a.py", PIPELINE, other_code),
        *prints(run, "/proj/a.py", PIPELINE.replace("ds = ds.repeat", "data = ds.repeat"), cache_after_repeat),
    ]
    assert len(set(made)) == 4


def test_findings_alike_are_told_apart_by_their_order(run):
    def at(number):
        return lambda text: replace(cache_after_repeat(text), span=text.span("cache", number), fix=None, related=())

    text = "ds = ds.repeat(10).cache()\n" * 3
    three = prints(run, "/proj/a.py", text, at(3), at(1), at(2))
    assert len(set(three)) == 3
    assert prints(run, "/proj/a.py", text, at(1), at(2)) == three[:2]
