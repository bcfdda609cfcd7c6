import numpy as np
import tensorflow as tf

BATCH_SIZE = 8
n_filters = 32
n_classes = 256
length = 1024
dilations = [2 ** i for i in range(8)]


def wavenet_block(x, dilation):
    t = tf.keras.layers.Conv1D(n_filters, 2, dilation_rate=dilation, padding="causal", activation="tanh")(x)
    s = tf.keras.layers.Conv1D(n_filters, 2, dilation_rate=dilation, padding="causal", activation="sigmoid")(x)
    z = tf.keras.layers.multiply([t, s])
    z = tf.keras.layers.Conv1D(n_filters, 1, padding="same")(z)
    return tf.keras.layers.add([z, x]), z


inputs = tf.keras.layers.Input(shape=[None, 1])
z = tf.keras.layers.Conv1D(n_filters, kernel_size=2, padding="causal")(inputs)
skip_to_last = []
for dilation_rate in dilations * 2:
    z, skip = wavenet_block(z, dilation_rate)
    skip_to_last.append(skip)
z = tf.keras.activations.relu(tf.keras.layers.Add()(skip_to_last))
z = tf.keras.layers.Conv1D(128, kernel_size=1, activation="relu")(z)
Y_proba = tf.keras.layers.Conv1D(n_classes, kernel_size=1, activation="softmax")(z)
wavenet = tf.keras.Model(inputs=[inputs], outputs=[Y_proba])

wave = np.random.uniform(-1, 1, (BATCH_SIZE * 4, length, 1)).astype("float32")
codes = np.random.randint(0, n_classes, (BATCH_SIZE * 4, length))
data = tf.data.Dataset.from_tensor_slices((wave, codes)).batch(BATCH_SIZE)
wavenet.compile(loss="sparse_categorical_crossentropy", optimizer="adam", metrics=["accuracy"])
wavenet.fit(data, epochs=1)
