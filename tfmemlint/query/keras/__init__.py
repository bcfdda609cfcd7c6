"""Keras: what is a model, its layers and weights, dtype policies, and the sessions of version 1."""
