"""Signatures and packed signatures on disk: a versioned header, the arrays, a checksum. No pickle.

Layout, little endian: the 8 bytes ``SEMBLSIG``; uint32 format version (2); uint32 length of the header; the header, JSON in
UTF-8, padded with blanks to a multiple of 8; the arrays, in the order the header names them, each padded with zeros to a
multiple of 8; 32 bytes of BLAKE2b over all that precedes.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from .. import sketches
from ..errors import InputDataError, ParameterError
from ..files.atomic import atomic_file
from ..files.container import is_count
from ..files.outputs import check_output
from ..text.shingle import RULES, Shingling
from ..values import PackedSignatures, Signatures
from . import packed as packings

MAGIC = b"SEMBLSIG"
VERSION = 2  # 2: the header states the rules of shingling
_SCHEMES = {
    c.__name__: c for c in (sketches.MinHash, sketches.FastSimilarity, sketches.OnePermutation, sketches.PermutationMinHash)
}
_DTYPES = {"values": ("<u4", "<u8"), "words": ("<u8",), "layout": ("<i8",), "densities": ("<f8",)}
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
    """Write signatures to a file, with the parameters that made them. It is not compressed, whatever its name.

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
    with atomic_file(check_output(path, force, single=True), compress=False) as stream:
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
    if version < 1 or len(data) < 48 or hashlib.blake2b(data[:-32], digest_size=32).digest() != data[-32:]:
        raise InputDataError(f"{path}: damaged or cut short: the checksum does not fit")
    end = 16 + int.from_bytes(data[12:16], "little")
    try:
        return _read(path, data, end)
    except InputDataError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError) as error:
        raise InputDataError(f"{path}: damaged: its header does not describe signatures ({error!r:.80})") from None


def _read(path: str | Path, data: bytes, end: int) -> Signatures | PackedSignatures:
    """Return what a file holds whose checksum fits.

    Raises
    ------
    InputDataError
        If a later version of the rules of shingling made it.
    ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError
        If it is nothing that ``save`` writes.
    """
    header = json.loads(data[16:end])
    arrays = {}
    for entry in header["arrays"]:
        name, shape = entry["name"], entry["shape"]
        if entry["dtype"] not in _DTYPES[name] or not all(is_count(length, len(data)) for length in shape):
            raise ValueError(f"{name} of {entry['dtype']!r} and shape {shape!r}")
        dtype, count = np.dtype(entry["dtype"]), math.prod(shape)
        if end + -(-count * dtype.itemsize // 8) * 8 > len(data) - 32:
            raise ValueError(f"{name} of shape {shape!r}")
        arrays[name] = np.frombuffer(data, dtype, count, end).reshape(shape)
        end += -(-count * dtype.itemsize // 8) * 8
    if end != len(data) - 32:
        raise ValueError("bytes that no array has")
    scheme = _SCHEMES[header["scheme"]["kind"]](**header["scheme"]["parameters"])
    shingling: object = header["shingling"]
    if isinstance(shingling, dict):
        parameters: dict[str, Any] = {"rules": 1} | shingling  # version 0.1 did not write its rules
        if parameters["rules"] > RULES:
            raise InputDataError(f"{path}: shingling rules {parameters['rules']} are newer than {RULES}; upgrade semblance")
        shingling = Shingling(**{k: v for k, v in parameters.items() if k != "unicode"})
    if header["kind"] not in ("signatures", "packed"):
        raise ValueError(f"a kind of {header['kind']!r}")
    densities = arrays.get("densities")
    rows = arrays["values" if header["kind"] == "signatures" else "words"]
    if rows.ndim != 2 or (densities is not None and densities.shape != rows.shape[:1]):
        raise ValueError(f"rows of shape {rows.shape}")
    if header["kind"] == "signatures":
        if rows.shape[1] != scheme.permutations:
            raise ValueError(f"{rows.shape[1]} slots of {scheme.permutations}")
        return Signatures(rows, scheme, shingling, densities)
    packing = _PACKINGS[header["packing"]["kind"]](**header["packing"]["parameters"])
    layout, has_empty = arrays["layout"].astype(np.int64), header["has_empty"]
    wanted = packing.layout(scheme.permutations)
    if not np.array_equal(layout, wanted) or not isinstance(has_empty, bool):
        raise ValueError(f"a layout of {layout.tolist()}")
    ends = [first + -(-slots // 64) * bits for first, slots, bits in layout.tolist()]
    if rows.shape[1] != max(ends) + has_empty * -(-scheme.permutations // 64):
        raise ValueError(f"{rows.shape[1]} words a row")
    return PackedSignatures(rows, layout, packing, scheme, shingling, densities, has_empty)
