from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import Call, File, Finding, Fix, Function, Rule, Safety, elements, fixes, flow, on_call, show_bytes


class ArrayCapturedInLayer(Rule):
    """
    ## What it does
    Reports large NumPy arrays that a `Lambda` layer's function or a custom loss closes over.

    ## Why it costs memory
    The function is traced into the model's graphs, and the array becomes a constant in each of them: one for `fit` and
    one for `predict`, where a weight would be held once. The model can hardly be saved either.

    ## Fix safety
    Unsafe: the name is a tensor then.

    ## When not to use it
    When the graph must hold the constant.

    ## References
    - https://keras.io/api/layers/core_layers/lambda/
    """

    code = "TFM614"
    summary = "an array captured by a Lambda layer or loss is a constant of every graph"
    worth_in_bytes = False  # each graph has a copy of its own
    fix_safety = (Safety.UNSAFE,)
    in_tests = False

    @on_call("tf.keras.layers.Lambda")
    def layer(self, call: Call, file: File) -> Iterator[Finding]:
        yield from self._functions(call, ("function",), file)

    @on_call("tf.keras.Model.compile")
    def loss(self, call: Call, file: File) -> Iterator[Finding]:
        yield from self._functions(call, ("loss", "metrics", "weighted_metrics"), file)

    def _functions(self, call: Call, names: tuple[str, ...], file: File) -> Iterator[Finding]:
        given = [leaf for name in names for option in call.value_of(name).options for leaf in elements(option)]
        for function in given:
            captures = (
                flow.captured_arrays(file, function.node, defaults=True) if isinstance(function, Function) else ()
            )
            capture = next((each for each in captures if (each.array.bytes or 0) >= file.config.min_bytes), None)
            if capture is not None:
                size, made = capture.array.bytes or 0, capture.made
                yield self.finding(
                    capture.node,
                    file,
                    f"this array of {show_bytes(size)} becomes a constant of the model's graphs; use a tensor",
                    fix=Fix.unsafe(
                        "make it a tensor", fixes.convert_after(file, made, "tf.constant") if made else None
                    ),
                    related=[(call, "used by the model here")],
                    bytes=size,
                )
