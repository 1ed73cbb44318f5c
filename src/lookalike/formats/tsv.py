"""Tab-separated fields: CSV with tabs in place of commas."""

from __future__ import annotations

from ..files.names import packed
from .csv import Csv

FORMAT = Csv("tsv", packed(".tsv"), "\t")
