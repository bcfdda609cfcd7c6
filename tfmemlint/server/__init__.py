"""The language server: what an editor has open, linted as it is there while it is typed.

`desk` answers questions about files and runs in processes of its own (`worker`, `process`); the rest runs in the
server's loop and neither parses nor lints. `documents` and `positions` are what is open, `session` says when what is
linted, `shown`, `actions` and `hover` put answers into the protocol's words, and `lsp` speaks it. pygls and lsprotocol
are an extra, and nothing outside of this package imports it before they are there. May import `__init__`, `config`,
`estimate`, `files`, `finding`, `fix`, `lint`, `model`, `project`, `report`, `run`, `shown`, `text`, and for annotations
`rule`.
"""
