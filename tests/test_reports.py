"""The report package as a whole: its formats, and what reporting costs to import."""

from __future__ import annotations

import io
import pkgutil
import subprocess
import sys
import typing

import pytest

import tfmemlint.report
from tfmemlint.config.settings import OutputFormat
from tfmemlint.report import FORMATS, ReportOptions, render


def test_the_configuration_knows_the_same_formats():
    assert typing.get_args(OutputFormat) == FORMATS


def test_every_format_has_a_module_that_renders_a_run_without_files():
    modules = {module.name for module in pkgutil.iter_modules(tfmemlint.report.__path__)}
    for name in FORMATS:
        assert name in modules
        stream = io.StringIO()
        render(name, [], stream, ReportOptions(root="/proj"))
        assert stream.getvalue() == "" or stream.getvalue().endswith("\n")


def test_an_unknown_format_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="unknown output format 'yaml'; choose from text, concise, grouped, json"):
        render("yaml", [], io.StringIO(), ReportOptions())


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_imports_no_parser_no_rules_and_no_other_format(name):
    program = f"""
import io, sys
from tfmemlint.report import FORMATS, ReportOptions, render
render({name!r}, [], io.StringIO(), ReportOptions())
not_now = {{"libcst", "rich", "tensorflow", "tfmemlint_rules", "tfmemlint.rule", "tfmemlint.lint.engine"}}
heavy = not_now & set(sys.modules)
others = [each for each in FORMATS if each != {name!r} and "tfmemlint.report." + each in sys.modules]
print(sorted(heavy), others)
"""
    made = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert made.stdout == "[] []\n"
