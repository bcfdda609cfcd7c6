"""Tensors and arrays: shapes, dtypes, and the operations that blow them up."""
