"""Signatures on disk: round trips, known bytes, and three different errors."""

import hashlib

import numpy as np
import pytest

import semblance as sb

TEXTS = ["The quick brown fox jumps over the lazy dog", "x", "天地玄黃 宇宙洪荒"]


def values():
    shingles = sb.shingle(TEXTS, width=2)
    fast = sb.FastSimilarity(permutations=96, seed=7).sign(shingles)
    true = sb.PermutationMinHash(universe=100, permutations=8).sign_sets([1, 2, 3, 50], [0, 3, 4])
    return {
        "fast": fast,
        "minhash": sb.MinHash(permutations=5).sign(shingles),
        "bins": sb.OnePermutation(permutations=64).sign(shingles),
        "true": true,
        "bits": sb.BBit(bits=3).pack(fast),
        "fractional": sb.Fractional(shares=[(1, 0.5), (2, 0.5)]).pack(fast),
        "xor": sb.XorBits(combined=3).pack(fast),
        "raw bits": sb.BBit(bits=1).pack(sb.OnePermutation(permutations=64).sign(shingles)),
        "dense": sb.BBit(bits=2).pack(true),
    }


@pytest.mark.parametrize("name", list(values()))
def test_round_trip(tmp_path, name):
    value = values()[name]
    sb.save(value, tmp_path / "x.sig")
    found = sb.load(tmp_path / "x.sig")
    assert type(found) is type(value)
    assert found.scheme == value.scheme and found.shingling == value.shingling
    array = "words" if isinstance(value, sb.PackedSignatures) else "values"
    assert getattr(found, array).dtype == getattr(value, array).dtype
    assert (getattr(found, array) == getattr(value, array)).all()
    one, other = found.estimated_resemblance(0, 1), value.estimated_resemblance(0, 1, other=found)
    assert one == other or (np.isnan(one) and np.isnan(other))


def test_known_bytes(tmp_path):
    """Files of format 1 never change."""
    sb.save(values()["bits"], tmp_path / "x.sig")
    data = (tmp_path / "x.sig").read_bytes()
    assert data[:12] == b"SEMBLSIG\x01\0\0\0"
    assert hashlib.sha256(data).hexdigest()[:16] == "94b94fc6d38925ca"


def test_damage_is_told_from_strangers_and_newer_versions(tmp_path):
    path = tmp_path / "x.sig"
    sb.save(values()["bits"], path)
    data = path.read_bytes()
    with pytest.raises(sb.OutputError, match="exists"):
        sb.save(values()["bits"], path)
    for place in range(12, len(data), 7):
        path.write_bytes(data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :])
        with pytest.raises(sb.InputDataError, match="damaged"):
            sb.load(path)
    for length in (9, 12, 40, len(data) - 1):
        path.write_bytes(data[:length])
        with pytest.raises(sb.InputDataError, match=r"damaged|newer"):
            sb.load(path)
    path.write_bytes(b"PK" + data)
    with pytest.raises(sb.InputDataError, match="not a file of signatures"):
        sb.load(path)
    path.write_bytes(data[:8] + b"\x02" + data[9:])
    with pytest.raises(sb.InputDataError, match="format version 2 is newer"):
        sb.load(path)
    with pytest.raises(sb.InputDataError, match="cannot be read"):
        sb.load(tmp_path / "none")


def test_what_cannot_be_saved(tmp_path):
    own = sb.FastSimilarity(permutations=8).sign(sb.shingle(["a b"], tokenizer=str.split))
    weighted = sb.ICWS(permutations=4).sign(sb.WeightedSets.from_arrays([1], [1.0], [0, 1]))
    for value in (own, weighted):
        with pytest.raises(sb.ParameterError):
            sb.save(value, tmp_path / "x")
