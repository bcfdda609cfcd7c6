"""Character-level text generation, after the usual tutorial."""
import numpy as np
import tensorflow as tf

BATCH_SIZE = 64
SEQ_LENGTH = 100
EMBEDDING_DIM = 256
RNN_UNITS = 512
VOCAB = 65

text_as_int = np.random.randint(0, VOCAB, size=BATCH_SIZE * 6 * (SEQ_LENGTH + 1))
ids_dataset = tf.data.Dataset.from_tensor_slices(text_as_int)
sequences = ids_dataset.batch(SEQ_LENGTH + 1, drop_remainder=True)


def split_input_target(sequence):
    input_text = sequence[:-1]
    target_text = sequence[1:]
    return input_text, target_text


dataset = (
    sequences
    .map(split_input_target)
    .shuffle(10000)
    .batch(BATCH_SIZE, drop_remainder=True)
    .prefetch(tf.data.experimental.AUTOTUNE)
)


class CharModel(tf.keras.Model):
    def __init__(self, vocab_size, embedding_dim, rnn_units):
        super().__init__()
        self.embedding = tf.keras.layers.Embedding(vocab_size, embedding_dim)
        self.gru = tf.keras.layers.GRU(rnn_units, return_sequences=True, return_state=True)
        self.dense = tf.keras.layers.Dense(vocab_size)

    def call(self, inputs, states=None, return_state=False, training=False):
        x = self.embedding(inputs, training=training)
        x, states = self.gru(x, initial_state=states, training=training)
        x = self.dense(x, training=training)
        if return_state:
            return x, states
        return x


model = CharModel(vocab_size=VOCAB, embedding_dim=EMBEDDING_DIM, rnn_units=RNN_UNITS)
loss = tf.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(optimizer="adam", loss=loss)
history = model.fit(dataset, epochs=1)
