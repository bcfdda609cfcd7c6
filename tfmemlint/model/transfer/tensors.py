"""TensorFlow operations: dtypes and shapes of what they make, with TensorFlow's defaults."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfmemlint.model.arithmetic import broadcast, divided, promote
from tfmemlint.model.transfer.arrays import expanded, reshaped
from tfmemlint.model.transfer.axes import joined_shape
from tfmemlint.model.transfer.structures import as_tensor
from tfmemlint.model.transfer.table import dtype_of, models, shape_of
from tfmemlint.model.values import Array, Const, Length, Method, Sequence, Unknown, Value, constant, integer
from tfmemlint.syntax.numbers import range_length

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call


def written_dtype(call: Call, default: str | None) -> tuple[str | None, bool]:
    """The dtype of a creation op and whether the user wrote it."""
    if call.arg("dtype") is None or call.value_of("dtype") == Const(None):
        return (None if call.open else default), False
    return dtype_of(call.value_of("dtype"), "float32"), True


@models("tf.zeros", "tf.ones", "tf.random.normal", "tf.random.uniform", "tf.random.truncated_normal",
        "tf.random.stateless_normal", "tf.random.stateless_uniform", "tf.random.Generator.normal",
        "tf.random.Generator.uniform", "tf.random.gamma", "tf.random.poisson", "tf.keras.ops.zeros",
        "tf.keras.ops.ones", "tf.keras.random.normal", "tf.keras.random.uniform",
        "tf.keras.random.truncated_normal", "tf.random.stateless_truncated_normal",
        "tf.random.Generator.truncated_normal", "tf.keras.backend.zeros", "tf.keras.backend.ones",
        "tf.keras.backend.random_normal", "tf.keras.backend.random_uniform", "tf.keras.ops.empty")  # fmt: skip
def _created(call: Call, target: Value) -> Value:
    dtype, explicit = written_dtype(call, "float32")
    return Array("tf", dtype, shape_of(call.value_of("shape")), call, explicit)


@models("tf.fill")
def _fill(call: Call, target: Value) -> Value:
    value = as_tensor(call.value_of("value"))
    dtype = value.dtype if isinstance(value, Array) else None
    return Array("tf", dtype, shape_of(call.value_of("dims")), call)


@models("tf.constant", "tf.convert_to_tensor", "tf.Variable", "tf.identity", "tf.stop_gradient")
def _converted(call: Call, target: Value) -> Value:
    data = as_tensor(call.value_of(0))
    name = getattr(target, "name", "")
    variable = name == "tf.Variable"
    given = data if isinstance(data, Array) else Array("tf", None, None)
    dtype, explicit = written_dtype(call, given.dtype)
    shape = shape_of(call.value_of("shape")) if name == "tf.constant" and call.arg("shape") is not None else given.shape
    return Array("tf", dtype, shape, given.origin or call, explicit or given.explicit, variable)


@models("tf.GradientTape.gradient")
def _gradient(call: Call, target: Value) -> Value:
    """One gradient has the shape of its source; of several sources little is said."""
    source = call.value_of("sources")
    return Array("tf", source.dtype, source.shape) if isinstance(source, Array) else Array("tf")


@models("tf.compat.v1.placeholder")
def _placeholder(call: Call, target: Value) -> Value:
    dtype = dtype_of(call.value_of("dtype"), "float32")
    return Array("tf", dtype, shape_of(call.value_of("shape")) if call.arg("shape") is not None else None)


@models("tf.keras.layers.Layer.add_weight", "tf.keras.Layer.add_weight", "tf.compat.v1.get_variable", "tf.get_variable")
def _weight(call: Call, target: Value) -> Value:
    given = call.value_of("shape")
    positional = [call.value_of(i) for i in range(2) if call.arg("shape") is None and call.arg(i) is not None]
    shape = next((v for v in (given, *positional) if isinstance(v, Sequence)), None)
    dtype, explicit = written_dtype(call, "float32")
    return Array("tf", dtype, shape_of(shape) if shape is not None else None, call, explicit, variable=True)


@models("tf.cast", "tf.saturate_cast", "tf.image.convert_image_dtype")
def _cast(call: Call, target: Value) -> Value:
    data = as_tensor(call.value_of(0))
    shape = data.shape if isinstance(data, Array) else None
    return Array("tf", dtype_of(call.value_of("dtype"), "float32"), shape, call, True)


@models("tf.zeros_like", "tf.ones_like")
def _like(call: Call, target: Value) -> Value:
    data = as_tensor(call.value_of(0))
    given = data if isinstance(data, Array) else Array("tf")
    dtype, explicit = written_dtype(call, given.dtype)
    return Array("tf", dtype, given.shape, call, explicit)


@models("tf.eye", "tf.keras.ops.eye", "tf.keras.ops.identity")
def _eye(call: Call, target: Value) -> Value:
    dtype, explicit = written_dtype(call, "float32")
    n = integer(call.value_of("num_rows", "N", "n"))
    m = integer(call.value_of("num_columns", "M")) if call.arg("num_columns", "M") is not None else n
    shape = (n, m) if call.lacks("batch_shape") else None
    return Array("tf", dtype, shape, call, explicit)


@models("tf.one_hot", "tf.keras.ops.one_hot", "tf.keras.backend.one_hot")
def _one_hot(call: Call, target: Value) -> Value:
    indices, depth = as_tensor(call.value_of(0)), integer(call.value_of(1))
    dtype, explicit = written_dtype(call, "float32")
    shape = (*indices.shape, depth) if isinstance(indices, Array) and indices.shape is not None else None
    return Array("tf", dtype, shape, call, explicit)


@models("tf.linspace")
def _linspace(call: Call, target: Value) -> Value:
    ends = [call.value_of("start"), call.value_of("stop")]
    count = integer(call.value_of("num"))
    kinds = [type(constant(e)) if constant(e) is not None else None for e in ends]
    dtype = "float64" if kinds == [int, int] else "float32" if float in kinds and None not in kinds else None
    return Array("tf", dtype, (count,), call)


@models("tf.range")
def _range(call: Call, target: Value) -> Value:
    bounds = [constant(call.value_of(i)) for i in range(3) if call.arg(i) is not None]
    kinds = {type(b) for b in bounds}
    default = "float32" if float in kinds else "int32" if kinds == {int} else None
    dtype, explicit = written_dtype(call, default)
    count = range_length(b if isinstance(b, int) else None for b in bounds)
    return Array("tf", dtype, (count,), call, explicit)


@models("tf.reshape")
def _reshape(call: Call, target: Value) -> Value:
    data = as_tensor(call.value_of(0))
    given = data if isinstance(data, Array) else Array("tf")
    return replace(given, shape=reshaped(given, shape_of(call.value_of("shape"))))


@models("tf.expand_dims")
def _expand_dims(call: Call, target: Value) -> Value:
    data = as_tensor(call.value_of(0))
    if not isinstance(data, Array):
        return Array("tf")
    axis = integer(call.value_of("axis")) if call.arg("axis") is not None else None
    return replace(data, shape=expanded(data.shape, axis))


@models("tf.math.add", "tf.math.subtract", "tf.math.multiply", "tf.math.divide", "tf.truediv", "tf.add",
        "tf.subtract", "tf.multiply", "tf.divide", "tf.math.maximum", "tf.math.minimum", "tf.maximum",
        "tf.minimum")  # fmt: skip
def _elementwise(call: Call, target: Value) -> Value:
    a, b = as_tensor(call.value_of(0)), as_tensor(call.value_of(1))
    if not (isinstance(a, Array) and isinstance(b, Array)):
        return Array("tf")
    dtype = a.dtype if a.dtype == b.dtype or b.shape == () else promote(a.dtype, b.dtype)
    operation = "Divide" if "div" in getattr(target, "name", "") else "Add"
    return Array("tf", divided(operation, dtype, "tf"), broadcast(a.shape, b.shape), a.origin or b.origin)


@models("tf.math.exp", "tf.math.log", "tf.math.sqrt", "tf.math.square", "tf.math.tanh", "tf.math.sin", "tf.math.cos",
        "tf.math.sigmoid", "tf.nn.relu", "tf.nn.softmax", "tf.math.abs", "tf.negative", "tf.clip_by_value",
        "tf.nn.l2_normalize", "tf.nn.log_softmax", "tf.nn.gelu", "tf.nn.elu", "tf.nn.leaky_relu", "tf.nn.selu",
        "tf.nn.swish", "tf.nn.softplus", "tf.nn.relu6", "tf.nn.dropout", "tf.math.log1p", "tf.math.expm1",
        "tf.math.erf", "tf.math.rsqrt", "tf.math.log_sigmoid", "tf.clip_by_norm", "tf.sign",
        "tf.exp", "tf.sqrt", "tf.square", "tf.tanh", "tf.sin", "tf.cos", "tf.abs", "tf.sigmoid", "tf.nn.tanh",
        "tf.reverse", "tf.random.shuffle", "tf.image.flip_left_right", "tf.image.random_flip_left_right",
        "tf.image.random_brightness", "tf.image.random_contrast", "tf.image.flip_up_down",
        "tf.image.random_flip_up_down", "tf.image.per_image_standardization",
        *(f"tf.image.{how}_{what}" for how in ("random", "adjust") for what in ("hue", "saturation", "jpeg_quality")),
        *(f"tf.image.adjust_{what}" for what in ("brightness", "contrast", "gamma")))  # fmt: skip
def _unary(call: Call, target: Value) -> Value:
    data = as_tensor(call.value_of(0))
    return replace(data, origin=data.origin) if isinstance(data, Array) else Array("tf")


@models("tf.linalg.matmul", "tf.matmul")
def _matmul(call: Call, target: Value) -> Value:
    a, b = as_tensor(call.value_of(0)), as_tensor(call.value_of(1))
    if not (isinstance(a, Array) and isinstance(b, Array)) or len(call.node.args) > 2:
        return Array("tf")
    if a.shape is None or b.shape is None or len(a.shape) < 2 or len(b.shape) < 2:
        return Array("tf", a.dtype if a.dtype == b.dtype else None)
    return Array("tf", a.dtype if a.dtype == b.dtype else None, (*a.shape[:-1], b.shape[-1]))


@models("tf.concat", "tf.stack", "tf.keras.ops.concatenate", "tf.keras.ops.stack")
def _joined(call: Call, target: Value) -> Value:
    parts = call.value_of(0)
    arrays = [as_tensor(item) for item in parts.items] if isinstance(parts, Sequence) and not parts.open else []
    known = [item for item in arrays if isinstance(item, Array)]
    stacked = (call.name or "").endswith("stack") and constant(call.value_of("axis")) in (0, None)
    filled = as_tensor(parts) if stacked and isinstance(parts, Sequence) and parts.open else None
    if isinstance(filled, Array):  # of a list that a loop fills
        return filled
    if not known:
        return Array("tf")
    items = parts.items if isinstance(parts, Sequence) else ()
    library = "keras" if any(_symbolic(item) for item in items) else "tf"
    dtypes = {item.dtype for item in known} if len(known) == len(arrays) else {None}
    name = (call.name or "").rpartition(".")[2]
    shape = joined_shape(call, name, [i.shape if isinstance(i, Array) else None for i in arrays]) if call.name else None
    return Array(library, dtypes.pop() if len(dtypes) == 1 else None, shape, known[0].origin)


def _symbolic(value: Value) -> bool:
    return isinstance(value, Array) and value.library == "keras"


# -- images and files ------------------------------------------------------------------------------------------------


@models("tf.io.read_file")
def _read(call: Call, target: Value) -> Value:
    return Array("tf", "string", ())


@models("tf.io.decode_jpeg", "tf.io.decode_png", "tf.io.decode_image", "tf.image.decode_jpeg", "tf.image.decode_png",
        "tf.image.decode_image", "tf.io.decode_bmp", "tf.io.decode_gif", "tf.image.decode_bmp")  # fmt: skip
def _decode(call: Call, target: Value) -> Value:
    channels = integer(call.value_of("channels")) or None
    dtype, explicit = written_dtype(call, "uint8")
    return Array("tf", dtype, (None, None, channels), call, explicit)


@models("tf.image.resize", "tf.image.resize_with_pad", "tf.image.resize_with_crop_or_pad", "tf.image.random_crop")
def _resize(call: Call, target: Value) -> Value:
    data = as_tensor(call.value_of(0))
    name = getattr(target, "name", "").rpartition(".")[2]
    channels = data.shape[-1] if isinstance(data, Array) and data.shape else None
    rank = len(data.shape) if isinstance(data, Array) and data.shape is not None else None
    if name == "resize":
        size = shape_of(call.value_of("size"))
    elif name == "random_crop":
        crop = shape_of(call.value_of("size"))
        return Array("tf", data.dtype if isinstance(data, Array) else None, crop)
    else:
        size = (integer(call.value_of("target_height")), integer(call.value_of("target_width")))
    if size is None or len(size) != 2 or rank is None:
        return Array("tf", "float32")
    batch = (data.shape[0],) if rank == 4 and isinstance(data, Array) and data.shape else ()
    keeps = name == "resize_with_crop_or_pad" and isinstance(data, Array)
    nearest = call.arg("method") is not None
    dtype = data.dtype if keeps and isinstance(data, Array) else None if nearest else "float32"
    return Array("tf", dtype, (*batch, *size, channels))


@models("tf.Tensor.numpy", "tf.Variable.numpy", "tf.Variable.read_value", "tf.Variable.value")
def _numpy(call: Call, target: Value) -> Value:
    data = target.receiver if isinstance(target, Method) else Unknown("tensor")
    if not isinstance(data, Array):
        return data
    return replace(data, library="np" if getattr(target, "name", "").endswith("numpy") else "tf", variable=False)


@models("tf.size", "tf.rank")
def _size(call: Call, target: Value) -> Value:
    dtype = dtype_of(call.value_of("out_type"), "int32") if call.arg("out_type") is not None else "int32"
    return Array("tf", dtype, (), call)


@models("tf.shape", "np.shape")
def _shape(call: Call, target: Value) -> Value:
    data = call.value_of(0)
    if isinstance(data, Array) and data.shape is not None:
        return Sequence(tuple(Length(data, n) if i == 0 else Const(n) if n is not None else Unknown("size")
                              for i, n in enumerate(data.shape)))  # fmt: skip
    return (
        Array("tf", "int32", (None,)) if getattr(target, "name", "") == "tf.shape" else Unknown("shape of unknown rank")
    )
