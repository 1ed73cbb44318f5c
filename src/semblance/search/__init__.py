"""Search: from sketches to pairs of rows that are worth comparing."""

from .banding import BandingIndex

__all__ = ["BandingIndex"]
