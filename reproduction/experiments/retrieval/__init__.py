"""Retrieval by estimates on real documents, and what it costs."""
