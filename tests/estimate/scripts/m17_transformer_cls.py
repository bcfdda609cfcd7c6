import numpy as np
import keras
from keras import layers

BATCH_SIZE = 16
vocab_size, maxlen, embed_dim, num_heads, ff_dim = 20000, 128, 128, 4, 256

inputs = layers.Input(shape=(maxlen,))
x = layers.Embedding(vocab_size, embed_dim)(inputs)
for _ in range(2):
    attn = layers.MultiHeadAttention(num_heads=num_heads, key_dim=embed_dim)(x, x)
    attn = layers.Dropout(0.1)(attn)
    x = layers.LayerNormalization(epsilon=1e-6)(x + attn)
    ffn = layers.Dense(ff_dim, activation="relu")(x)
    ffn = layers.Dense(embed_dim)(ffn)
    ffn = layers.Dropout(0.1)(ffn)
    x = layers.LayerNormalization(epsilon=1e-6)(x + ffn)
x = layers.GlobalAveragePooling1D()(x)
x = layers.Dropout(0.1)(x)
x = layers.Dense(20, activation="relu")(x)
outputs = layers.Dense(2, activation="softmax")(x)
model = keras.Model(inputs=inputs, outputs=outputs)
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
x_train = np.random.randint(0, vocab_size, (BATCH_SIZE * 4, maxlen))
y_train = np.random.randint(0, 2, BATCH_SIZE * 4)
model.fit(x_train, y_train, batch_size=BATCH_SIZE, epochs=1)
