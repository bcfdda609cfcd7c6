"""`tfmemlint rule`, `rules` and `config`: what the tool knows, printed."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tfmemlint.cli import output
from tfmemlint.cli.arguments import Parser
from tfmemlint.cli.usage import UsageError
from tfmemlint.report.site import page_url
from tfmemlint.shown import shown

if TYPE_CHECKING:
    from tfmemlint.lint.builtin_codes import OwnRule
    from tfmemlint.rule import Rule


def rule_parser() -> Parser:
    """The parser of `rule`."""
    parser = Parser("tfmemlint rule", description="Print the page of a rule.", allow_abbrev=False)
    parser.add_argument(
        "rule", metavar="CODE", nargs="?", help="a code such as TFM305, a rule's name, or the start of codes to list"
    )
    parser.add_argument("--all", action="store_true", help="print the pages of all rules")
    parser.add_argument("--output-format", choices=("text", "json"), default="text")
    parser.add_argument(
        "--color", choices=("auto", "always", "never"), default="auto",
        help="draw pages rather than write Markdown: on a terminal (auto), always or never",
    )  # fmt: skip
    return parser


def rules_parser() -> Parser:
    """The parser of `rules`."""
    parser = Parser("tfmemlint rules", description="List all rules.", allow_abbrev=False)
    parser.add_argument("--output-format", choices=("text", "json"), default="text")
    return parser


def config_parser() -> Parser:
    """The parser of `config`."""
    parser = Parser("tfmemlint config", description=config.__doc__, allow_abbrev=False)
    parser.add_argument("key", nargs="?", metavar="KEY", help="say what this key means")
    parser.add_argument("--path", default=".", help="show what is in effect for this file or directory (default: .)")
    parser.add_argument("--config", metavar="FILE", help="use this configuration file")
    parser.add_argument("--isolated", action="store_true", help="ignore all configuration files")
    parser.add_argument("--schema", action="store_true", help="print the JSON schema of the configuration")
    parser.add_argument("--output-format", choices=("text", "json"), default="text")
    return parser


def rule(words: Sequence[str]) -> int:
    """Print one rule's page, those of all rules, or the list of a group."""
    parser = rule_parser()
    options = parser.parse_args(words)
    if (options.rule is None) is not options.all:
        parser.error("name one rule, or --all")
    records = _records()
    if options.all:
        return _show(records, "\n".join(each["page"] for each in records), options)
    wanted = options.rule.strip().lower()
    group = [each for each in records if each["code"].lower().startswith(wanted)]
    found = next((each for each in records if wanted in (each["code"].lower(), each["name"])), None)
    if found is None and group and any(letter.isdigit() for letter in wanted):
        return _list(group, options.output_format)
    if found is None:
        import difflib

        known = [text for each in records for text in (each["name"], each["code"].lower())]
        near = difflib.get_close_matches(wanted, known, 1, 0.6)
        shown = next((each for each in records if near and near[0] in (each["code"].lower(), each["name"])), None)
        hint = f"did you mean {shown['code']} ({shown['name']})?" if shown else "`tfmemlint rules` lists all rules"
        raise UsageError(f"no rule '{options.rule}'; {hint}")
    return _show(found, found["page"], options)


def _show(records: Any, page: str, options: argparse.Namespace) -> int:
    with output.tolerant(sys.stdout) as out:
        if options.output_format == "json":
            out.write(_json(records))
        elif output.is_colored(out, options.color):
            from tfmemlint.cli.rendered import write_markdown

            write_markdown(page, out)
        else:
            out.write(page)
    return 0


def rules(words: Sequence[str]) -> int:
    """List all rules."""
    options = rules_parser().parse_args(words)
    return _list(_records(), options.output_format)


def _list(records: Sequence[Mapping[str, Any]], output_format: str) -> int:
    """Print a line for each rule."""
    records = [{key: value for key, value in each.items() if key != "page"} for each in records]
    with output.tolerant(sys.stdout) as out:
        if output_format == "json":
            out.write(_json(records))
        else:
            head = ("code", "name", "severity", "default", "fix", "summary")
            out.writelines(f"{line}\n" for line in _table([head, *(_row(each) for each in records)]))
    return 0


