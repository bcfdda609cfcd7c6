"""Marked regions of case files, which become the examples of rules' pages."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tfmemlint.api import Call, File, Rule, on_call
from tfmemlint.dev.docs import Material, example_table, page
from tfmemlint.lint.registry import load_rules
from tfmemlint.report.rule_page import rule_page
from tfmemlint.testing import CaseError, load_case, run
from tfmemlint.testing.checks import examples as check_examples
from tfmemlint.testing.examples import example, examples, region

BAD = """\
import os
from tensorflow import (
    data as d,
)
import tensorflow as tf
os.getcwd()

# [example]
def make():

    return tf.data.TFRecordDataset("a").repeat(8).cache()  #! TFM305
# [/example]

make()
"""
GOOD = """\
import tensorflow as tf
# [example] Cache once:
ds = tf.data.TFRecordDataset("a").cache().repeat(8)
"""


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Any]:
    """Writes a case with these two files, under a name of its own, and returns it."""

    def case(bad: str = BAD, good: str = GOOD, name: str = "basic") -> Any:
        folder = tmp_path / "TFM305-cache-after-repeat" / name
        folder.mkdir(parents=True)
        (folder / "bad.py").write_text(bad)
        (folder / "good.py").write_text(good)
        return load_case(folder)

    return case


def test_a_region_has_no_markers_and_goes_below_the_imports_of_its_file(write: Callable[..., Any]) -> None:
    found = region(write(), "bad.py")
    assert found is not None
    assert found.code == 'def make():\n\n    return tf.data.TFRecordDataset("a").repeat(8).cache()\n'
    assert found.imports == "import os\nfrom tensorflow import (\n    data as d,\n)\nimport tensorflow as tf\n"
    assert found.pasted.startswith(found.imports)


def test_a_region_without_an_end_goes_to_the_end_of_the_file(write: Callable[..., Any]) -> None:
    shown = example(write())
    assert shown is not None
    assert shown.then == "Cache once:"
    assert shown.second == 'ds = tf.data.TFRecordDataset("a").cache().repeat(8)\n'


def test_a_case_without_regions_shows_nothing(write: Callable[..., Any]) -> None:
    assert example(write("x = 1  #! TFM305\n", "x = 2\n")) is None


@pytest.mark.parametrize(
    ("bad", "good", "message"),
    [
        (BAD, "x = 1\n", "good.py: the other file has a region"),
        ("x = 1\n", GOOD, "bad.py: the other file has a region"),
        (BAD + "# [example]\nx = 1\n", GOOD, "bad.py: two regions"),
        (BAD, "# [example] Nothing:\n", "good.py: the region below"),
        (BAD, "# [example]\nx = 1\n", "good.py: `# [example]` goes on with the sentence"),
    ],
)
def test_what_is_not_well_formed_is_said(write: Callable[..., Any], bad: str, good: str, message: str) -> None:
    with pytest.raises(CaseError) as raised:
        example(write(bad, good))
    assert message in str(raised.value)


def test_one_case_of_a_rule_has_its_example(write: Callable[..., Any]) -> None:
    first, second = write(), write(name="ways")
    assert set(examples([first])) == {"TFM305"}
    with pytest.raises(CaseError, match="another case has the example of TFM305"):
        examples([first, second])


@pytest.mark.parametrize(
    ("bad", "good", "message"),
    [
        (BAD, GOOD, None),
        # Only the rest of the file makes the region a finding.
        ("import tensorflow as tf\nds = tf.data.Dataset.range(9)\n# [example]\nds.repeat(8).cache()\n", GOOD, "bad.py"),
        (BAD, GOOD.replace(".cache().repeat(8)", ".repeat(8).cache()"), "good.py"),
    ],
)
def test_pasted_the_first_is_reported_and_the_second_is_not(
    write: Callable[..., Any], bad: str, good: str, message: str | None
) -> None:
    case = write(bad, good)
    if message is None:
        return run(check_examples, case)
    with pytest.raises(CaseError, match=f"{message}: the example by itself"):
        run(check_examples, case)


def test_the_table_of_examples_is_what_pages_show(write: Callable[..., Any]) -> None:
    table = json.loads(json.dumps(example_table([write()])))
    rule = next(rule for rule in load_rules() if rule.code == "TFM305")
    text = page(rule, Material(table))
    assert "## Example\n```python\ndef make():\n\n    return" in text
    assert "```\nCache once:\n```python\nds = " in text
    assert text.index("## Why it costs memory") < text.index("## Example") < text.index("## Fix safety")


class OfAPack(Rule):
    """
    ## What it does
    Reports ...

    ## Why it costs memory
    It does.

    ## Example
    ```python
    ds.cache()
    ```

    ## When not to use it
    Never.

    ## References
    - none
    """

    code = "ACM101"
    summary = "a rule with an example of its own"

    @on_call("tf.data.Dataset.cache")
    def check(self, call: Call, file: File) -> Any:
        raise NotImplementedError


def test_a_rule_without_a_case_may_show_an_example_of_its_own_and_says_that_it_has_no_fix() -> None:
    text = rule_page(OfAPack())
    assert "## Example\n```python\nds.cache()\n```\n\n## Fix safety\nThe rule has no fix.\n\n## When" in text


def test_a_rule_says_why_it_has_no_fix() -> None:
    rule = next(rule for rule in load_rules() if rule.code == "TFM103")
    assert "## Fix safety\nNo fix: growth or a hard limit is yours to choose.\n" in rule_page(rule)
