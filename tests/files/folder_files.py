"""Folders of small files, and what is in them."""

import json
from pathlib import Path


def fill(folder, **texts):
    """Write files of one row each into a folder."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.jsonl").write_text(json.dumps({"text": text}) + "\n")
    return folder


def names(folder):
    return sorted(str(p.relative_to(folder)) for p in Path(folder).rglob("*") if not p.is_dir())
