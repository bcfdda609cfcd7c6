import numpy as np
import keras
from keras import layers

BATCH_SIZE = 4
frames, size = 8, 40

inp = layers.Input(shape=(None, size, size, 1))
x = layers.ConvLSTM2D(
    filters=24,
    kernel_size=(5, 5),
    padding="same",
    return_sequences=True,
    activation="relu",
)(inp)
x = layers.BatchNormalization()(x)
x = layers.ConvLSTM2D(filters=24, kernel_size=(3, 3), padding="same", return_sequences=True, activation="relu")(x)
x = layers.BatchNormalization()(x)
x = layers.Conv3D(filters=1, kernel_size=(3, 3, 3), activation="sigmoid", padding="same")(x)
model = keras.models.Model(inp, x)
model.compile(loss=keras.losses.binary_crossentropy, optimizer=keras.optimizers.Adam())

movies = (np.random.rand(BATCH_SIZE * 4, frames + 1, size, size, 1) > 0.8).astype("float32")


def create_shifted_frames(data):
    x = data[:, 0 : data.shape[1] - 1, :, :]
    y = data[:, 1 : data.shape[1], :, :]
    return x, y


x_train, y_train = create_shifted_frames(movies)
early_stopping = keras.callbacks.EarlyStopping(monitor="loss", patience=10)
model.fit(x_train, y_train, batch_size=BATCH_SIZE, epochs=1, callbacks=[early_stopping])
