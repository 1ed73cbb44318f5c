"""Deduplication on a cluster of Spark, with the decisions that one machine would make."""
