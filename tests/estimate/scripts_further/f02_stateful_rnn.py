import numpy as np
from keras.models import Sequential
from keras.layers import Input, LSTM, Dense, TimeDistributed, Activation
from keras.optimizers import RMSprop

BATCH_SIZE = 64
n_chars, steps = 80, 60

model = Sequential()
model.add(Input(batch_shape=(BATCH_SIZE, steps, n_chars)))
model.add(LSTM(256, return_sequences=True, stateful=True))
model.add(LSTM(256, return_sequences=True, stateful=True, dropout=0.2))
model.add(TimeDistributed(Dense(n_chars)))
model.add(Activation('softmax'))
model.compile(loss='categorical_crossentropy', optimizer=RMSprop(learning_rate=0.01))
model.summary()

n = BATCH_SIZE * 5
X = np.zeros((n, steps, n_chars), dtype=np.float32)
Y = np.zeros((n, steps, n_chars), dtype=np.float32)
idx = np.random.randint(0, n_chars, (n, steps + 1))
for i in range(n):
    for t in range(steps):
        X[i, t, idx[i, t]] = 1
        Y[i, t, idx[i, t + 1]] = 1

model.fit(X, Y, batch_size=BATCH_SIZE, epochs=1, shuffle=False)
