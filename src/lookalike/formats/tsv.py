"""Tab-separated fields: CSV with tabs in place of commas."""

from __future__ import annotations

from ..files.names import with_compressed
from .csv import Csv

FORMAT = Csv("tsv", with_compressed(".tsv"), "\t")
