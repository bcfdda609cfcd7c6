"""How rules meet one file: registry, dispatch, suppressions, baseline, and the lines that changed.

May import what stands before it: `config`, `files`, `finding`, `model`, `text`, `rule`.
"""
