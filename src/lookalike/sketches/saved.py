"""Signatures and packed signatures on disk: the parameters that made them, and the arrays, in a file of ``files.arrays``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputDataError, ParameterError, from_caller
from ..files.arrays import ArrayFile, write_arrays
from ..files.disk import check_output
from ..files.layout import FileType
from ..text.shingle import RULES, Shingling
from ..values import PackedSignatures, Signatures
from .minhash import FastSimilarity, MinHash
from .packed import BBit, Fractional, XorBits
from .permutation import OnePermutation, PermutationBins, PermutationMinHash

SIGNATURES = FileType(magic=b"LOOKASIG", version=1, name="signatures", error=InputDataError, links=True)
_SCHEMES = {c.__name__: c for c in (MinHash, FastSimilarity, OnePermutation, PermutationMinHash, PermutationBins)}
_DTYPES = {
    "values": ("<u4", "<u8"),
    "words": ("<u8",),
    "layout": ("<i8",),
    "densities": ("<f8",),
    "density_steps": ("|u1",),
}
_NAMES = {"signatures": {"values"}, "packed": {"words", "layout"}}
_PACKINGS = {c.__name__: c for c in (BBit, Fractional, XorBits)}


def _kind_and_parameters(value: Any) -> dict[str, Any]:
    copies = {"copies": "marked"} if getattr(value, "may_be_copied", False) else {}
    return {"kind": type(value).__name__, "parameters": asdict(value), **copies}


def _shingling_header(shingling: object) -> Any:
    if isinstance(shingling, Shingling):
        if shingling.tokenizer is not None:
            raise ParameterError("signatures of your own tokenizer cannot be saved: a file cannot record it")
        if shingling.ignored is not None:
            raise ParameterError("signatures with ignored shingles cannot be saved: a file cannot record these")
        given = asdict(shingling).items()
        known = {k: v for k, v in given if k not in ("tokenizer", "ignored") and (k != "key_fingerprint" or v)}
        return known | {"unicode": shingling.to_dict()["unicode"]}
    return str(shingling)


def _bits_of(steps: NDArray[np.uint16], bits: int) -> NDArray[np.uint8]:
    """Return numbers of so many bits one after another, the lowest bit first, as bytes."""
    return np.packbits((steps[:, None] >> np.arange(bits, dtype=np.uint16)) & np.uint16(1), bitorder="little")


def _steps_of(packed: NDArray[np.uint8], bits: int, n: int) -> NDArray[np.uint16]:
    """Return the n numbers that ``_bits_of`` wrote."""
    single: NDArray[Any] = np.unpackbits(packed, bitorder="little")
    if packed.shape != (-(-n * bits // 8),) or single[n * bits :].any():
        raise ValueError(f"{packed.shape} bytes of densities")
    single = single[: n * bits].reshape(n, bits)
    return np.asarray((single << np.arange(bits, dtype=np.uint16)).sum(1, dtype=np.uint16))


@from_caller
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
        If they were made with a custom tokenizer, or with a scheme without a file format.
    """
    if type(value.scheme).__name__ not in _SCHEMES:
        raise ParameterError(f"signatures of {type(value.scheme).__name__} have no file format")
    arrays: dict[str, NDArray[Any]] = {}
    header: dict[str, Any] = {"scheme": _kind_and_parameters(value.scheme), "shingling": _shingling_header(value.shingling)}
    if isinstance(value, PackedSignatures):
        header |= {"kind": "packed", "packing": _kind_and_parameters(value.packing), "has_empty": value.has_empty}
        header |= {"bins": "whole"} if value.holds_bins else {}
        arrays |= {"words": value.words, "layout": value.layout}
    else:
        header["kind"] = "signatures"
        arrays["values"] = value.values
    if isinstance(value, PackedSignatures) and value.density_bits is not None:
        header["density_bits"] = value.density_bits
        arrays["density_steps"] = _bits_of(value.density_steps, value.density_bits)
    elif value.densities is not None:
        arrays["densities"] = value.densities
    write_arrays(check_output(path, force, single=True), arrays, header, kind=SIGNATURES, replace=force)


@from_caller
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
    path = Path(path)
    file = ArrayFile(path, SIGNATURES)
    try:
        return _make(path, file.meta, dict(file))
    except InputDataError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
        raise InputDataError(
            f"damaged, or of a newer version: its header does not describe signatures ({error!r:.80})", path
        ) from None


def _make(path: Path, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Signatures | PackedSignatures:
    """Return what a file holds whose checksums match."""
    kind = header["kind"]
    bits = header.get("density_bits")
    extra = "densities" if bits is None else "density_steps"
    if set(arrays) - {extra} != _NAMES[kind] or any(a.dtype.str not in _DTYPES[name] for name, a in arrays.items()):
        raise ValueError(f"arrays { ({name: a.dtype.str for name, a in arrays.items()}) }")
    scheme = _SCHEMES[header["scheme"]["kind"]](**header["scheme"]["parameters"])
    if header["scheme"].get("copies") != _kind_and_parameters(scheme).get("copies"):
        raise InputDataError("filled bins of an earlier version, whose copies are not marked: make the signatures again", path)
    shingling: object = header["shingling"]
    if isinstance(shingling, dict):
        if shingling["rules"] > RULES:
            raise InputDataError(f"shingling rules {shingling['rules']} are newer than {RULES}; upgrade lookalike", path)
        shingling = Shingling(**{k: v for k, v in shingling.items() if k != "unicode"})
    densities = arrays.get("densities")
    rows = arrays["values" if kind == "signatures" else "words"]
    if bits is not None:
        if kind != "packed" or type(bits) is not int or not 1 <= bits <= 16:
            raise ValueError(f"densities of {bits} bits")
        densities = (_steps_of(arrays["density_steps"], bits, len(rows)) + 0.5) / (1 << bits)
    if kind == "signatures":
        signatures = Signatures(rows, scheme, shingling, densities)
        if rows.shape[1] != scheme.permutations:
            raise ValueError(f"{rows.shape[1]} slots of {scheme.permutations}")
        return signatures
    packing = _PACKINGS[header["packing"]["kind"]](**header["packing"]["parameters"])
    layout, has_empty = arrays["layout"].astype(np.int64), header["has_empty"]
    if not isinstance(has_empty, bool):
        raise ValueError(f"{has_empty} for has_empty")
    packed = PackedSignatures(rows, layout, packing, scheme, shingling, densities, has_empty, bits)
    if packed.holds_bins and header.get("bins") != "whole":
        raise InputDataError("whole bins of an earlier version, which mixed their bits: make the signatures again", path)
    return packed
