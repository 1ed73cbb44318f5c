"""What a file is by its first bytes, whatever its name says."""

from __future__ import annotations

import re
from codecs import getincrementaldecoder

LOOKED_AT = 512  # bytes
BEGINS = {
    "gzip": rb"\x1f\x8b\x08",
    "zstd": rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18",
    "bz2": rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)",
    "xz": rb"\xfd7zXZ\0",
}
# How each begins, and what it is called. Some begin with letters, as a text can: those are followed by what no text has.
_KINDS = {
    "parquet": (rb"PAR[1E]\x15", "a Parquet file"),
    "arrow": (rb"ARROW1\0\0|\xff\xff\xff\xff[\s\S]{2}\0\0\x10\0\0\0", "an Arrow file"),
    "orc": (rb"ORC[^\n]{0,24}?[\0-\x08\x0e-\x1f]|ORC\n[^\n]{0,24}?[\0-\x08\x0e-\x1f]", "an ORC file"),
    "sqlite": (rb"SQLite format 3\0", "a SQLite database"),
    "duckdb": (rb"[\s\S]{8}DUCK[\s\S]{2}\0\0", "a DuckDB database"),
    "avro": (rb"Obj\x01", "an Avro file"),
    "arc": (rb"filedesc://", "an ARC file, the format before WARC"),
    "pdf": (rb"%PDF-\d\.\d", "a PDF document"),
    "rtf": (rb"\{\\rtf1", "an RTF document"),
    "zip": (rb"PK(?:\x03\x04|\x05\x06)", "a ZIP archive, or an office file"),
    "ole": (rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old, or encrypted, Office document"),
    "packed": (rb"\x04\x22\x4d\x18|\x1f\x9d\x90|LZIP\x01", "compressed data of a kind that is not read"),
    "tar": (rb"[\s\S]{257}ustar", "a tar archive"),
    "rar": (rb"Rar!\x1a\x07", "a RAR archive"),
    "7z": (rb"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    "png": (rb"\x89PNG", "a PNG image"),
    "jpeg": (rb"\xff\xd8\xff", "a JPEG image"),
    "gif": (rb"GIF8[79]a", "a GIF image"),
    "riff": (rb"RIFF[\s\S]{4}(?:WEBP|WAVE|AVI )", "an image, sound or film"),
    "film": (rb"\0\0\0[\s\S]ftyp|\x1a\x45\xdf\xa3", "a film"),
    "sound": (rb"ID3[\2-\4]|OggS\0|fLaC\0", "a sound"),
    "program": (rb"\x7fELF|MZ[\x80-\xff]\0|\xca\xfe\xba\xbe", "a program"),
    "hdf5": (rb"\x89HDF", "an HDF5 file"),
    "numpy": (rb"\x93NUMPY", "an array of NumPy"),
}


def _together(kinds: dict[str, bytes]) -> re.Pattern[bytes]:
    return re.compile(b"|".join(b"(?P<k_%s>%s)" % (kind.encode(), pattern) for kind, pattern in kinds.items()))


_PACKED = _together(BEGINS)
_ANY = _together(BEGINS | {kind: pattern for kind, (pattern, _) in _KINDS.items()})
_CONTROL = re.compile(r"[\0-\x08\x0e-\x1a\x1c-\x1f]")
_UNICODE = ((b"\xff\xfe\0\0", "utf-32"), (b"\0\0\xfe\xff", "utf-32"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


def packing_of(head: bytes) -> str | None:
    """Return how a file is compressed that begins with these bytes; None: it is not."""
    found = _PACKED.match(head)
    return None if found is None else str(found.lastgroup)[2:]


def kind_of(head: bytes) -> str | None:
    """Return what begins with these bytes and is no text, or None: "parquet", "png", "gzip"."""
    found = _ANY.match(head)
    return None if found is None else str(found.lastgroup)[2:]


def encoding_of(head: bytes) -> str | None:
    """Return the encoding of a text that begins with a mark of the order of bytes, other than UTF-8."""
    return next((encoding for mark, encoding in _UNICODE if head.startswith(mark)), None)


def is_texty(head: bytes) -> bool:
    """Tell whether these bytes can begin a text in UTF-8, or in UTF-16 with a mark."""
    try:
        text = getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return encoding_of(head) is not None
    return _CONTROL.search(text) is None


def described(kind: str) -> str:
    """Say what a file is, and what to do with it."""
    if kind in BEGINS:
        return f"is {kind} data twice over, or in a format that is not compressed as a whole: decompress it first"
    way = {
        **{
            one: f"name it .{one}, or pass --format {one} (format={one!r})"
            for one in ("parquet", "arrow", "orc", "sqlite", "duckdb", "pdf")
        },
        "packed": "decompress it first",
        "tar": "name it .tar",
        "zip": "name it .zip, .docx, .odt or .epub, whichever it is",
        "arc": "convert it first: warcio recompress FILE FILE.warc.gz",
        "rtf": "extract its text first: pandoc FILE -t plain -o FILE.txt",
    }
    return (
        f"is {_KINDS[kind][1]}, by its first bytes: {way.get(kind, 'remove it, or leave it out: --exclude PATTERN (exclude=)')}"
    )
