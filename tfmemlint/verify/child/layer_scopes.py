"""Which layer an op belongs to, by the scope in its name; loaded by `training_step.py`.

TensorFlow makes the names of scopes unique (`conv2d_1` may be the second scope of the layer `conv2d`), so they are
noted as layers open them.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any


class Scopes:
    """The scopes that layers have opened. Those of models are left out: what they hold tells more."""

    def __init__(self) -> None:
        self._keras: Any = None
        self._by_scope: dict[str, Any] = {}
        self._order: list[Any] = []
        self._by_shape: dict[str, Any] | None = None

    def install(self, keras: Any) -> None:
        """Note the scopes of layers from here on."""
        self._keras = keras
        if keras.__name__.startswith("tf_keras"):
            self._install_2(keras.layers.Layer)
            return
        core: Any = importlib.import_module("keras.src.backend.tensorflow.core")
        enter, noted = core.name_scope.__enter__, self._noted

        def enter_noted(scope: Any) -> Any:
            entered = enter(scope)
            noted(getattr(scope, "caller", None))
            return entered

        core.name_scope.__enter__ = enter_noted

    def _install_2(self, layer: Any) -> None:
        """The same of Keras 2, whose layers cast what they are given within their scope."""
        cast, noted = layer._maybe_cast_inputs, self._noted

        def cast_noted(caller: Any, *args: Any, **kwargs: Any) -> Any:
            noted(caller)
            return cast(caller, *args, **kwargs)

        layer._maybe_cast_inputs = cast_noted

    def _noted(self, caller: Any) -> None:
        layer, model = self._keras.layers.Layer, self._keras.Model
        if isinstance(caller, layer):
            scope = sys.modules["tensorflow.python.framework.ops"].get_name_scope()
            self._by_scope[scope] = None if isinstance(caller, model) else caller
            if not isinstance(caller, model):
                self._order = [each for each in self._order if each is not caller] + [caller]

    def layers(self) -> list[tuple[str, str]]:
        """The name and class of each layer, in the order in which they were last applied."""
        return [(each.name, type(each).__name__) for each in self._order]

    def of(self, op: str, shape: str) -> list[int]:
        """The numbers of the layers in whose scopes an op stands, outer ones first; of one of an optimizer that of the
        only layer that has a weight of this shape."""
        words = op.removeprefix("gradient_tape/").split("/")
        scopes = ["/".join(words[: count + 1]) for count in range(len(words))]
        found = [self._by_scope[scope] for scope in scopes if self._by_scope.get(scope) is not None]
        if not found and not any(scope in self._by_scope for scope in scopes):
            owner = self._owner(shape)
            found = [owner] if owner is not None else []
        return [self._order.index(each) for each in dict.fromkeys(found) if each in self._order]

    def _owner(self, shape: str) -> Any:
        if self._by_shape is None:
            self._by_shape = {}
            for layer in self._order:
                for weight in layer._trainable_variables if hasattr(layer, "_trainable_variables") else ():
                    text = f"[{','.join(map(str, weight.shape))}]"
                    self._by_shape[text] = None if text in self._by_shape else layer
        return self._by_shape.get(shape)
