"""Tab-separated fields: CSV with tabs in place of commas."""

from __future__ import annotations

from .csv import Csv

FORMAT = Csv("tsv", "\t")
