"""What the calls of a flagged function leave behind: variables that each makes anew, tensors of a graph that are kept;
loaded by `main.py`.
"""

from __future__ import annotations

import builtins
import functools
import importlib
import sys
from itertools import islice, pairwise
from types import GeneratorType
from typing import Any

HOOKS = ("reached", "kept", "called")
SYMBOLIC = ("SymbolicTensor", "Tensor")
"""The classes of a graph's tensors, in later and in earlier versions."""
MOST_PLACES, EXCERPT = 200, 300
TAKEN = 3
"""Elements of a generator, of which each runs what stands in its loop."""


class Calls:
    """The hooks that a program calls at its flagged place."""

    def __init__(self) -> None:
        self._variables = 0
        self._at: list[int] = []
        """How many variables there were each time that the program came to the flagged place."""
        self._places: list[tuple[Any, str | None]] = []
        self._symbolic = False

    def install(self) -> None:
        """Put the hooks where every module finds them, as functions that nothing is traced of, and count variables."""
        tensorflow: Any = sys.modules["tensorflow"]
        for name in HOOKS:
            hook = tensorflow.autograph.experimental.do_not_convert(getattr(self, name))
            setattr(builtins, f"tfmemlint_{name}", hook)
        made: Any = importlib.import_module("tensorflow.python.ops.resource_variable_ops").BaseResourceVariable
        make = made.__init__

        @functools.wraps(make)
        def __init__(it: Any, *args: Any, **kwargs: Any) -> None:
            self._variables += 1
            make(it, *args, **kwargs)

        made.__init__ = __init__

    def reached(self) -> None:
        """The program comes to the flagged place."""
        self._at.append(self._variables)

    def kept(self, owner: Any, name: str | None = None) -> None:
        """Something is stored: as an attribute of that name, of the program itself for None, or in a container."""
        self.reached()
        if len(self._places) < MOST_PLACES:
            self._places.append((owner, name))
            self._symbolic |= bool(self._held(owner, name))

    def called(self, make: Any, use: Any, traced: bool) -> None:
        """Call twice what `make` gives as `use` says, and of a generator take some elements; traced, as Keras does it
        in `fit`."""
        it = make()
        if traced:
            step = sys.modules["tensorflow"].function(lambda: use(it))
            step()
            return
        for _ in range(2):
            given = use(it)
            if isinstance(given, GeneratorType):
                list(islice(given, TAKEN))

    def _held(self, owner: Any, name: str | None) -> list[Any]:
        """The tensors of graphs at a place."""
        if name is not None:
            owner = getattr(sys.modules["__main__"] if owner is None else owner, name, None)
        try:
            parts = sys.modules["tensorflow"].nest.flatten(owner)
        except Exception:  # a container that has no order
            parts = [owner]
        return [each for each in parts if type(each).__name__ in SYMBOLIC and hasattr(each, "graph")]

    def report(self) -> dict[str, Any]:
        """How often the program came to the place, after how many of these times variables were made, and in words
        what is still held of a graph."""
        made = sum(last > first for first, last in pairwise([*self._at, self._variables]))
        held = next((each for place in self._places for each in self._held(*place)), None)
        return {
            "reached": len(self._at),
            "made": made,
            "symbolic": self._symbolic,
            "held": "" if held is None else self._words(held),
        }

    @staticmethod
    def _words(tensor: Any) -> str:
        """What a tensor of a graph holds, and what comes of using it outside."""
        graph = tensor.graph
        says = f"a tensor of the graph {graph.name!r} is held at the end, with {len(graph.get_operations())} operations"
        try:
            sys.modules["tensorflow"].identity(tensor)
        except Exception as error:
            return f"{says}; used outside it raises {type(error).__name__}"[:EXCERPT]
        return says[:EXCERPT]
