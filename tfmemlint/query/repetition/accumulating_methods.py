"""Methods that join what a model gives to an attribute: `self.acc = np.vstack((self.acc, part))`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.values import Function
from tfmemlint.query.calls import calls
from tfmemlint.query.keras.layers import in_layer
from tfmemlint.query.keras.models import runs_model
from tfmemlint.query.limits import FEW_STEPS, FOLLOWED_CALLS
from tfmemlint.query.repetition.accumulating import Accumulated, names_of
from tfmemlint.query.repetition.repeats import repeats
from tfmemlint.query.tracing.results import is_tensor, made_of_tensor

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File
    from tfmemlint.syntax.names import Loop


def loop_around_method(file: File, join: Call, found: Accumulated) -> Loop | None:
    """The loop that calls a method which adds results of a model to an attribute of its object, where no code that the
    loop runs besides reads the attribute or begins it anew."""
    method = file.contexts.function(join.node)
    if not isinstance(method, cst.FunctionDef) or not found.name.startswith("self.") or file.contexts.traced(method):
        return None
    if file.contexts.loop(join.node) is not None or found.is_used_otherwise(method):
        return None
    again = repeats(file, join.node, calls=1, beyond=FEW_STEPS)
    loop = again.place if again is not None else None
    if not isinstance(loop, (cst.For, cst.While)) or in_layer(file, method):
        return None
    run = calls(file, loop.body, through=FOLLOWED_CALLS)
    targets = {t.node for call in run for t in call.target.options if isinstance(t, Function)} - {method}
    if any(next(names_of(file, code, found.name), None) is not None for code in (loop.body, *targets)):
        return None
    made = (is_tensor(file, p) or made_of_tensor(file, p) or _given(file, p) for p in found.others)
    return loop if any(made) else None


def _given(file: File, part: cst.BaseExpression) -> bool:
    """Whether a part is what a model gives, as an array."""
    written = file.written(part)
    call = file.call(written) if isinstance(written, cst.Call) else None
    inner = call.receiver_node if call is not None and call.method == "numpy" else None
    call = file.call(inner) if isinstance(inner, cst.Call) else call
    return call is not None and (runs_model(file, call) or (call.name or "").startswith("tf.keras.Model.predict"))
