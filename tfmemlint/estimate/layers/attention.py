"""Attention."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tfmemlint.estimate.layers.kind import Kind
from tfmemlint.estimate.place import Place
from tfmemlint.estimate.program import MASK, Buffer
from tfmemlint.estimate.step import Applied
from tfmemlint.estimate.weights import Shape, Unknown, Weight, flag, known, number

QUERY, KEY, VALUE, OUT = range(4)
"""The four projections, in the order of their weights."""


def _weights(applied: Applied, inputs: Sequence[Shape]) -> tuple[Weight, ...]:
    heads, key = number(applied.arguments, "num_heads"), number(applied.arguments, "key_dim")
    value = number({"value_dim": applied.arguments.get("value_dim") or key}, "value_dim")
    last = len(inputs) - 1
    width, given, keyed = (known(inputs[min(j, last)][-1], "the shape of its input") for j in range(3))
    kernels = [(width, heads, key), (keyed, heads, key), (given, heads, value), (heads, value, width)]
    biases = [(heads, key), (heads, key), (heads, value), (width,)]
    if not flag(applied.arguments, "use_bias", True):
        return tuple(Weight(kernel) for kernel in kernels)
    return tuple(Weight(shape) for pair in zip(kernels, biases, strict=True) for shape in pair)


class _Sizes:
    """Bytes of the tensors of one attention: of the projected queries, keys and values, of the scores, of what comes
    of them."""

    def __init__(self, place: Place) -> None:
        heads, key = number(place.arguments, "num_heads"), number(place.arguments, "key_dim")
        value = place.arguments.get("value_dim") or key
        rows, asked, given = place.rows(), place.length(1), place.length(1, min(1, len(place.applied.inputs) - 1))
        self.query = rows * asked * heads * key * place.item
        self.key = rows * given * heads * key * place.item
        self.value = rows * given * heads * value * place.item
        self.scores = rows * heads * asked * given * place.item
        self.context = rows * asked * heads * value * place.item


def _attention(place: Place) -> None:
    """See `_plain` and `_dropped`. The gradient of each projection's kernel exists once for each example (B x W)
    before it is summed: batch 32 and a kernel of 768 x 768 are 75 MB."""
    (_dropped if place.arguments.get("dropout") and place.training else _plain)(place, _Sizes(place))


def _plain(place: Place, size: _Sizes) -> None:
    """Without dropout, einsums on [B, T, H, D]: Q, K, V, the scores twice (once where they are masked), the context;
    all are kept. Backward: three tensors of the scores."""
    query, value, key, of = _inputs(place)
    v = place.op("value", [value], size.value)
    q = place.op("query", [query], size.query)
    k = place.op("key", [key], size.key)
    weights = place.op("softmax", [q, k], size.scores)
    masked = place.arguments.get("use_causal_mask") or place.arguments.get("attention_mask")
    scaled = [] if masked else [place.op("scores", [weights], size.scores)]
    context = place.op("context", [weights, v], size.context)
    place.give(place.op("output", [context], place.out_bytes()))

    def backward(dy: Buffer) -> None:
        _kernel_gradient(place, OUT, context, dy)
        dc = place.op("dcontext", [dy], size.context)
        dv = place.op("dvalue", [weights, dc], size.value)
        dweights = place.op("dsoftmax", [dc, v], size.scores, workspace=2 * size.scores)
        dscores = place.op("dscores", [dweights, weights, *scaled], size.scores, in_place=[dweights])
        dq = place.op("dquery", [dscores, k], size.query)
        _projected(place, QUERY, query, dq, of[QUERY])
        dk = place.op("dkey", [dscores, q], size.key)
        _projected(place, KEY, key, dk, of[KEY])
        _projected(place, VALUE, value, dv, of[VALUE])

    place.on_backward(backward)


def _dropped(place: Place, size: _Sizes) -> None:
    """With dropout: transposed copies of Q, K, V and the context, the softmax, a mask of a byte for each score, and the
    dropped softmax; all are kept. Backward: two tensors of the scores."""
    query, value, key, of = _inputs(place)
    items = size.scores // place.item
    mask = place.op("GreaterEqual", [place.op("random_uniform", [], items * 4, why=MASK)], items, why=MASK)
    v = _turned(place, place.op("value", [value], size.value))
    q = _turned(place, place.op("query", [query], size.query))
    k = _turned(place, place.op("key", [key], size.key))
    weights = place.op("softmax", [place.op("scores", [q, k], size.scores)], size.scores)
    dropped = place.op("dropout", [weights, mask], size.scores)
    context = _turned(place, place.op("context", [dropped, v], size.context))
    place.give(place.op("output", [context], place.out_bytes()))

    def backward(dy: Buffer) -> None:
        _kernel_gradient(place, OUT, context, dy)
        dc = _turned(place, place.op("dcontext", [dy], size.context))
        dweights = place.op("ddropout", [dc, v], size.scores)
        dweights = place.op("dropout/MulGrad", [dweights, mask], size.scores, in_place=[dweights])
        place.sink("Sum", [place.op("softmax/mul", [dweights, weights], size.scores)])
        dscores = place.op("softmax/sub", [dweights, weights], size.scores, in_place=[dweights])
        dq = _turned(place, place.op("dquery", [dscores, k], size.query))
        _projected(place, QUERY, query, dq, of[QUERY])
        dk = _turned(place, place.op("dkey", [dscores, q], size.key))
        _projected(place, KEY, key, dk, of[KEY])
        dv = _turned(place, place.op("dvalue", [dropped, dc], size.value))
        _projected(place, VALUE, value, dv, of[VALUE])

    place.on_backward(backward)


def _inputs(place: Place) -> tuple[Buffer, Buffer, Buffer, dict[int, int]]:
    """Query, value and key, and which input each is: Keras calls it with (query, value, key), value also as key."""
    last = len(place.applied.inputs) - 1
    of = {QUERY: 0, VALUE: min(1, last), KEY: min(2, last)}
    return place.x(of[QUERY]), place.x(of[VALUE]), place.x(of[KEY]), of


def _turned(place: Place, tensor: Buffer) -> Buffer:
    return place.op("transpose", [tensor], tensor.bytes)


def _kernel_gradient(place: Place, which: int, source: Buffer, gradient: Buffer) -> None:
    if not place.trained:
        return
    index = which * (len(place.weights) // 4)
    each = place.weight_bytes(index)
    examples = place.op("dkernel of each example", [source, gradient], place.rows() * each)
    place.update(index, place.op("dkernel", [examples], each))


def _projected(place: Place, which: int, source: Buffer, gradient: Buffer, j: int) -> None:
    _kernel_gradient(place, which, source, gradient)
    if place.wants(j):
        place.pass_on(place.op("dx", [gradient], source.bytes), j)


def _simple(place: Place) -> None:
    """The layer without projections: the scores, with their softmax in place, and n; keeps its inputs and the softmax.
    Backward: two tensors of the scores."""
    if place.arguments.get("dropout") or place.arguments.get("score_mode", "dot") != "dot":
        raise Unknown("the dropout or score")
    query, value, key, of = _inputs(place)
    scores = place.rows() * place.length(1) * place.length(1, of[VALUE]) * place.item
    weights = place.op("MatMul", [query, key], scores)
    weights = place.op("Softmax", [weights], scores, in_place=[weights])
    place.give(place.op("MatMul_1", [weights, value], place.out_bytes()))

    def backward(dy: Buffer) -> None:
        dweights = place.op("MatMul_1/MatMul", [dy, value], scores)
        place.sink("Sum", [place.op("mul", [dweights, weights], scores)])
        dscores = place.op("sub", [dweights, weights], scores, in_place=[dweights])
        products = {VALUE: (value, [weights, dy]), QUERY: (query, [dscores, key]), KEY: (key, [dscores, query])}
        for which, (given, reads) in products.items():
            if place.wants(of[which]):
                place.pass_on(place.op("MatMulGrad", reads, given.bytes), of[which])

    place.on_backward(backward)


def _scale(applied: Applied, inputs: Sequence[Shape]) -> tuple[Weight, ...]:
    return (Weight(()),) if flag(applied.arguments, "use_scale", False) else ()


KINDS: Mapping[str, Kind] = {
    "MultiHeadAttention": Kind(_attention, _weights),
    "Attention": Kind(_simple, _scale),
}
