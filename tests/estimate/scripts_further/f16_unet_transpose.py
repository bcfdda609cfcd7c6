import numpy as np
import tensorflow as tf
from tensorflow.keras import backend as K
from tensorflow.keras.layers import *
from tensorflow.keras.models import *

BATCH_SIZE = 4


def dice_coef(y_true, y_pred, smooth=1.0):
    y_true_f = tf.reshape(y_true, [-1])
    y_pred_f = tf.reshape(y_pred, [-1])
    intersection = tf.reduce_sum(y_true_f * y_pred_f)
    return (2. * intersection + smooth) / (tf.reduce_sum(y_true_f) + tf.reduce_sum(y_pred_f) + smooth)


def dice_loss(y_true, y_pred):
    return 1 - dice_coef(y_true, y_pred)


def double_conv(x, n):
    x = Conv2D(n, (3, 3), kernel_initializer="he_normal", padding="same")(x)
    x = Activation("relu")(x)
    x = Conv2D(n, (3, 3), kernel_initializer="he_normal", padding="same")(x)
    return Activation("relu")(x)


def unet(size=(128, 128, 3), base=16, depth=4):
    inp = Input(size)
    skips = []
    x = inp
    for d in range(depth):
        x = double_conv(x, base * 2 ** d)
        skips.append(x)
        x = MaxPooling2D((2, 2))(x)
        x = SpatialDropout2D(0.1)(x)
    x = double_conv(x, base * 2 ** depth)
    for d in reversed(range(depth)):
        x = Conv2DTranspose(base * 2 ** d, (2, 2), strides=(2, 2), padding="same")(x)
        x = concatenate([x, skips[d]])
        x = SpatialDropout2D(0.1)(x)
        x = double_conv(x, base * 2 ** d)
    out = Conv2D(1, (1, 1), activation="sigmoid")(x)
    return Model(inputs=[inp], outputs=[out])


model = unet()
model.compile(optimizer=tf.keras.optimizers.Adam(learning_rate=1e-4), loss=dice_loss, metrics=[dice_coef])
X_train = np.zeros((BATCH_SIZE * 4, 128, 128, 3), dtype=np.float32)
Y_train = np.zeros((BATCH_SIZE * 4, 128, 128, 1), dtype=np.float32)
results = model.fit(X_train, Y_train, batch_size=BATCH_SIZE, epochs=1)
