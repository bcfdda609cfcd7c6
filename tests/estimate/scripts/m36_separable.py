import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

BATCH_SIZE = 16

def make_model(input_shape, num_classes):
    inputs = tf.keras.Input(shape=input_shape)
    x = layers.Rescaling(1.0 / 255)(inputs)
    x = layers.Conv2D(64, 3, strides=2, padding="same")(x)
    x = layers.BatchNormalization()(x)
    x = layers.Activation("relu")(x)
    previous_block_activation = x
    for size in [128, 256]:
        x = layers.Activation("relu")(x)
        x = layers.SeparableConv2D(size, 3, padding="same")(x)
        x = layers.BatchNormalization()(x)
        x = layers.Activation("relu")(x)
        x = layers.SeparableConv2D(size, 3, padding="same")(x)
        x = layers.BatchNormalization()(x)
        x = layers.MaxPooling2D(3, strides=2, padding="same")(x)
        residual = layers.Conv2D(size, 1, strides=2, padding="same")(previous_block_activation)
        x = layers.add([x, residual])
        previous_block_activation = x
    x = layers.GlobalAveragePooling2D()(x)
    x = layers.Dropout(0.25)(x)
    outputs = layers.Dense(num_classes, activation=None)(x)
    return tf.keras.Model(inputs, outputs)

model = make_model(input_shape=(90, 90, 3), num_classes=1)
model.compile(optimizer=tf.keras.optimizers.Adam(3e-4), loss=tf.keras.losses.BinaryCrossentropy(from_logits=True))
x = np.random.rand(BATCH_SIZE * 4, 90, 90, 3).astype("float32") * 255
y = np.random.randint(0, 2, (BATCH_SIZE * 4, 1))
model.fit(x, y, batch_size=BATCH_SIZE, epochs=1)
