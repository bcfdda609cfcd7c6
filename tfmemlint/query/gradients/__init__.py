"""Gradient tapes and what is taken of their record."""
