"""What a job has found: decisions, pairs, summaries; saved and loaded."""
