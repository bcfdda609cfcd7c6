import numpy as np
import tensorflow as tf

BATCH_SIZE = 16
IMG_SHAPE = (96, 96, 3)
base_model = tf.keras.applications.MobileNetV2(input_shape=IMG_SHAPE, include_top=False, weights=None)
base_model.trainable = False
inputs = tf.keras.Input(shape=(96, 96, 3))
x = tf.keras.layers.RandomFlip("horizontal")(inputs)
x = tf.keras.layers.Rescaling(1.0 / 127.5, offset=-1)(x)
x = base_model(x, training=False)
x = tf.keras.layers.GlobalAveragePooling2D()(x)
x = tf.keras.layers.Dropout(0.2)(x)
outputs = tf.keras.layers.Dense(1, activation="sigmoid")(x)
model = tf.keras.Model(inputs, outputs)
model.compile(optimizer=tf.keras.optimizers.Adam(learning_rate=0.0001), loss=tf.keras.losses.BinaryCrossentropy())
images = np.random.rand(BATCH_SIZE * 4, 96, 96, 3).astype("float32")
labels = np.random.randint(0, 2, (BATCH_SIZE * 4, 1))
model.fit(images, labels, batch_size=BATCH_SIZE, epochs=1)
