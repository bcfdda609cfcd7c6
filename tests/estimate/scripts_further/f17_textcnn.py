import numpy as np
from tensorflow.keras.layers import (Concatenate, Conv1D, Dense, Dropout, Embedding, GlobalMaxPooling1D, Input,
                                     SpatialDropout1D)
from tensorflow.keras.models import Model

BATCH_SIZE = 64
MAX_LEN = 200
VOCAB_SIZE = 10000
EMBED_DIM = 100
FILTER_SIZES = [2, 3, 4, 5]
NUM_FILTERS = 128

# pretrained vectors, say
embedding_matrix = np.random.normal(size=(VOCAB_SIZE, EMBED_DIM)).astype("float32")

sequence_input = Input(shape=(MAX_LEN,), dtype="int32")
embedded = Embedding(VOCAB_SIZE, EMBED_DIM, trainable=False)(sequence_input)
embedded = SpatialDropout1D(0.2)(embedded)
convs = []
for fsz in FILTER_SIZES:
    conv = Conv1D(filters=NUM_FILTERS, kernel_size=fsz, activation="relu")(embedded)
    pool = GlobalMaxPooling1D()(conv)
    convs.append(pool)
merged = Concatenate(axis=1)(convs)
x = Dropout(0.5)(merged)
x = Dense(128, activation="relu")(x)
preds = Dense(20, activation="softmax")(x)
model = Model(sequence_input, preds)
model.compile(loss="categorical_crossentropy", optimizer="adadelta", metrics=["acc"])

docs = np.random.randint(0, VOCAB_SIZE, (BATCH_SIZE * 4, MAX_LEN)).astype("int32")
topics = np.eye(20)[np.random.randint(0, 20, BATCH_SIZE * 4)]
model.fit(docs, topics, batch_size=BATCH_SIZE, epochs=1)
