"""The kinds of layers, by subject: the weights of each, its ops, and what of them waits for the backward pass.

One function a kind, with what was measured of it in its docstring; `known` has them all by the names of the classes.
In the docstrings n is the bytes of the output for the whole batch, x those of the input, W those of the kernel.
"""
