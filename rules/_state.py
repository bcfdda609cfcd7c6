"""What makes variables: layers with weights, models, optimizers, metrics."""

from __future__ import annotations

import libcst as cst

from tfmemlint.api import Call, Class, File, Node, knowledge

STATELESS_LAYERS = frozenset({
    "Flatten", "Concatenate", "Add", "Dropout", "Reshape", "Activation", "ReLU", "LeakyReLU", "Softmax", "Multiply",
    "Subtract", "Average", "Maximum", "Minimum", "Permute", "RepeatVector", "ZeroPadding1D", "ZeroPadding2D",
    "ZeroPadding3D", "Cropping1D", "Cropping2D", "Cropping3D", "UpSampling1D", "UpSampling2D", "UpSampling3D", "Input",
    "InputLayer", "Lambda", "Rescaling", "Resizing", "GaussianNoise", "GaussianDropout", "Masking", "Dot", "ELU",
    "AveragePooling1D", "AveragePooling2D", "MaxPooling1D", "MaxPooling2D", "MaxPool1D", "MaxPool2D", "AvgPool2D",
    "GlobalAveragePooling1D", "GlobalAveragePooling2D", "GlobalMaxPooling1D", "GlobalMaxPooling2D", "InputSpec", "Layer",
    "SpatialDropout1D", "SpatialDropout2D", "CenterCrop", "RandomFlip", "RandomRotation", "RandomZoom", "AveragePooling3D",
    "MaxPooling3D", "GlobalAvgPool2D", "GlobalMaxPool2D", "GlobalMaxPool1D", "Identity", "ActivityRegularization",
})  # fmt: skip
"""Layers that hold no weights however they are built."""


def makes_state(call: Call) -> str | None:
    """What kind of state a call creates: "a variable", "a layer's weights", "a model", "an optimizer", "a metric"."""
    for target in call.target.options:
        if isinstance(target, Class):
            if call.evaluator.classes.derives(target.node, "tf.keras.Model"):
                return "a model"
            return "a layer's weights" if call.evaluator.classes.derives(target.node, "tf.keras.layers.Layer") else None
    name = call.name or ""
    last = name.rpartition(".")[2]
    if name == "tf.Variable":
        return "a variable"
    if name.startswith("tf.keras.layers.") and name.count(".") == 3 and knowledge.is_class(name):
        return None if last in STATELESS_LAYERS else "a layer's weights"
    if name in ("tf.keras.Sequential", "tf.keras.Model") or (name.startswith("tf.keras.applications.") and last[:1].isupper()):
        return "a model"
    if name.startswith("tf.keras.optimizers.") and name.count(".") == 3 and last[:1].isupper():
        return "an optimizer"
    if name.startswith("tf.keras.metrics.") and name.count(".") == 3 and last[:1].isupper():
        return "a metric"
    return None


def guarded(file: File, node: Node, within: Node) -> bool:
    """Whether an `if` in the function keeps the node from running each time."""
    for above in file.tree.ancestors(node):
        if above is within:
            return False
        if isinstance(above, (cst.If, cst.IfExp, cst.Try, cst.ExceptHandler)):
            return True
    return False
