"""Repairs: built as text edits, chosen so that none cuts into another, applied until nothing is left, written whole.

May import `files`, `finding`, `knowledge`, `model`, `query`, `syntax`, `text`.
"""
