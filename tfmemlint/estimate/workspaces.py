"""What kernels of a card take beside what the ops ask for, of the two kinds of layers for which that is much.

Measured on an H200 (docs/estimate.md): the gradient of a recurrent layer in cuDNN works in 7 to 17 times its output
over all time steps, a transposed convolution in a padded copy, two copies in another layout and up to 1.7 outputs more.
"""

from __future__ import annotations

from tfmemlint.estimate.place import items
from tfmemlint.estimate.step import Applied, Pass, Tensor
from tfmemlint.estimate.weights import item_bytes

RECURRENT, TRANSPOSED = 17, 4
"""How many times the output of a layer its kernels work in, at most."""
IN_CUDNN = frozenset(("LSTM", "GRU"))


def workspace(one: Pass, batch: int) -> int:
    """Bytes at most in which a kernel of a card works while the gradients of a pass are made."""
    return max((_of_layer(applied, one, batch) for applied in one.graph.applied), default=0) if one.backward else 0


def _of_layer(applied: Applied, one: Pass, batch: int) -> int:
    inner = applied.inner or applied
    output = one.graph.tensors[applied.outputs[0]] if applied.outputs else Tensor(())
    if inner.kind.endswith("Transpose"):
        return TRANSPOSED * items(output, batch) * item_bytes(output.dtype)
    units = inner.arguments.get("units")
    if inner.kind not in IN_CUDNN or not isinstance(units, int) or not applied.inputs:
        return 0
    given = one.graph.tensors[applied.inputs[0]]
    steps = given.shape[1] if len(given.shape) > 1 else None
    both_ways = 2 if applied.inner is not None else 1
    sequence = Tensor((None, steps or 1, units), given.dtype, given.times)
    return RECURRENT * both_ways * items(sequence, batch) * item_bytes(given.dtype)
