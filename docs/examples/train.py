import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, models, optimizers

BATCH_SIZE = 16

def build_model(num_classes=10):
    model = models.Sequential()
    model.add(layers.Input(shape=(64, 64, 3)))
    for filters in (32, 64, 128):
        model.add(layers.Conv2D(filters, 3, padding="same", use_bias=False))
        model.add(layers.BatchNormalization())
        model.add(layers.ReLU())
        model.add(layers.Conv2D(filters, 3, padding="same", use_bias=False))
        model.add(layers.BatchNormalization())
        model.add(layers.ReLU())
        model.add(layers.MaxPooling2D())
        model.add(layers.Dropout(0.2))
    model.add(layers.GlobalAveragePooling2D())
    model.add(layers.Dense(256, activation="relu"))
    model.add(layers.Dense(num_classes))
    return model

model = build_model()
model.compile(optimizer=optimizers.SGD(0.1, momentum=0.9, nesterov=True),
              loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
images = np.random.rand(BATCH_SIZE * 4, 64, 64, 3).astype(np.float32)
labels = np.random.randint(0, 10, size=(BATCH_SIZE * 4,))
model.fit(images, labels, epochs=1, batch_size=BATCH_SIZE)
