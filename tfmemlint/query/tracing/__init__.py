"""Traced functions: what runs in them, what is a tensor or a Python value there, and what makes variables."""
