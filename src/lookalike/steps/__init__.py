"""Steps: pure functions from record batches to record batches."""
