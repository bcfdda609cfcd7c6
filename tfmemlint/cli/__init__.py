"""The command line: `main`, one module a command, and where output goes. It is a driver and may import everything but
the tools for developers."""

from tfmemlint.cli.commands import main

__all__ = ["main"]
