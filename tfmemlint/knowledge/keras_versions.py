"""Which paths only Keras 2 has: programs that use them fail under Keras 3.

From `hasattr` and imports: `tf_keras` 2.21 and the sources of Keras 2.0 to 2.15 have them, `keras` 3.15 and the
`tf.keras` of TensorFlow 2.21 do not.
"""

from __future__ import annotations

OWN = "keras."
"""How paths of Keras itself begin; `tf.keras` keeps more of Keras 2."""

WITH_TENSORFLOW = ("tensorflow.keras.", "tf.keras.")
INNER = "tensorflow.python.keras"
"""TensorFlow's own copy of Keras 2."""

FOR_KERAS_2 = frozenset({"keras_contrib", "tensorflow_addons", "tensorflow_datasets.features.text"})
"""Libraries that were given up before Keras 3, and modules that others gave up: keras-contrib takes `keras.engine` at
its import, the last tensorflow-addons, 0.23, is made for TensorFlow up to 2.15, tensorflow-datasets dropped its text
encoders in 2021."""

GONE = frozenset({
    *("applications.regnet", "applications.resnet_rs", "dtensor", "engine", "estimator", "experimental"),
    *("feature_column", "initializations", "legacy.interfaces", "objectives", "optimizer_v1", "optimizer_v2"),
    *("layers.advanced_activations", "layers.attention", "layers.convolutional", "layers.convolutional_recurrent"),
    *("layers.core", "layers.cudnn_recurrent", "layers.embeddings", "layers.experimental", "layers.local"),
    *("layers.merge", "layers.merging", "layers.noise", "layers.normalization", "layers.pooling"),
    *("layers.preprocessing", "layers.recurrent", "layers.rnn", "layers.wrappers"),
    *("layers.AbstractRNNCell", "layers.CuDNNGRU", "layers.CuDNNLSTM", "layers.DenseFeatures"),
    *("layers.LocallyConnected1D", "layers.LocallyConnected2D", "layers.MaxoutDense", "layers.Merge"),
    *("layers.TimeDistributedDense", "mixed_precision.experimental", "models.model_from_yaml"),
    *("optimizers.experimental", "optimizers.optimizer_v2", "premade", "premade_models", "saving.legacy"),
    *("utils.conv_utils", "utils.data_utils", "utils.generic_utils", "utils.io_utils", "utils.layer_utils"),
    *("utils.multi_gpu_model", "utils.multi_gpu_utils", "utils.np_utils", "utils.test_utils"),
    *("utils.training_utils", "utils.vis_utils", "utils.visualize_util", "wrappers.scikit_learn"),
    *("backend.experimental", "backend.function", "backend.in_test_phase", "backend.in_train_phase"),
    *("backend.learning_phase", "backend.learning_phase_scope", "backend.local_conv1d", "backend.local_conv2d"),
    *("backend.manual_variable_initialization", "backend.normalize_batch_in_training", "backend.placeholder"),
    *("backend.print_tensor", "backend.random_binomial", "backend.reset_uids", "backend.set_learning_phase"),
    *("backend.common", "backend.get_session", "backend.set_session", "backend.tensorflow_backend"),
})  # fmt: skip
"""What neither `keras` nor `tf.keras` has any more; what lies below it is gone, too."""

GONE_FROM_KERAS = frozenset({
    *("layers.RandomHeight", "layers.RandomWidth", "layers.ThresholdedReLU", "losses.logcosh", "metrics.logcosh"),
    *("preprocessing.image.DirectoryIterator", "preprocessing.image.ImageDataGenerator"),
    *("preprocessing.image.Iterator", "preprocessing.image.NumpyArrayIterator"),
    *("preprocessing.sequence.TimeseriesGenerator", "preprocessing.sequence.make_sampling_table"),
    *("preprocessing.sequence.skipgrams", "preprocessing.text"),
})  # fmt: skip
"""What `tf.keras` kept and `keras` did not."""

