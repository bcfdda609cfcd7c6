import argparse

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

BATCH_SIZE = 16


def block(x, dim, rate):
    shortcut = x
    x = layers.DepthwiseConv2D(kernel_size=7, padding="same")(x)
    x = layers.GroupNormalization(groups=8, epsilon=1e-6)(x)
    x = layers.Dense(4 * dim)(x)
    x = layers.Activation("gelu")(x)
    x = layers.Dense(dim)(x)
    x = layers.Dropout(rate, noise_shape=(None, 1, 1, 1))(x)
    return layers.Add()([shortcut, x])


def convnext(depths=(2, 2, 2), dims=(40, 80, 160), num_classes=8):
    inputs = keras.Input((96, 96, 3))
    x = layers.Conv2D(dims[0], kernel_size=4, strides=4)(inputs)
    x = layers.LayerNormalization(epsilon=1e-6)(x)
    for stage, (depth, dim) in enumerate(zip(depths, dims)):
        if stage > 0:
            x = layers.GroupNormalization(groups=8)(x)
            x = layers.Conv2D(dim, kernel_size=2, strides=2)(x)
        for i in range(depth):
            x = block(x, dim, rate=0.1 * stage)
    x = layers.GlobalAveragePooling2D()(x)
    x = layers.LayerNormalization(epsilon=1e-6)(x)
    return keras.Model(inputs, layers.Dense(num_classes)(x))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--lr", type=float, default=4e-3)
    args = parser.parse_args()

    model = convnext()
    model.compile(
        optimizer=keras.optimizers.AdamW(learning_rate=args.lr, weight_decay=0.05, clipnorm=1.0),
        loss=keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.1),
    )
    x = np.random.rand(BATCH_SIZE * 4, 96, 96, 3).astype("float32")
    y = keras.utils.to_categorical(np.random.randint(0, 8, BATCH_SIZE * 4), num_classes=8)
    ds = tf.data.Dataset.from_tensor_slices((x, y)).batch(BATCH_SIZE).repeat()
    model.fit(ds, steps_per_epoch=4, epochs=args.epochs)


if __name__ == "__main__":
    main()
