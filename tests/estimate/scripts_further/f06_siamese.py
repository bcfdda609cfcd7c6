import numpy as np
import keras
from keras import ops
from keras.layers import Input, Conv2D, AveragePooling2D, Flatten, Dense, BatchNormalization, Lambda

BATCH_SIZE = 64
margin = 1


def euclidean_distance(vects):
    x, y = vects
    sum_square = ops.sum(ops.square(x - y), axis=1, keepdims=True)
    return ops.sqrt(ops.maximum(sum_square, keras.backend.epsilon()))


input = Input((48, 48, 1))
x = BatchNormalization()(input)
x = Conv2D(16, (5, 5), activation="tanh")(x)
x = AveragePooling2D(pool_size=(2, 2))(x)
x = Conv2D(32, (5, 5), activation="tanh")(x)
x = AveragePooling2D(pool_size=(2, 2))(x)
x = Flatten()(x)
x = BatchNormalization()(x)
x = Dense(64, activation="tanh")(x)
embedding_network = keras.Model(input, x)

input_1 = Input((48, 48, 1))
input_2 = Input((48, 48, 1))
tower_1 = embedding_network(input_1)
tower_2 = embedding_network(input_2)
merge_layer = Lambda(euclidean_distance, output_shape=(1,))([tower_1, tower_2])
normal_layer = BatchNormalization()(merge_layer)
output_layer = Dense(1, activation="sigmoid")(normal_layer)
siamese = keras.Model(inputs=[input_1, input_2], outputs=output_layer)


def loss(margin=1):
    def contrastive_loss(y_true, y_pred):
        square_pred = ops.square(y_pred)
        margin_square = ops.square(ops.maximum(margin - (y_pred), 0))
        return ops.mean((1 - y_true) * square_pred + (y_true) * margin_square)

    return contrastive_loss


siamese.compile(loss=loss(margin=margin), optimizer="RMSprop", metrics=["accuracy"])

n = BATCH_SIZE * 4
x_train_1 = np.random.rand(n, 48, 48, 1).astype("float32")
x_train_2 = np.random.rand(n, 48, 48, 1).astype("float32")
labels_train = np.random.randint(0, 2, n).astype("float32")
siamese.fit([x_train_1, x_train_2], labels_train, batch_size=BATCH_SIZE, epochs=1)
