"""`tfmemlint server`."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

from tfmemlint.cli.arguments import Parser
from tfmemlint.cli.usage import UsageError

_DESCRIPTION = """Serve an editor over the language server protocol, on standard input and output. Editors start it;
docs/editors.md has the set-ups."""


def server_parser() -> Parser:
    """The parser of `server`."""
    parser = Parser("tfmemlint server", description=_DESCRIPTION, allow_abbrev=False)
    parser.add_argument("--stdio", action="store_true", help="speak over standard input and output (always)")
    return parser


def server_main(words: Sequence[str]) -> int:
    """Serve until the editor goes; the exit code. Raises UsageError where the server's packages are not installed."""
    server_parser().parse_args(words)
    if not _is_installed():
        raise UsageError("the language server needs pygls 2, which is not installed: pip install 'tfmemlint[lsp]'")
    from tfmemlint.server.lsp import serve

    return serve()


def _is_installed() -> bool:
    """Whether pygls is there in a version that has its server where we look for it."""
    try:
        return find_spec("pygls.lsp.server") is not None and find_spec("lsprotocol.types") is not None
    except ModuleNotFoundError:
        return False
