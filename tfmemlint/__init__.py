"""tfmemlint finds and repairs memory anti-patterns in TensorFlow and Keras code without running it."""

__version__ = "0.1.0"
