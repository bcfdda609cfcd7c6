"""What a wrong command line raises, wherever it is found out."""


class UsageError(Exception):
    """A command line that cannot be followed; the message is one line."""
