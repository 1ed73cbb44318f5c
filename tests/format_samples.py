"""Samples of all formats, and the format of CONTRIBUTING.md as a package that can be installed."""

import bz2
import gzip
import importlib.util
import lzma
import re
from pathlib import Path
from types import ModuleType

import pyarrow as pa

HERE = Path(__file__).parent / "formats"
SAMPLES = sorted(path.stem for path in (HERE / "samples").glob("*.py"))

TESTED = {
    "parquet": [".parquet"], "jsonl": [".jsonl", ".jsonl.gz", ".jsonl.zst"], "json": [".json", ".json.xz"],
    "csv": [".csv", ".csv.bz2"], "tsv": [".tsv", ".tsv.zst"], "txt": [".txt", ".md.gz"], "ssv": [".ssv", ".ssv.gz"],
}  # fmt: skip
"""Some suffixes of each format; all of them are read alike."""


def install_toy(folder: Path) -> None:
    """Put the format, and what a package manager writes of its package, into a folder."""
    text = (HERE.parents[1] / "CONTRIBUTING.md").read_text()
    entry = re.search(r"entry point `(.+?)` in the\s+group `(.+?)`", text)
    (code,) = re.findall(r"^```python\n(.*?^FORMAT = .*?)^```", text, re.DOTALL | re.MULTILINE)
    (folder / "semicolons.py").write_text(code)
    info = folder / "semicolons-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: semicolons\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{entry[2]}]\n{entry[1].replace(chr(34), '')}\n")


def sample(name: str) -> ModuleType:
    """The samples of a format."""
    spec = importlib.util.spec_from_file_location(f"samples_of_{name}", HERE / f"samples/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def packed(data: bytes, suffix: str) -> bytes:
    """Bytes compressed as a suffix says."""
    pack = {
        "gz": gzip.compress, "zst": lambda data: pa.compress(data, "zstd", asbytes=True), "bz2": bz2.compress,
        "xz": lambda data: lzma.compress(data, preset=0),
    }.get(suffix.lower().rpartition(".")[2])  # fmt: skip
    return data if pack is None else pack(data)
