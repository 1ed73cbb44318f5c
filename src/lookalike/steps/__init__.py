"""Steps: pure functions from record batches to record batches, a file for each."""
