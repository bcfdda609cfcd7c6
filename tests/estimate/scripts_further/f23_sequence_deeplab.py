"""Segmentation with dilated convolutions; images come from a Sequence."""
import numpy as np
import keras
from keras import layers
from keras.utils import PyDataset, to_categorical

BATCH_SIZE = 6
IMAGE = 96
CLASSES = 5


class Scenes(PyDataset):
    def __init__(self, count, batch_size, **kwargs):
        super().__init__(**kwargs)
        self.count, self.batch_size = count, batch_size

    def __len__(self):
        return self.count // self.batch_size

    def __getitem__(self, index):
        x = np.random.rand(self.batch_size, IMAGE, IMAGE, 3).astype("float32")
        y = to_categorical(np.random.randint(0, CLASSES, (self.batch_size, IMAGE, IMAGE)), CLASSES)
        return x, y


def convolution_block(block_input, num_filters=128, kernel_size=3, dilation_rate=1, use_bias=False):
    x = layers.Conv2D(
        num_filters,
        kernel_size=kernel_size,
        dilation_rate=dilation_rate,
        padding="same",
        use_bias=use_bias,
        kernel_initializer=keras.initializers.HeNormal(),
    )(block_input)
    x = layers.BatchNormalization()(x)
    return keras.activations.relu(x)


def DilatedSpatialPyramidPooling(dspp_input):
    dims = dspp_input.shape
    x = layers.AveragePooling2D(pool_size=(dims[-3], dims[-2]))(dspp_input)
    x = convolution_block(x, kernel_size=1, use_bias=True)
    out_pool = layers.UpSampling2D(
        size=(dims[-3] // x.shape[1], dims[-2] // x.shape[2]),
        interpolation="bilinear",
    )(x)

    out_1 = convolution_block(dspp_input, kernel_size=1, dilation_rate=1)
    out_2 = convolution_block(dspp_input, kernel_size=3, dilation_rate=2)
    out_4 = convolution_block(dspp_input, kernel_size=3, dilation_rate=4)

    x = layers.Concatenate(axis=-1)([out_pool, out_1, out_2, out_4])
    output = convolution_block(x, kernel_size=1)
    return output


model_input = keras.Input(shape=(IMAGE, IMAGE, 3))
low = convolution_block(model_input, 32)
x = layers.MaxPooling2D()(low)
x = convolution_block(x, 64)
x = layers.MaxPooling2D()(x)
x = DilatedSpatialPyramidPooling(x)
x = layers.UpSampling2D(size=(4, 4), interpolation="bilinear")(x)
x = layers.Concatenate()([x, convolution_block(low, num_filters=48, kernel_size=1)])
x = convolution_block(x, 64)
model_output = layers.Conv2D(CLASSES, kernel_size=(1, 1), padding="same", activation="softmax")(x)
model = keras.Model(inputs=model_input, outputs=model_output)
model.compile(
    optimizer=keras.optimizers.Adam(learning_rate=0.001),
    loss="categorical_crossentropy",
    metrics=["accuracy", keras.metrics.MeanIoU(num_classes=CLASSES, sparse_y_true=False, sparse_y_pred=False)],
)
model.fit(Scenes(BATCH_SIZE * 4, BATCH_SIZE), epochs=1)
