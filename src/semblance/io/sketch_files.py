"""Signatures and packed signatures on disk: a versioned header, the arrays, a checksum. No pickle.

Layout, little endian: the 8 bytes ``SEMBLSIG``; uint32 format version (1); uint32 length of the header; the header, JSON in
UTF-8, padded with blanks to a multiple of 8; the arrays, in the order the header names them, each padded with zeros to a
multiple of 8; 32 bytes of BLAKE2b over all that precedes.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from .. import sketches
from ..errors import InputDataError, ParameterError
from ..sketches import packed as packings
from ..text.shingle import Shingling
from ..values import PackedSignatures, Signatures
from .formats import atomic_file, check_output

MAGIC = b"SEMBLSIG"
VERSION = 1
_SCHEMES = {
    c.__name__: c for c in (sketches.MinHash, sketches.FastSimilarity, sketches.OnePermutation, sketches.PermutationMinHash)
}
_PACKINGS = {c.__name__: c for c in (packings.BBit, packings.Fractional, packings.XorBits)}


def _named(value: Any) -> dict[str, Any]:
    return {"kind": type(value).__name__, "parameters": asdict(value)}


def _shingling_header(shingling: object) -> Any:
    if isinstance(shingling, Shingling):
        if shingling.tokenizer is not None:
            raise ParameterError("signatures of your own tokenizer cannot be saved: no file could tell which it was")
        return {k: v for k, v in asdict(shingling).items() if k != "tokenizer"} | {"unicode": shingling.to_dict()["unicode"]}
    return str(shingling)


def _padded(data: bytes, filler: bytes) -> bytes:
    return data + filler * (-len(data) % 8)


def save(value: Signatures | PackedSignatures, path: str | Path, *, force: bool = False) -> None:
    """Write signatures to a file, with the parameters that made them.

    Parameters
    ----------
    value : Signatures or PackedSignatures
    path : str or path
    force : bool
        Replace an existing file.

    Raises
    ------
    OutputError
        If the file exists or cannot be written.
    ParameterError
        If they were made with a tokeniser of the user's own, or a scheme without a file format.
    """
    if type(value.scheme).__name__ not in _SCHEMES:
        raise ParameterError(f"signatures of {type(value.scheme).__name__} have no file format")
    arrays: dict[str, Any] = {}
    header: dict[str, Any] = {"scheme": _named(value.scheme), "shingling": _shingling_header(value.shingling)}
    if isinstance(value, PackedSignatures):
        header |= {"kind": "packed", "packing": _named(value.packing), "has_empty": value.has_empty}
        arrays |= {"words": value.words, "layout": value.layout}
    else:
        header["kind"] = "signatures"
        arrays["values"] = value.values
    if value.densities is not None:
        arrays["densities"] = value.densities
    header["arrays"] = [{"name": n, "dtype": a.dtype.newbyteorder("<").str, "shape": a.shape} for n, a in arrays.items()]
    text = _padded(json.dumps(header).encode(), b" ")
    digest = hashlib.blake2b(digest_size=32)
    with atomic_file(check_output(path, force, single=True)) as stream:
        pieces = [MAGIC + VERSION.to_bytes(4, "little") + len(text).to_bytes(4, "little"), text]
        pieces += [_padded(np.ascontiguousarray(a, a.dtype.newbyteorder("<")).tobytes(), b"\0") for a in arrays.values()]
        for piece in pieces:
            digest.update(piece)
            stream.write(piece)
        stream.write(digest.digest())


def load(path: str | Path) -> Signatures | PackedSignatures:
    """Read signatures that ``save`` wrote.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    Signatures or PackedSignatures

    Raises
    ------
    InputDataError
        If the file is not one of ours, of a newer version, cut short or damaged; each has a message of its own.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise InputDataError(f"{path}: cannot be read: {error.strerror}") from None
    if data[:8] != MAGIC:
        raise InputDataError(f"{path}: not a file of signatures")
    version = int.from_bytes(data[8:12], "little")
    if version > VERSION:
        raise InputDataError(f"{path}: format version {version} is newer than {VERSION}, the newest known here; upgrade")
    if len(data) < 48 or hashlib.blake2b(data[:-32], digest_size=32).digest() != data[-32:]:
        raise InputDataError(f"{path}: damaged or cut short: the checksum does not fit")
    end = 16 + int.from_bytes(data[12:16], "little")
    header = json.loads(data[16:end])
    arrays = {}
    for entry in header["arrays"]:
        dtype = np.dtype(entry["dtype"])
        count = int(np.prod(entry["shape"], dtype=np.int64))
        arrays[entry["name"]] = np.frombuffer(data, dtype, count, end).reshape(entry["shape"])
        end += -(-count * dtype.itemsize // 8) * 8
    scheme = _SCHEMES[header["scheme"]["kind"]](**header["scheme"]["parameters"])
    shingling: object = header["shingling"]
    if isinstance(shingling, dict):
        shingling = Shingling(**{k: v for k, v in shingling.items() if k != "unicode"})
    densities = arrays.get("densities")
    if header["kind"] == "signatures":
        return Signatures(arrays["values"], scheme, shingling, densities)
    packing = _PACKINGS[header["packing"]["kind"]](**header["packing"]["parameters"])
    layout = arrays["layout"].astype(np.int64)
    return PackedSignatures(arrays["words"], layout, packing, scheme, shingling, densities, header["has_empty"])
