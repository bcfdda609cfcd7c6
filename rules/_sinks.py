"""Where NumPy arrays enter TensorFlow."""

from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import Array, Call, File, elements

PARAMETERS: dict[str, tuple[str | int, ...]] = {
    "tf.constant": ("value",),
    "tf.convert_to_tensor": ("value",),
    "tf.keras.ops.convert_to_tensor": ("x",),
    "tf.Variable": ("initial_value",),
    "tf.data.Dataset.from_tensor_slices": ("tensors",),
    "tf.data.Dataset.from_tensors": ("tensors",),
    "tf.keras.Model.fit": ("x", "y", "validation_data"),
    "tf.keras.Model.evaluate": ("x", "y"),
    "tf.keras.Model.predict": ("x",),
    "tf.keras.Model.train_on_batch": ("x", "y"),
    "tf.keras.Model.test_on_batch": ("x", "y"),
    "tf.keras.Model.predict_on_batch": ("x",),
    "tf.keras.utils.timeseries_dataset_from_array": ("data", "targets"),
}


def arrays_entering(file: File) -> Iterator[tuple[Call, Array]]:
    """Each call that takes NumPy arrays into TensorFlow, with each of the arrays."""
    for name, parameters in PARAMETERS.items():
        for call in file.calls(name):
            if call.arg("dtype") is not None:
                continue
            for parameter in parameters:
                for option in call.value_of(parameter).options:
                    for leaf in elements(option):
                        if isinstance(leaf, Array) and leaf.library == "np":
                            yield call, leaf