def _row(record: Mapping[str, Any]) -> tuple[str, ...]:
    default = "on" if record["default"] else "off"
    fix = "/".join("shown" if each == "display" else each for each in record["fix"]) or "-"
    return (record["code"], record["name"], record["severity"], default, fix, record["summary"])


def _table(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _records() -> list[dict[str, Any]]:
    """All codes, the tool's own first, as `--output-format json` gives them."""
    from tfmemlint.lint.builtin_codes import OWN_RULES
    from tfmemlint.lint.registry import load_rules
    from tfmemlint.report.rule_page import whole_page

    own = [_record(each, True, each.text) for each in OWN_RULES]
    return own + [_record(each, each.default, whole_page(each)) for each in load_rules()]


def _record(rule: Rule | OwnRule, default: bool, text: str) -> dict[str, Any]:
    fix = [safety.value for safety in rule.fix_safety]
    severity = rule.severity.value
    kinds = " or ".join("shown only" if each == "display" else each for each in fix) or "none"
    facts = f"severity: {severity}; {'on' if default else 'off'} by default; fix: {kinds}"
    url = page_url(rule.code)
    where = f"\n{url}\n" if url else ""
    return {
        "code": rule.code, "name": rule.name, "summary": rule.summary, "severity": severity, "default": default,
        "fix": fix, "url": url, "page": f"# {rule.code}: {rule.name}\n\n{facts}\n\n{rule.summary}\n\n{text}\n{where}",
    }  # fmt: skip


def config(words: Sequence[str]) -> int:
    """Show the configuration in effect, what one key means, or the JSON schema."""
    from tfmemlint.config.settings import Configs

    options = config_parser().parse_args(words)
    if options.schema:
        text = schema_text()
    elif options.key:
        text = _described(options.key, options.output_format)
    else:
        found = Configs(file=options.config, isolated=options.isolated)
        path = options.path
        if not os.path.exists(path):
            raise UsageError(f"--path {path}: no such file or directory")
        text = _in_effect(found.for_directory(path) if os.path.isdir(path) else found.for_file(path), options)
    with output.tolerant(sys.stdout) as out:
        out.write(text)
    return 0


def schema_text() -> str:
    """The JSON schema of `[tool.tfmemlint]`, as it is shipped."""
    from importlib.resources import files

    return files("tfmemlint.config").joinpath("config.schema.json").read_text("utf-8")


def _described(key: str, output_format: str) -> str:
    from tfmemlint.config.settings import keys, nearest_key

    properties = json.loads(schema_text())["properties"]
    if key not in keys():
        raise UsageError(f"no key '{key}'; {nearest_key(key)}")
    entry = properties[key]
    if output_format == "json":
        return _json({"key": key, **entry})
    default = _toml(keys()[key].default) if "default" not in entry else _toml(entry["default"])
    return f"{key}\n  {entry['description']}\n  default: {default}\n"


def _in_effect(found: Any, options: Any) -> str:
    from tfmemlint.config.settings import keys

    values = {key: _plain(getattr(found, field.name)) for key, field in keys().items()}
    if options.output_format == "json":
        return _json({"path": found.path or None, "values": values})
    lines = [f"# from {shown(found.path)}" if found.path else "# no configuration file found; these are the defaults"]
    for key, value in values.items():
        lines.append(f"# {key} is not set" if value is None else f"{key} = {_toml(value)}")
    return "\n".join(lines) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    if isinstance(value, int) and not isinstance(value, bool):
        return int(value)
    return getattr(value, "value", value)


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{json.dumps(key)} = {_toml(each)}" for key, each in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    return "not set" if value is None else json.dumps(value)


def _json(value: Any) -> str:
    return json.dumps(value, indent=2) + "\n"


COMMANDS: Mapping[str, Callable[[Sequence[str]], int]] = {"rule": rule, "rules": rules, "config": config}
