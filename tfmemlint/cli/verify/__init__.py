"""The commands `verify` and `run`: arguments, what is shown while they measure, and what they write."""
