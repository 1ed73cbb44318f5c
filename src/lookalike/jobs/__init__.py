"""Jobs: which steps, in which order."""