BACKEND = frozenset({
    *("backend", "clear_session", "epsilon", "floatx", "get_uid", "image_data_format", "is_float_dtype"),
    *("is_int_dtype", "is_keras_tensor", "result_type", "set_epsilon", "set_floatx", "set_image_data_format"),
    "standardize_dtype",
})  # fmt: skip
"""What is left of `keras.backend`, which had the functions that are `keras.ops` now; `tf.keras.backend` kept them."""


def of_keras_2(path: str) -> bool:
    """Whether Keras 3 certainly lacks what a path names, as a program writes it (`keras.layers.core.Dense`)."""
    if _below(path, FOR_KERAS_2) or path == INNER or path.startswith(f"{INNER}."):
        return True
    if path.startswith(OWN):
        rest = path.removeprefix(OWN)
        module, _, word = rest.partition(".")
        if (module == "backend" and word and word.partition(".")[0] not in BACKEND) or _below(rest, GONE_FROM_KERAS):
            return True
    else:
        rest = next((path.removeprefix(root) for root in WITH_TENSORFLOW if path.startswith(root)), "")
    return _below(rest, GONE)


OWN_ENGINE = frozenset({
    *("keras_applications", "keras.backend.tensorflow_backend", "keras.backend.theano_backend"),
    *("keras.engine.topology", "keras.initializations", "keras.legacy", "keras.utils.visualize_util"),
    *("keras.layers.CuDNNGRU", "keras.layers.CuDNNLSTM", "keras.models.Graph"),
    *("keras.layers.TimeDistributedDense", "keras.layers.core.TimeDistributedDense"),
})  # fmt: skip
"""What Keras needed or had until 2.3, when `predict` ran the graph of a session. From the sources of Keras 1.0 to 2.15:
2.4 hands everything on to `tf.keras`, and 2.6 began anew with TensorFlow's engine. Programs take a `CuDNNLSTM` from
Keras that were written before its `LSTM` used cuDNN by itself."""


def of_own_engine(path: str) -> bool:
    """Whether a module or class is one that only Keras until 2.3 had, or came with."""
    return _below(path, OWN_ENGINE)


OTHER_ENGINES = frozenset({"cntk", "theano"})
"""What Keras ran on beside TensorFlow until 2.3."""


def of_other_engine(path: str) -> bool:
    """Whether a module is one of the libraries on which only Keras until 2.3 ran."""
    return _below(path, OTHER_ENGINES)


FIRST_KERAS = frozenset({
    *("keras.layers.advanced_activations", "keras.layers.normalization.BatchNormalization"),
    *("keras.layers.CuDNNGRU", "keras.layers.CuDNNLSTM", "keras.layers.recurrent", "keras.layers.wrappers"),
    *("keras.layers.convolutional_recurrent", "keras.layers.cudnn_recurrent", "keras.layers.embeddings"),
    *("keras.layers.local", "keras.layers.merge"),
})  # fmt: skip
"""Homes that layers had in Keras 1 and until 2.8 at the latest, and layers that TensorFlow 2 replaced by their plain
ones. From the sources of Keras 2.0 to 2.15."""


def of_first_keras(path: str) -> bool:
    """Whether a path leads to what Keras gave up in 2.9 at the latest, or to layers that its programs no longer took by
    then: most that name it are older than 2.4, in which Keras became TensorFlow's."""
    return _below(path, FIRST_KERAS)


