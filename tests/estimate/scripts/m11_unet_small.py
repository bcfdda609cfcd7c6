import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import Input, Conv2D, MaxPooling2D, UpSampling2D, concatenate, Dropout
from tensorflow.keras.models import Model

BATCH_SIZE = 4
IMG_H, IMG_W = 128, 128
inputs = Input((IMG_H, IMG_W, 1))
c1 = Conv2D(16, 3, activation="relu", padding="same")(inputs)
c1 = Conv2D(16, 3, activation="relu", padding="same")(c1)
p1 = MaxPooling2D(pool_size=(2, 2))(c1)
c2 = Conv2D(32, 3, activation="relu", padding="same")(p1)
c2 = Conv2D(32, 3, activation="relu", padding="same")(c2)
p2 = MaxPooling2D(pool_size=(2, 2))(c2)
c3 = Conv2D(64, 3, activation="relu", padding="same")(p2)
c3 = Conv2D(64, 3, activation="relu", padding="same")(c3)
d3 = Dropout(0.5)(c3)
p3 = MaxPooling2D(pool_size=(2, 2))(d3)
c4 = Conv2D(128, 3, activation="relu", padding="same")(p3)
c4 = Conv2D(128, 3, activation="relu", padding="same")(c4)
d4 = Dropout(0.5)(c4)
u5 = Conv2D(64, 2, activation="relu", padding="same")(UpSampling2D(size=(2, 2))(d4))
m5 = concatenate([d3, u5], axis=3)
c5 = Conv2D(64, 3, activation="relu", padding="same")(m5)
c5 = Conv2D(64, 3, activation="relu", padding="same")(c5)
u6 = Conv2D(32, 2, activation="relu", padding="same")(UpSampling2D(size=(2, 2))(c5))
m6 = concatenate([c2, u6], axis=3)
c6 = Conv2D(32, 3, activation="relu", padding="same")(m6)
u7 = Conv2D(16, 2, activation="relu", padding="same")(UpSampling2D(size=(2, 2))(c6))
m7 = concatenate([c1, u7], axis=3)
c7 = Conv2D(16, 3, activation="relu", padding="same")(m7)
outputs = Conv2D(1, 1, activation="sigmoid")(c7)
model = Model(inputs=inputs, outputs=outputs)
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
X = np.random.rand(BATCH_SIZE * 4, IMG_H, IMG_W, 1).astype("float32")
Y = (np.random.rand(BATCH_SIZE * 4, IMG_H, IMG_W, 1) > 0.5).astype("float32")
model.fit(X, Y, batch_size=BATCH_SIZE, epochs=1)
