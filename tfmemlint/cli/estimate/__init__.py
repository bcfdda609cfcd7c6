"""The command `estimate`: its arguments, the files that it reads, and what a git revision says of them."""
