import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

BATCH_SIZE = 32
keras.mixed_precision.set_global_policy('mixed_float16')

inputs = keras.Input(shape=(32, 32, 3), name='pictures')
x = layers.Conv2D(64, 3, padding='same', use_bias=False)(inputs)
x = layers.BatchNormalization()(x)
x = layers.ReLU()(x)
x = layers.Conv2D(64, 3, padding='same', activation='relu')(x)
x = layers.AveragePooling2D(2)(x)
x = layers.Conv2D(128, 3, padding='same', activation='relu')(x)
x = layers.GlobalMaxPooling2D()(x)
x = layers.Dense(1024, activation='relu', name='dense_1')(x)
x = layers.Dense(1024, activation='relu', name='dense_2')(x)
x = layers.Dense(100, name='dense_logits')(x)
outputs = layers.Activation('softmax', dtype='float32', name='predictions')(x)
model = keras.Model(inputs=inputs, outputs=outputs)
model.compile(loss='sparse_categorical_crossentropy', optimizer=keras.optimizers.RMSprop(), metrics=['accuracy'])

x_train = np.random.randint(0, 256, (BATCH_SIZE * 4, 32, 32, 3)).astype('float32') / 255
y_train = np.random.randint(0, 100, BATCH_SIZE * 4)
model.fit(x_train, y_train, batch_size=BATCH_SIZE, epochs=1)
