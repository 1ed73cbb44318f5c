from collections.abc import Callable
from typing import Any

kernels: dict[str, Callable[..., Any]]
"""By module, name and signature: ``"hashing.fmix64 uint64(uint64)"``."""
levels: tuple[str, ...]
"""Levels of processors for which there is code, those with more instructions last."""
best: int
"""The level of this processor, by its number."""

def use_level(number: int, /) -> str:
    """Take the code of a level, by its number; return its name."""
