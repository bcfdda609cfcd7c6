"""Bytes to program text and back: decoding, notebooks, documents, lines, statements, what a parser may be asked.

Knows no syntax tree. May import `finding`.
"""