LATER_KERAS = frozenset({
    *("api", "config", "device", "distillation", "distribution", "dtensor", "dtype_policies", "experimental", "export"),
    *("feature_column", "mixed_precision", "name_scope", "ops", "quantizers", "random", "saving", "src", "tree"),
    *("DTypePolicy", "KerasTensor", "Layer", "Operation", "RematScope", "StatelessScope", "Variable", "_tf_keras"),
    *("activations.gelu", "activations.mish", "activations.silu", "activations.swish", "callbacks.BackupAndRestore"),
    *("callbacks.SwapEMAWeights", "datasets.california_housing", "engine.functional", "engine.keras_tensor"),
    *("applications.convnext", "applications.efficientnet", "applications.efficientnet_v2"),
    *("applications.mobilenet_v3", "applications.regnet", "applications.resnet_rs"),
    *(f"applications.ConvNeXt{size}" for size in ("Tiny", "Small", "Base", "Large", "XLarge")),
    *(f"applications.EfficientNetB{number}" for number in range(8)),
    *(f"applications.EfficientNetV2{size}" for size in ("B0", "B1", "B2", "B3", "L", "M", "S")),
    *("applications.MobileNetV3Large", "applications.MobileNetV3Small"),
    *("layers.AdditiveAttention", "layers.Attention", "layers.CategoryEncoding", "layers.CenterCrop"),
    *("layers.Conv1DTranspose", "layers.ConvLSTM1D", "layers.ConvLSTM3D", "layers.DepthwiseConv1D"),
    *("layers.Discretization", "layers.EinsumDense", "layers.GroupNormalization", "layers.GroupQueryAttention"),
    *("layers.HashedCrossing", "layers.Hashing", "layers.Identity", "layers.IntegerLookup", "layers.JaxLayer"),
    *("layers.LayerNormalization", "layers.MultiHeadAttention", "layers.Normalization", "layers.RandomBrightness"),
    *("layers.RandomContrast", "layers.RandomCrop", "layers.RandomFlip", "layers.RandomHeight"),
    *("layers.RandomRotation", "layers.RandomTranslation", "layers.RandomWidth", "layers.RandomZoom"),
    *("layers.Rescaling", "layers.Resizing", "layers.SpectralNormalization", "layers.StringLookup"),
    *("layers.TFSMLayer", "layers.TextVectorization", "layers.TorchModuleWrapper", "layers.UnitNormalization"),
    *("layers.experimental", "optimizer_v2", "optimizers.Adafactor", "optimizers.AdamW", "optimizers.Ftrl"),
    *("optimizers.Lion", "optimizers.adam_v2", "optimizers.experimental", "optimizers.gradient_descent_v2"),
    *("optimizers.legacy", "optimizers.optimizer_v2", "optimizers.rmsprop_v2", "optimizers.schedules"),
    *("preprocessing.image_dataset_from_directory", "preprocessing.text_dataset_from_directory"),
    *("preprocessing.timeseries_dataset_from_array", "utils.FeatureSpace", "utils.PyDataset"),
    *("utils.array_to_img", "utils.audio_dataset_from_directory", "utils.image_dataset_from_directory"),
    *("utils.image_utils", "utils.img_to_array", "utils.load_img", "utils.pad_sequences"),
    *("utils.register_keras_serializable", "utils.save_img", "utils.set_random_seed", "utils.split_dataset"),
    *("utils.text_dataset_from_directory", "utils.timeseries_dataset_from_array"),
})  # fmt: skip
"""What Keras has had since 2.4 at the earliest. From the sources of 2.3.1, which has none of it, and of 2.8, and from
what `keras` 3.15 has."""

LATER_LIBRARIES = frozenset({
    *("keras_core", "keras_cv", "keras_hub", "keras_nlp", "keras_tuner", "kerastuner", "tensorflow.python.keras"),
    *("tensorflow.compat.v2", "tensorflow.config.list_physical_devices", "tensorflow.data", "tensorflow.function"),
    *("tensorflow.GradientTape", "tensorflow.keras", "tensorflow.lite.TFLiteConverter.from_keras_model"),
    *("tensorflow.random.set_seed", "tensorflow_addons", "tf_keras"),
})  # fmt: skip
"""Libraries that are made for TensorFlow 2 or what Keras became in it, and what programs for version 1 hardly name."""


def of_later_keras(path: str) -> bool:
    """Whether a path, as a program writes it, leads to what only Keras since 2.4 has, to the Keras of TensorFlow, or to
    what is used with TensorFlow 2."""
    return _below(path.removeprefix(OWN), LATER_KERAS) if path.startswith(OWN) else _below(path, LATER_LIBRARIES)


def _below(path: str, gone: frozenset[str]) -> bool:
    parts = path.split(".")
    return any(".".join(parts[:end]) in gone for end in range(1, len(parts) + 1))
