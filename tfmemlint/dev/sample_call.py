"""A line of code that calls an API, for the first sample of a new rule."""

from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.config.settings import Config
from tfmemlint.finding import Finding
from tfmemlint.knowledge.naming import canonical, known
from tfmemlint.knowledge.signature import REQUIRED, Kind, parse
from tfmemlint.knowledge.tables import texts
from tfmemlint.lint.engine import lint
from tfmemlint.model.calls import Call
from tfmemlint.model.file import File
from tfmemlint.rule import Rule, on_call

_TENSORFLOW = "import tensorflow as tf\n"
_OBJECTS = {"tf.data.Dataset": "tf.data.Dataset.range(8)", "tf.keras.Model": "tf.keras.Sequential()"}
"""How to get one of a class that is not simply called."""


def sample_call(name: str) -> str | None:
    """A program whose last line calls the API with this canonical name; None where no such line is found."""
    for line in _lines(name):
        program = f"{imports(name)}\n{line}\n"
        if name in _called(program, name):
            return program
    return None


def imports(name: str) -> str:
    """The imports of a program that calls the API. Files that do not name TensorFlow are not read by rules."""
    return f"import numpy as np\n{_TENSORFLOW}" if name.startswith("np.") else _TENSORFLOW


def api_name(written: str) -> str | None:
    """The canonical name of an API as a user may write it (`tensorflow.image.resize`); None where it is not known."""
    name = canonical(written)
    return name if known(name) else None


def _lines(name: str) -> Iterator[str]:
    """Statements that may call it: by its name, and as a method of an object of its class."""
    owner, _, method = name.rpartition(".")
    if owner in texts("classes"):
        yield f"result = {_OBJECTS.get(owner, f'{owner}({_arguments(owner)})')}.{method}({_arguments(name)})"
    yield f"result = {name}({_arguments(name)})"


def _arguments(name: str) -> str:
    """What must be passed, by names that say what it is."""
    signature = parse(texts("signatures").get(name, ""))
    needed = [p for p in signature.parameters if p.default is REQUIRED]
    return ", ".join(f"{p.name}={p.name}" if p.kind is Kind.KEYWORD else p.name for p in needed)


def _called(program: str, name: str) -> set[str]:
    """The names among these that the model finds called in a program."""
    heard: set[str] = set()

    class Listener(Rule):
        """
        ## What it does
        ## Why it costs memory
        ## When not to use it
        ## References
        """

        code = "TFM000"
        summary = "hears a call"

        @on_call(name)
        def check(self, call: Call, file: File) -> Iterator[Finding]:
            heard.add(call.name or "")
            yield from ()

    lint(program.encode(), "program.py", Config(), [Listener()])
    return heard
