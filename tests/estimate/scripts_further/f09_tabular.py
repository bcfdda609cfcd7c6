"""Kaggle-style tabular baseline."""
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, callbacks

BATCH_SIZE = 4096


class CFG:
    n_features = 120
    hidden = [1024, 512, 256]
    dropout = 0.3
    lr = 3e-4
    epochs = 1


def build_model(cfg=CFG):
    inp = layers.Input((cfg.n_features,))
    x = layers.BatchNormalization()(inp)
    x = layers.GaussianNoise(0.05)(x)
    for units in cfg.hidden:
        x = layers.Dense(units)(x)
        x = layers.BatchNormalization()(x)
        x = layers.Activation("swish")(x)
        x = layers.Dropout(cfg.dropout)(x)
    out = layers.Dense(1, activation="sigmoid")(x)
    model = tf.keras.Model(inp, out)
    model.compile(
        optimizer=tf.keras.optimizers.AdamW(learning_rate=cfg.lr, weight_decay=1e-4),
        loss=tf.keras.losses.BinaryCrossentropy(label_smoothing=0.01),
        metrics=[tf.keras.metrics.AUC(name="auc")],
    )
    return model


X = np.random.normal(size=(BATCH_SIZE * 5, CFG.n_features))
y = (np.random.rand(BATCH_SIZE * 5) > 0.7).astype(int)
order = np.random.permutation(len(X))
split = BATCH_SIZE * 4
tr, va = order[:split], order[split:]
model = build_model()
model.fit(
    X[tr], y[tr],
    validation_data=(X[va], y[va]),
    epochs=CFG.epochs,
    batch_size=BATCH_SIZE,
    callbacks=[callbacks.ReduceLROnPlateau(monitor="val_auc", mode="max", patience=2)],
    verbose=0,
)
