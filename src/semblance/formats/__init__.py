"""File formats, and values that are in memory already."""
