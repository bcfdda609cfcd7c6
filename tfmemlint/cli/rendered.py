"""Markdown for a terminal's reader. Of all commands only `rule` writes any, so that only it pays for what draws it."""

from __future__ import annotations

from typing import TextIO

from tfmemlint.cli import output


def write_markdown(text: str, stream: TextIO) -> None:
    """Write a page in the terminal's own colours, which are readable on light and dark ones."""
    from rich.console import Console
    from rich.markdown import Markdown
    from rich.style import Style
    from rich.syntax import ANSISyntaxTheme
    from rich.theme import Theme

    code = {
        ("Comment",): "bright_black", ("Keyword",): "magenta",
        ("Literal", "Number"): "cyan", ("Literal", "String"): "green",
    }  # fmt: skip
    painted = ANSISyntaxTheme({kind: Style(color=name) for kind, name in code.items()})
    ours = {
        "markdown.code": "cyan", "markdown.h1": "bold", "markdown.h2": "bold yellow", "markdown.table.header": "bold",
        "markdown.table.border": "dim", "markdown.link_url": "blue underline",
    }  # fmt: skip
    width = min(output.columns(stream), 100)
    console = Console(file=stream, force_terminal=True, width=width, theme=Theme(ours), highlight=False)
    console.print(Markdown(text, code_theme=painted))  # type: ignore[arg-type]  # which hands it to what takes both
