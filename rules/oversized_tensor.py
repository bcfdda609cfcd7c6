from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import (
    Array,
    Call,
    File,
    Finding,
    Rule,
    flow,
    knowledge,
    on_call,
    show_bytes,
)


class OversizedTensor(Rule):
    """
    ## What it does
    Reports creation ops whose shape is known and whose result passes the limit `max-tensor` (1 GiB unless configured).

    ## Why it costs memory
    The bytes are the product of the sizes and the size of the dtype. `tf.random.normal((1024, 1024, 1024, 3))` is
    12 GiB, and the op that draws the numbers needs more while it runs.

    ## When not to use it
    When the memory is there; or raise `max-tensor`. A memory for replay whose capacity a parameter asks for is not
    reported where it has a byte for each value, as `uint8` frames do: no smaller one holds as much.

    ## References
    - https://www.tensorflow.org/guide/tensor
    """

    code = "TFM701"
    summary = "one tensor passes the configured size"
    worth_in_bytes = False  # the limit is the user's own
    no_fix = "how the data is used decides how to split it"
    in_tests = False

    @on_call(*knowledge.group("creates"))
    def check(self, call: Call, file: File) -> Iterator[Finding]:
        value = call.value
        if not isinstance(value, Array) or value.bytes is None or value.bytes <= file.config.max_tensor:
            return
        if value.bytes == value.size and flow.parameters_behind(file, call.node.args[0].value):
            return  # asked for by a number, and a byte a value is the least that holds it
        sizes = " x ".join(str(size) for size in value.shape or ())
        what = f"this makes {sizes} {value.dtype} values: {show_bytes(value.bytes)}"
        yield self.finding(call, file, what, bytes=value.bytes)
