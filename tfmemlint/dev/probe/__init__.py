"""Probes an installed TensorFlow, Keras and NumPy and writes the tables of `tfmemlint.knowledge`.

`python -m tfmemlint.dev.probe` makes all tables again; `python -m tfmemlint.dev.probe names` only those of one part.
TensorFlow is imported in child processes only. The same versions give the same bytes.
"""
