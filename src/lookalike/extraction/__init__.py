"""Text of documents that need a parser, taken out in processes of their own, which a hostile file can end, but not the job."""


class UnreadableError(Exception):
    """A document has no text that its parser could get at; the message says why, as what follows the name of a file."""
