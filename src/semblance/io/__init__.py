"""Files and values in, files out."""
