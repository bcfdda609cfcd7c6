import numpy as np
import keras
from keras import layers

BATCH_SIZE = 64
image_size = 64
patch_size = 8
num_patches = (image_size // patch_size) ** 2
embedding_dim = 192
num_blocks = 4
dropout_rate = 0.2


class MLPMixerLayer(layers.Layer):
    def __init__(self, num_patches, hidden_units, dropout_rate, *args, **kwargs):
        super().__init__(*args, **kwargs)

        self.mlp1 = keras.Sequential(
            [
                layers.Dense(units=num_patches, activation="gelu"),
                layers.Dense(units=num_patches),
                layers.Dropout(rate=dropout_rate),
            ]
        )
        self.mlp2 = keras.Sequential(
            [
                layers.Dense(units=hidden_units, activation="gelu"),
                layers.Dense(units=hidden_units),
                layers.Dropout(rate=dropout_rate),
            ]
        )
        self.normalize = layers.LayerNormalization(epsilon=1e-6)

    def build(self, input_shape):
        return super().build(input_shape)

    def call(self, inputs):
        x = self.normalize(inputs)
        x_channels = keras.ops.transpose(x, axes=(0, 2, 1))
        mlp1_outputs = self.mlp1(x_channels)
        mlp1_outputs = keras.ops.transpose(mlp1_outputs, axes=(0, 2, 1))
        x = mlp1_outputs + inputs
        x_patches = self.normalize(x)
        mlp2_outputs = self.mlp2(x_patches)
        x = x + mlp2_outputs
        return x


mlpmixer_blocks = keras.Sequential(
    [MLPMixerLayer(num_patches, embedding_dim, dropout_rate) for _ in range(num_blocks)]
)

inputs = layers.Input(shape=(image_size, image_size, 3))
x = layers.Conv2D(embedding_dim, patch_size, strides=patch_size, padding="valid")(inputs)
x = layers.Reshape((num_patches, embedding_dim))(x)
x = mlpmixer_blocks(x)
representation = layers.GlobalAveragePooling1D()(x)
representation = layers.Dropout(rate=dropout_rate)(representation)
logits = layers.Dense(100)(representation)
model = keras.Model(inputs=inputs, outputs=logits)

model.compile(
    optimizer=keras.optimizers.SGD(learning_rate=0.01, momentum=0.9, clipnorm=1.0),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=[keras.metrics.SparseCategoricalAccuracy(name="acc")],
)
images = np.random.randn(BATCH_SIZE * 4, image_size, image_size, 3)
targets = np.random.randint(0, 100, (BATCH_SIZE * 4,))
model.fit(images, targets, batch_size=BATCH_SIZE, epochs=1)
