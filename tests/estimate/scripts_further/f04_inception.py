import numpy as np
import tensorflow.keras as keras
from tensorflow.keras.layers import (AveragePooling2D, BatchNormalization, Conv2D, Dense, Dropout,
                                     GlobalAveragePooling2D, Input, MaxPooling2D, Activation, concatenate)

BATCH_SIZE = 16
NUM_CLASSES = 20


def conv2d_bn(x, filters, num_row, num_col, padding='same', strides=(1, 1), name=None):
    if name is not None:
        bn_name = name + '_bn'
        conv_name = name + '_conv'
    else:
        bn_name = None
        conv_name = None
    x = Conv2D(filters, (num_row, num_col), strides=strides, padding=padding, use_bias=False, name=conv_name)(x)
    x = BatchNormalization(axis=3, scale=False, name=bn_name)(x)
    x = Activation('relu', name=name)(x)
    return x


def inception_module(x, f1, f3r, f3, f5r, f5, proj):
    branch1 = conv2d_bn(x, f1, 1, 1)
    branch3 = conv2d_bn(x, f3r, 1, 1)
    branch3 = conv2d_bn(branch3, f3, 3, 3)
    branch5 = conv2d_bn(x, f5r, 1, 1)
    branch5 = conv2d_bn(branch5, f5, 5, 5)
    pool = AveragePooling2D((3, 3), strides=(1, 1), padding='same')(x)
    pool = conv2d_bn(pool, proj, 1, 1)
    return concatenate([branch1, branch3, branch5, pool], axis=3)


def build(input_shape=(96, 96, 3)):
    img_input = Input(shape=input_shape)
    x = conv2d_bn(img_input, 32, 3, 3, strides=(2, 2), padding='valid')
    x = conv2d_bn(x, 64, 3, 3, name='stem')
    x = MaxPooling2D((3, 3), strides=(2, 2))(x)

    settings = [(64, 48, 64, 16, 32, 32), (64, 64, 96, 16, 48, 64)]
    for f in settings:
        x = inception_module(x, *f)
    x = MaxPooling2D((3, 3), strides=(2, 2), padding='same')(x)
    for i in range(2):
        x = inception_module(x, 128, 96, 128 + 32 * i, 16, 48, proj=64)

    x = GlobalAveragePooling2D(name='avg_pool')(x)
    x = Dropout(0.4)(x)
    x = Dense(NUM_CLASSES, activation='softmax', name='predictions')(x)
    return keras.models.Model(img_input, x, name='mini_inception')


if __name__ == '__main__':
    model = build()
    opt = keras.optimizers.RMSprop(learning_rate=0.045, rho=0.9, momentum=0.9, epsilon=1.0)
    model.compile(opt, loss='categorical_crossentropy', metrics=['accuracy'])
    x_train = np.random.random((BATCH_SIZE * 4, 96, 96, 3)).astype('float32')
    y_train = keras.utils.to_categorical(np.random.randint(0, NUM_CLASSES, BATCH_SIZE * 4), NUM_CLASSES)
    model.fit(x_train, y_train, batch_size=BATCH_SIZE, epochs=1, verbose=2)
