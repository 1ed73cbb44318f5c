import bz2
import gzip
import lzma
import shutil
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pyarrow as pa

HERE = Path(__file__).parent
SAMPLES = sorted(path.stem for path in (HERE / "samples").glob("*.py"))

TESTED = {
    "parquet": [".parquet"], "jsonl": [".jsonl", ".jsonl.gz", ".jsonl.zst"], "json": [".json", ".json.xz"],
    "csv": [".csv", ".csv.bz2"], "tsv": [".tsv", ".tsv.zst"], "txt": [".txt", ".md.gz"], "arrow": [".arrow", ".feather"], "orc": [".orc"], "ssv": [".ssv", ".ssv.gz"],
}  # fmt: skip
"""Some suffixes of each format; all of them are read alike."""


def install_toy(folder: Path) -> None:
    shutil.copytree(HERE / "semicolons", folder, dirs_exist_ok=True)


def sample(name: str) -> ModuleType:
    return import_module(f"formats.samples.{name}")


def packed(data: bytes, suffix: str) -> bytes:
    pack = {
        "gz": gzip.compress, "zst": lambda data: pa.compress(data, "zstd", asbytes=True), "bz2": bz2.compress,
        "xz": lambda data: lzma.compress(data, preset=0),
    }.get(suffix.lower().rpartition(".")[2])  # fmt: skip
    return data if pack is None else pack(data)
