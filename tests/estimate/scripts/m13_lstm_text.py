import numpy as np
from tensorflow.keras.models import Sequential
from tensorflow.keras.layers import Embedding, LSTM, Dense, Dropout, Input

BATCH_SIZE = 32
max_features = 20000
maxlen = 100
x_train = np.random.randint(1, max_features, (BATCH_SIZE * 4, maxlen))
y_train = np.random.randint(0, 2, BATCH_SIZE * 4)
model = Sequential()
model.add(Input(shape=(maxlen,)))
model.add(Embedding(max_features, 128))
model.add(LSTM(128))
model.add(Dropout(0.5))
model.add(Dense(1, activation="sigmoid"))
model.compile(loss="binary_crossentropy", optimizer="adam", metrics=["accuracy"])
model.fit(x_train, y_train, batch_size=BATCH_SIZE, epochs=1)
