"""Questions that rules ask of a program: where a value goes, how often code runs, what it calls.

Each has one owner, says what its answers promise, and takes `file` first; numbers that several share are in `limits`.
May import `finding`, `knowledge`, `model`, `syntax`, `units`.
"""
