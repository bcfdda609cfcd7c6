"""Keras layers and the models made of them: shapes, parameters, order."""
