"""Texts as UTF-8 buffers, and the shingles of texts."""
