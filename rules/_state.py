"""What makes variables: layers with weights, models, optimizers, metrics."""

from __future__ import annotations

import libcst as cst

from tfmemlint.api import Api, Call, Class, File, Node, Value, knowledge, walk

MAKES_WEIGHTS = frozenset({"add_weight", "add_variable", "add_metric", "get_variable"})

STATELESS_LAYERS = frozenset({
    "Flatten", "Concatenate", "Add", "Dropout", "Reshape", "Activation", "ReLU", "LeakyReLU", "Softmax", "Multiply",
    "Subtract", "Average", "Maximum", "Minimum", "Permute", "RepeatVector", "ZeroPadding1D", "ZeroPadding2D",
    "ZeroPadding3D", "Cropping1D", "Cropping2D", "Cropping3D", "UpSampling1D", "UpSampling2D", "UpSampling3D",
    "Input", "InputLayer", "Lambda", "Rescaling", "Resizing", "GaussianNoise", "GaussianDropout", "Masking", "Dot",
    "ELU", "AveragePooling1D", "AveragePooling2D", "MaxPooling1D", "MaxPooling2D", "MaxPool1D", "MaxPool2D",
    "AvgPool2D", "GlobalAveragePooling1D", "GlobalAveragePooling2D", "GlobalMaxPooling1D", "GlobalMaxPooling2D",
    "InputSpec", "Layer", "SpatialDropout1D", "SpatialDropout2D", "CenterCrop", "RandomFlip", "RandomRotation",
    "RandomZoom", "AveragePooling3D", "MaxPooling3D", "TimeDistributed", "GlobalAvgPool2D", "GlobalMaxPool2D",
    "GlobalMaxPool1D", "Identity", "ActivityRegularization",
})  # fmt: skip
"""Layers that hold no weights however they are built."""


def makes_state(call: Call) -> str | None:
    """What kind of state a call creates: "a variable", "a layer's weights", "a model", "an optimizer", "a metric"."""
    for target in call.target.options:
        if isinstance(target, Class):
            if call.evaluator.classes.derives(target.node, "tf.keras.Model"):
                return "a model"
            layer = call.evaluator.classes.derives(target.node, "tf.keras.layers.Layer")
            return "a layer's weights" if layer and _bears_weights(target.node, call) else None
    name = call.name or ""
    last = name.rpartition(".")[2]
    if name == "tf.Variable" or name.endswith("Layer.add_weight"):
        return "a variable"
    if name.startswith("tf.keras.layers.") and name.count(".") == 3 and knowledge.is_class(name):
        return None if last in STATELESS_LAYERS else "a layer's weights"
    if name in ("tf.keras.Sequential", "tf.keras.Model") or (
        name.startswith("tf.keras.applications.") and last[:1].isupper()
    ):
        return "a model"
    if name.startswith("tf.keras.optimizers.") and name.count(".") == 3 and last[:1].isupper():
        return "an optimizer"
    if name.startswith("tf.keras.metrics.") and name.count(".") == 3 and last[:1].isupper():
        return "a metric"
    return None


def _bears_weights(node: cst.ClassDef, call: Call) -> bool:
    """Whether a class of the module makes weights in one of its methods, or has a base of which that is not known."""
    for found in walk(node.body):
        if isinstance(found, cst.Call) and found is not call.node:
            made = call.evaluator.call(found)
            if made.method in MAKES_WEIGHTS or (not isinstance(made.target, Class) and makes_state(made) is not None):
                return True
            if any(isinstance(o, Class) and o.node is not node and makes_state(made) for o in made.target.options):
                return True
    bases = [call.evaluator.value(base.value) for base in node.bases]
    return not all(_is_plain(base, call) for base in bases)


def _is_plain(base: Value, call: Call) -> bool:
    if isinstance(base, Class):
        return not _bears_weights(base.node, call)
    return isinstance(base, Api) and (
        base.name in ("tf.keras.layers.Layer", "tf.Module") or base.name.rpartition(".")[2] in STATELESS_LAYERS
    )


def outermost(file: File, call: Call) -> bool:
    """Whether no other creation of state in the same expression holds this one (`Sequential([Dense(1)])`)."""
    for above in file.tree.ancestors(call.node):
        if isinstance(above, (cst.BaseSmallStatement, cst.BaseCompoundStatement, cst.Lambda)):
            return True
        if isinstance(above, cst.Call) and makes_state(file.call(above)) is not None:
            return False
    return True


def guarded_entry(file: File, function: cst.FunctionDef, depth: int = 3) -> bool:
    """Whether a function of the module is only reached through a call that an `if` guards."""
    callers = file.values.functions.callers(function) or ()
    for call in callers:
        scope = file.scope_of(call.node)
        if _reached_under_if(file, call.node, scope):
            return True
        if depth and isinstance(scope, cst.FunctionDef) and guarded_entry(file, scope, depth - 1):
            return True
    return False


def _reached_under_if(file: File, node: Node, within: Node) -> bool:
    """Whether an `if` or a handler guards a call: `if __name__ == "__main__"` and a `try` run it each time."""
    below: Node = node
    for above in file.tree.ancestors(node):
        if above is within:
            return False
        if isinstance(above, (cst.IfExp, cst.ExceptHandler)):
            return True
        if isinstance(above, cst.If) and below is not above.test:
            if not any(isinstance(n, cst.Name) and n.value == "__name__" for n in walk(above.test)):
                return True
        below = above
    return False


def guarded(file: File, node: Node, within: Node) -> bool:
    """Whether an `if` in the function keeps the node from running each time."""
    for above in file.tree.ancestors(node):
        if above is within:
            return False
        if isinstance(above, (cst.If, cst.IfExp, cst.Try, cst.ExceptHandler)):
            return True
    return False
