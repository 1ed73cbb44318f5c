"""Bytes: which files an input means, files that appear whole or not at all, named arrays."""
