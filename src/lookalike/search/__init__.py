"""Search: from sketches to pairs of rows that are worth comparing."""
