"""The command line: it translates arguments, and nothing else."""

from .main import main

__all__ = ["main"]
