"""Where the addresses of pages come from: what the package's own metadata names as its documentation."""

from __future__ import annotations

import pytest

from tfmemlint.report.site import base, named_in, page_url

METADATA = "Metadata-Version: 2.4\nName: tfmemlint\n{}\n\nProject-URL: Documentation, https://in-the-readme.example.org\n"


@pytest.mark.parametrize(
    ("line", "address"),
    [
        ("Project-URL: Documentation, https://docs.example.org/lint", "https://docs.example.org/lint/"),
        ("Project-URL: documentation, https://docs.example.org/", "https://docs.example.org/"),
        ("Project-URL: Homepage, https://example.org", ""),
        ("Project-URL: Documentation, javascript:alert(1)", ""),
        ("Summary: lints", ""),
    ],
)
def test_the_address_is_that_of_the_metadata(line: str, address: str) -> None:
    assert named_in(METADATA.format(line)) == address


def test_pages_of_rule_packs_and_of_a_tool_without_a_site_have_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tfmemlint.report.site.base", lambda: "https://docs.example.org/")
    assert page_url("TFM305") == "https://docs.example.org/rules/TFM305/"
    assert page_url("ACM101") is None
    monkeypatch.setattr("tfmemlint.report.site.base", lambda: "")
    assert page_url("TFM305") is None


def test_an_installed_tool_reads_its_own_metadata() -> None:
    assert base() == "" or base().startswith("http")
