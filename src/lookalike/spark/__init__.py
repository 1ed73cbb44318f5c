"""Deduplication on a cluster of Spark, with the decisions that one machine would make.

from lookalike import spark as sbs
result = sbs.dedup(frame, text="text", id="url", threshold=0.8, recall=0.99, work="/shared/job")
"""

from .dedup import dedup
from .result import SparkResult
from .sessions import start_session

__all__ = ["SparkResult", "dedup", "start_session"]
