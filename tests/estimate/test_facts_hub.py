"""Models of TensorFlow Hub, what `tensorflow_datasets` says of its data, and texts that name both."""

from __future__ import annotations

import pytest
from test_training_facts import applied, only

from tfmemlint.estimate.engine import estimate
from tfmemlint.estimate.facts.hub import network

HUB = "import tensorflow_hub as hub\nimport tensorflow_datasets as tfds\n"
REST = (
    "model = keras.Sequential([feature, layers.Dense(2)])\nmodel.compile('adam', 'mse')\n"
    "model.fit(np.zeros((64, 224, 224, 3)), np.zeros((64, 2)))\n"
)
GOOGLE = "https://tfhub.dev/google/"

HANDLES = {
    GOOGLE + "imagenet/mobilenet_v2_100_224/feature_vector/5": "MobileNetV2",
    GOOGLE + "imagenet/mobilenet_v2_035_224/feature_vector/5": None,
    GOOGLE + "tf2-preview/mobilenet_v2/feature_vector/4": "MobileNetV2",
    GOOGLE + "imagenet/inception_v3/classification/5": "InceptionV3",
    GOOGLE + "imagenet/resnet_v2_50/feature_vector/4": "ResNet50V2",
    GOOGLE + "imagenet/resnet_v1_101/feature_vector/4": "ResNet101",
    GOOGLE + "imagenet/efficientnet_v2_imagenet1k_b0/feature_vector/2": "EfficientNetV2B0",
    "https://tfhub.dev/tensorflow/efficientnet/b3/feature-vector/1": "EfficientNetB3",
    "https://tfhub.dev/tensorflow/efficientnet/lite0/feature-vector/2": None,
    GOOGLE + "nnlm-en-dim50/2": None,
}


@pytest.mark.parametrize(("handle", "name"), HANDLES.items(), ids=[each[18:] for each in HANDLES])
def test_a_handle_names_a_network(handle: str, name: str | None) -> None:
    assert network(handle) == name


def test_a_network_of_the_hub_is_frozen_unless_it_is_told_otherwise() -> None:
    handle = GOOGLE + "imagenet/mobilenet_v2_100_224/feature_vector/5"
    frozen = only(f"{HUB}feature = hub.KerasLayer('{handle}', input_shape=(224, 224, 3)){chr(10)}{REST}")
    tuned = only(f"{HUB}feature = hub.KerasLayer('{handle}', input_shape=(224, 224, 3), trainable=True){chr(10)}{REST}")
    assert applied(frozen)[-2:] == ["GlobalAveragePooling2D 1280", "Dense 2"]
    assert not estimate(frozen).missing
    assert estimate(frozen).slots < estimate(tuned).slots


def test_of_another_layer_is_known_what_it_gives() -> None:
    step = only(
        HUB + f"feature = hub.KerasLayer('{GOOGLE}nnlm-en-dim50/2', input_shape=[], dtype=tf.string)\n"
        + REST.replace("224, 224, 3", "1")
    )  # fmt: skip
    assert applied(step) == ["KerasLayer 50", "Dense 2"]
    assert [each.what for each in step.missing] == ["what is in `KerasLayer`"]


CLASSES = {
    "number": "n = info.features['label'].num_classes",
    "names": "n = len(info.features['label'].names)",
}


@pytest.mark.parametrize("line", CLASSES.values(), ids=CLASSES)
def test_the_classes_of_a_data_set(line: str) -> None:
    step = only(
        f"{HUB}ds, info = tfds.load('cifar100', split='train', with_info=True, as_supervised=True){chr(10)}{line}\n"
        "model = keras.Sequential([layers.Flatten(), layers.Dense(n)])\nmodel.compile('adam', 'mse')\n"
        "model.fit(ds.batch(16))\n"
    )
    assert applied(step)[-1] == "Dense 100"
    assert (step.batch, step.missing) == (16, ())


def test_the_classes_of_a_data_set_that_is_not_documented_are_not_known() -> None:
    step = only(
        f"{HUB}ds, info = tfds.load('somebodys', with_info=True)\n"
        "model = keras.Sequential([keras.Input((8,)), layers.Dense(info.features['label'].num_classes)])\n"
        "model.compile('adam', 'mse')\nmodel.fit(np.zeros((64, 8)), np.zeros(64))\n"
    )
    assert [(each.option, each.name) for each in step.missing] == [("--set", 'info.features["label"].num_classes')]


TEXTS = {
    "format": "'{}_{n}'.format('a', n=3)", "join": "'_'.join(['a', '3'])", "upper": "'A_3'.lower()",
    "split": "'x.a_3'.split('.')[1]",
}  # fmt: skip


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_methods_of_texts(text: str) -> None:
    step = only(
        f"units = {{'a_3': 7}}[{text}]\nmodel = keras.Sequential([keras.Input((8,)), layers.Dense(units)])\n"
        "model.compile('adam', 'mse')\nmodel.fit(np.zeros((64, 8)), np.zeros((64, 7)))\n"
    )
    assert applied(step) == ["Dense 7"]
