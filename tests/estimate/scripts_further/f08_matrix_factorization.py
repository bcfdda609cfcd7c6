import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import Embedding, Input, Dot, Add, Flatten, Activation
from tensorflow.keras.models import Model
from tensorflow.keras.regularizers import l2

BATCH_SIZE = 2048
N_USERS, N_MOVIES, K = 20000, 8000, 50

u = Input(shape=(1,))
m = Input(shape=(1,))
u_embedding = Embedding(N_USERS, K, embeddings_regularizer=l2(1e-6))(u)
m_embedding = Embedding(N_MOVIES, K, embeddings_regularizer=l2(1e-6))(m)
u_bias = Embedding(N_USERS, 1)(u)
m_bias = Embedding(N_MOVIES, 1)(m)
x = Dot(axes=2)([u_embedding, m_embedding])
x = Add()([x, u_bias, m_bias])
x = Flatten()(x)
x = Activation("sigmoid")(x)
model = Model(inputs=[u, m], outputs=x)

model.compile(
    loss="mse",
    optimizer=tf.keras.optimizers.SGD(learning_rate=0.08, momentum=0.9),
    metrics=["mse"],
)

ratings = BATCH_SIZE * 4
users = np.random.randint(0, N_USERS, ratings)
movies = np.random.randint(0, N_MOVIES, ratings)
stars = np.random.rand(ratings)
r = model.fit(
    x=[users, movies],
    y=stars,
    epochs=1,
    batch_size=BATCH_SIZE,
)
