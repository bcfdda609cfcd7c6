"""The configuration: where it is found, what its keys take, and what is said of one that is wrong."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfmemlint
from tfmemlint.config.settings import Config, ConfigError, Configs, from_table, keys, parse_size
from tfmemlint.finding import Severity

SCHEMA = json.loads(Path(tfmemlint.__path__[0], "config", "config.schema.json").read_text("utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def error_of(table: dict[str, Any]) -> str:
    with pytest.raises(ConfigError) as caught:
        from_table(table, "tfmemlint.toml")
    return str(caught.value)


# -- sizes ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("64MiB", 64 << 20),
        ("8 GiB", 8 << 30),
        ("8gib", 8 << 30),
        ("1.5GB", 1_500_000_000),
        ("512k", 512 << 10),
        ("1kB", 1000),
        ("2T", 2 << 40),
        ("100b", 100),
        ("100", 100),
        (123, 123),
        (0, 0),
    ],
)
def test_sizes(text: str | int, expected: int) -> None:
    assert parse_size(text) == expected


@pytest.mark.parametrize("value", [10**400, 1 << 63, "8192PiB", f"{'9' * 30}GiB"])
def test_what_is_more_than_any_memory(value: str | int) -> None:
    with pytest.raises(ValueError, match=r"is more than any memory; the most is 8191PiB$") as caught:
        parse_size(value)
    assert len(str(caught.value)) < 120


@pytest.mark.parametrize("text", [f"{'9' * 400}GiB", f"1{' ' * 100_000}!"], ids=["digits", "blanks"])
def test_a_long_text_is_no_size(text: str) -> None:
    with pytest.raises(ValueError, match=r"\.\.\. is not a size") as caught:
        parse_size(text)
    assert len(str(caught.value)) < 160


@pytest.mark.parametrize("text", ["", "MiB", "5 parsecs", "-1", "1e3", "0x10", "5i", "5ib", "1 2", True, -5])
def test_what_is_no_size(text: str | int) -> None:
    with pytest.raises(ValueError, match="is not a size"):
        parse_size(text)


# -- the file ---------------------------------------------------------------------------------------------------------


def test_the_nearest_file_with_our_table_wins(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.tfmemlint]\nmin-bytes = "1MiB"\n')
    inner = tmp_path / "package" / "inner"
    inner.mkdir(parents=True)
    (tmp_path / "package" / "pyproject.toml").write_text('[tool.other]\nx = 1\n[project]\nname = "p"\n')
    assert Configs().for_file(str(inner / "a.py")).min_bytes == 1 << 20
    (inner / "tfmemlint.toml").write_text('min-bytes = "2MiB"\n')
    assert Configs().for_file(str(inner / "a.py")).min_bytes == 2 << 20
    assert Configs().for_file(str(tmp_path / "b.py")).min_bytes == 1 << 20


def test_our_own_file_wins_over_pyproject_beside_it(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.tfmemlint]\nfail-on = "error"\n')
    (tmp_path / "tfmemlint.toml").write_text('fail-on = "info"\n')
    config = Configs().for_file(str(tmp_path / "a.py"))
    assert config.fail_on is Severity.INFO
    assert config.path == str(tmp_path / "tfmemlint.toml")
    assert config.root == str(tmp_path)


def test_defaults_where_there_is_no_file(tmp_path: Path) -> None:
    config = Configs().for_file(str(tmp_path / "a.py"))
    assert (config.min_bytes, config.max_tensor, config.gpu_memory) == (64 << 20, 1 << 30, None)
    assert config == Config()


def test_isolated_and_named_files(tmp_path: Path) -> None:
    (tmp_path / "tfmemlint.toml").write_text("preview = true\n")
    other = tmp_path / "other.toml"
    other.write_text('ignore = ["TFM3"]\n')
    path = str(tmp_path / "a.py")
    assert Configs().for_file(path).preview
    assert not Configs(isolated=True).for_file(path).preview
    named = Configs(file=str(other)).for_file(path)
    assert (named.preview, named.ignore) == (False, ("TFM3",))


def test_the_command_line_wins_over_inline_keys_and_these_over_files(tmp_path: Path) -> None:
    (tmp_path / "tfmemlint.toml").write_text('fail-on = "info"\nmin-bytes = 1\nmax-tensor = 1\n')
    found = Configs(inline=("min-bytes = 2", 'max-tensor = "2B"'), overrides={"max_tensor": 3})
    config = found.for_file(str(tmp_path / "a.py"))
    assert (config.fail_on, config.min_bytes, config.max_tensor) == (Severity.INFO, 2, 3)


def test_later_inline_keys_win_over_earlier_ones() -> None:
    found = Configs(isolated=True, inline=("min-bytes = 2", "min-bytes = 3"))
    assert found.for_file("a.py").min_bytes == 3


def test_paths_are_taken_from_the_directory_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "tfmemlint.toml").write_text('baseline = "known/base.json"\n')
    config = Configs().for_file(str(tmp_path / "deep" / "a.py"))
    assert config.baseline is not None
    assert config.resolve(config.baseline) == os.path.join(tmp_path, "known", "base.json")


# -- what is wrong ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ({"slect": []}, "tfmemlint.toml: slect: unknown key; did you mean 'select'?"),
        ({"min_bytes": 5}, "tfmemlint.toml: min_bytes: unknown key; did you mean 'min-bytes'?"),
        ({"zzzz": 1}, "tfmemlint.toml: zzzz: unknown key; `tfmemlint config` lists all keys"),
        ({"select": "TFM305"}, "tfmemlint.toml: select: expected a list, got a string"),
        ({"select": ["TFM3", 5]}, "tfmemlint.toml: select: entry 2 of the list: expected a string, got a whole number"),
        ({"fix": "yes"}, "tfmemlint.toml: fix: expected true or false, got a string"),
        ({"fail-on": "fatal"}, "tfmemlint.toml: fail-on: 'fatal' is none of error, warning, info"),
        ({"severity": {"TFM305": "bad"}}, "tfmemlint.toml: severity.TFM305: 'bad' is none of error, warning, info"),
        ({"severity": "error"}, "tfmemlint.toml: severity: expected a table, got a string"),
        ({"per-file-ignores": {"a": "TFM3"}}, "tfmemlint.toml: per-file-ignores.a: expected a list, got a string"),
        ({"baseline": 5}, "tfmemlint.toml: baseline: expected a string, got a whole number"),
        ({"gpu-memory": "big"}, "tfmemlint.toml: gpu-memory: 'big' is not a size; "
                                "write a number of bytes or a text such as '64MiB' or '8GiB'"),
    ],
)  # fmt: skip
def test_wrong_values_are_named_with_file_and_key(table: dict[str, Any], expected: str) -> None:
    assert error_of(table) == expected


def test_unknown_formats_are_answered_with_the_known_ones() -> None:
    message = error_of({"output-format": "xml"})
    assert message.startswith("tfmemlint.toml: output-format: 'xml' is none of text, concise, grouped, json")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"[tool.tfmemlint\n", "is not valid TOML: "),
        (b"min-bytes = \n", "is not valid TOML: "),
        (b"\xff\xfe = 1\n", "is not UTF-8 text: byte 0 cannot be decoded"),
        (b"[tool]\ntfmemlint = 5\n", "tool.tfmemlint: expected a table"),
        (b"[tool.tfmemlint]\nfoo = 1\n", "[tool.tfmemlint] foo: unknown key"),
        (b'[tool.tfmemlint]\n"a\\nb\\u001b" = 1\n', "[tool.tfmemlint] 'a\\nb\\x1b': unknown key"),
        (b'[tool.tfmemlint.severity]\n"a\\nb" = 1\n', "[tool.tfmemlint] severity.'a\\nb': expected a string"),
        (b"[tool.tfmemlint]\nmin-bytes = " + b"9" * 5000, "[tool.tfmemlint] min-bytes: 9999"),
        (b"[tool.tfmemlint]\nselect = [" + b"9_" * 5000 + b"9]", "[tool.tfmemlint] select: entry 1 of the list: "),
        (b'[tool.tfmemlint]\ngpu-memory = "' + b"9" * 400 + b'GiB"', "[tool.tfmemlint] gpu-memory: '9999"),
        (b'[tool.tfmemlint]\nfail-on = "' + b"9" * 5000 + b'"', "[tool.tfmemlint] fail-on: '9999"),
        (b"[tool.tfmemlint]\nmin-bytes = 2024-02-30", "is not valid TOML: "),
        (b"a = " + b"[" * 100_000, "is nested too deeply"),
        (b"a" + b" . a" * 100_000 + b" = 1", "is nested too deeply"),
        (b'"a"' + b".'b'" * 100_000 + b" = 1", "is nested too deeply"),
        (b"#" * (5 << 20), "is larger than 4 MiB"),
    ],
)
def test_broken_files_are_one_line_that_names_them(data: bytes, expected: str, tmp_path: Path) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_bytes(data)
    with pytest.raises(ConfigError) as caught:
        Configs().for_file(str(tmp_path / "sub" / "a.py"))
    message = str(caught.value)
    assert message.startswith(f"{path}: {expected}")
    assert "\n" not in message
    assert len(message) < len(str(path)) + 200


def test_numbers_of_other_tools_are_none_of_ours(tmp_path: Path) -> None:
    """Python refuses to read numbers of more than 4300 digits."""
    long = "7" * 100_000
    other = f"[tool.other]\na = {long}\nb = [-{long}, 1_{long}]\n"
    text = f"{other}[tool.tfmemlint]\nmin-bytes = 5\nbaseline = '{'x' * 4000}'\n"
    (tmp_path / "pyproject.toml").write_text(text)
    config = Configs().for_file(str(tmp_path / "a.py"))
    assert (config.min_bytes, config.baseline) == (5, "x" * 4000)


def test_a_broken_pyproject_below_does_not_hide_what_lies_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "pyproject.toml").write_text("[")
    configs = Configs()
    for _ in range(2):
        with pytest.raises(ConfigError):
            configs.for_file(str(tmp_path / "bad" / "a.py"))
    assert configs.for_file(str(tmp_path / "a.py")) == Config()


# -- the schema -------------------------------------------------------------------------------------------------------


def test_the_schema_describes_each_key_and_its_default() -> None:
    VALIDATOR.check_schema(SCHEMA)
    assert list(SCHEMA["properties"]) == list(keys())
    for key, entry in SCHEMA["properties"].items():
        assert entry["description"].endswith("."), key
        field = keys()[key]
        made = Config(**from_table({key: entry["default"]})) if "default" in entry else Config()
        assert getattr(made, field.name) == getattr(Config(), field.name), key


VALUES = st.one_of(
    st.booleans(),
    st.integers(-5, 10**12),
    st.floats(0, 10).filter(lambda number: not number.is_integer()),  # JSON Schema does not tell 5.0 from 5
    st.sampled_from(
        ["error", "warning", "info", "text", "json", "ALL", "TFM305", "64MiB", "8 GiB", "5i", "x", "1.5GB"]
    ),
)
TABLES = st.one_of(
    VALUES,
    st.lists(VALUES, max_size=3),
    st.dictionaries(st.sampled_from(["TFM305", "*.py"]), VALUES | st.lists(VALUES, max_size=2), max_size=2),
)


@settings(max_examples=500)
@given(st.dictionaries(st.sampled_from([*keys(), "root", "path", "gate-bytes", "x"]), TABLES, min_size=1, max_size=2))
def test_the_schema_takes_what_the_parser_takes(table: dict[str, Any]) -> None:
    try:
        from_table(table)
        accepted = True
    except ConfigError:
        accepted = False
    assert VALIDATOR.is_valid(table) == accepted


ODD = st.one_of(
    VALUES,
    st.text(max_size=5),
    st.dates(),
    st.datetimes(),
    st.times(),
    st.floats(),
    st.sampled_from([2**63, -(2**63) - 1, 10**400, "\0", "\n", "9" * 5000, "\u202e", "../x", "~", "[", "!", "\\"]),
)
ODD_TABLES = st.recursive(
    ODD,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


@settings(max_examples=400)
@given(st.dictionaries(st.sampled_from([*keys()]) | st.text(max_size=5), ODD_TABLES, min_size=1, max_size=2))
def test_whatever_a_table_holds_the_answer_is_a_configuration_or_one_line(table: dict[str, Any]) -> None:
    try:
        Config(**from_table(table, "pyproject.toml", "[tool.tfmemlint]"))
    except ConfigError as error:
        message = str(error)
        assert message.startswith("pyproject.toml: [tool.tfmemlint] ")
        assert message.isprintable()
        assert len(message) < 300


def test_a_table_of_pyproject_in_our_own_file_is_told_where_keys_stand() -> None:
    words = "tfmemlint.toml: tool: unknown key; keys stand at the top of this file, not below [tool.tfmemlint]"
    assert error_of({"tool": {"tfmemlint": {"select": []}}}) == words
    assert "below" not in error_of({"tool": {"ruff": {}}})
