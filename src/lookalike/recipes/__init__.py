"""Which steps run, in which order."""
