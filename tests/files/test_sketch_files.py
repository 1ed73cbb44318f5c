"""Signatures on disk: round trips, known bytes, and three different errors."""

import hashlib
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest

import semblance as sb

GOLDEN = Path(__file__).parents[1] / "golden"
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


def newer_values():
    """What no file of format 2 holds."""
    fast = sb.FastSimilarity(permutations=96, seed=7).sign(sb.shingle(TEXTS, width=2))
    true = sb.PermutationMinHash(universe=100, permutations=8).sign_sets([1, 2, 3, 50], [0, 3, 4])
    return {
        "below one bit": sb.Fractional(shares=[(1, 0.5), (0.5, 0.25), (1 / 3, 0.25)]).pack(fast),
        "dense, below one bit": sb.Fractional(shares=[(0.5, 0.5), (2, 0.5)]).pack(true),
    }


@pytest.mark.parametrize("name", [*values(), *newer_values()])
def test_round_trip(tmp_path, name):
    value = (values() | newer_values())[name]
    sb.save(value, tmp_path / "x.sig")
    found = sb.load(tmp_path / "x.sig")
    assert type(found) is type(value)
    assert found.scheme == value.scheme and found.shingling == value.shingling
    array = "words" if isinstance(value, sb.PackedSignatures) else "values"
    assert getattr(found, array).dtype == getattr(value, array).dtype
    assert (getattr(found, array) == getattr(value, array)).all()
    assert getattr(found, "packing", None) == getattr(value, "packing", None)
    one, other = found.estimated_resemblance(0, 1), value.estimated_resemblance(0, 1, other=found)
    assert one == other or (np.isnan(one) and np.isnan(other))


def test_known_bytes(tmp_path):
    """Files of format 3 never change."""
    sb.save(values()["bits"], tmp_path / "x.sig")
    data = (tmp_path / "x.sig").read_bytes()
    assert data[:12] == b"SEMBLSIG\x03\0\0\0"
    assert hashlib.sha256(data).hexdigest()[:16] == "782f99c2a4f9e60f"


@pytest.mark.parametrize("name", list(values()))
def test_files_of_format_2_are_read(name):
    """Version 0.1.1 wrote them: they hold what this version makes."""
    value, found = values()[name], sb.load(GOLDEN / f"signatures-2/{name.replace(' ', '-')}.sig")
    assert type(found) is type(value) and (found.scheme, found.shingling) == (value.scheme, value.shingling)
    if isinstance(value, sb.PackedSignatures):
        assert found.packing == value.packing and found.has_empty == value.has_empty
        assert (found.words == value.words).all() and (found.layout == value.layout).all()
    else:
        assert found.values.dtype == value.values.dtype and (found.values == value.values).all()
    assert found.densities is value.densities is None or (found.densities == value.densities).all()


def test_old_files_are_saved_in_the_new_format(tmp_path):
    old = sb.load(GOLDEN / "signatures-2/true.sig")
    sb.save(old, tmp_path / "x.sig")
    sb.save(values()["true"], tmp_path / "y.sig")
    assert (tmp_path / "x.sig").read_bytes() == (tmp_path / "y.sig").read_bytes()


def test_files_of_earlier_rules_are_loaded_but_not_mixed():
    """Version 0.1 made other words of some texts: its sketches can be compared with each other, not with new ones."""
    folder = GOLDEN / "signatures-1"
    old, old_bits = sb.load(folder / "fast.sig"), sb.load(folder / "bits.sig")
    assert old.shingling == old_bits.shingling == sb.Shingling(width=2, rules=1) != sb.Shingling(width=2)
    assert old.estimated_resemblance(0, 0, other=old) == 1.0
    assert (sb.BBit(bits=3).pack(old).words == old_bits.words).all()
    assert len(sb.BandingIndex(bands=16, rows=6).add(old).add(old).pairs().left) == 3
    new, new_bits = values()["fast"], values()["bits"]
    for mix in (
        lambda: old.estimated_resemblance(0, 0, other=new),
        lambda: old_bits.estimated_resemblance(0, 0, other=new_bits),
        lambda: sb.BandingIndex(bands=16, rows=6).add(old).add(new),
        lambda: sb.BandingIndex(bands=16, rows=6).add(new).query(old),
    ):
        with pytest.raises(sb.IncompatibleSketchError, match=r"rules=1.*rules=2|rules=2.*rules=1"):
            mix()
    with pytest.raises(sb.IncompatibleSketchError, match="same parameters"):
        old.merge(new)


def test_files_of_earlier_rules_keep_their_rules_when_saved_again(tmp_path):
    old = sb.load(GOLDEN / "signatures-1/fast.sig")
    sb.save(old, tmp_path / "again.sig")
    assert sb.load(tmp_path / "again.sig").shingling == old.shingling


def test_files_of_newer_rules_ask_for_an_upgrade(tmp_path):
    sb.save(values()["fast"], tmp_path / "x.sig")
    data = (tmp_path / "x.sig").read_bytes().replace(b'"rules": 2', b'"rules": 3')
    end = 24 + int.from_bytes(data[16:24], "little")
    (tmp_path / "x.sig").write_bytes(data[:12] + crc32(data[24:end]).to_bytes(4, "little") + data[16:])
    with pytest.raises(sb.InputDataError, match=r"rules 3 are newer than 2; upgrade"):
        sb.load(tmp_path / "x.sig")


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
        with pytest.raises(sb.InputDataError, match=r"damaged|cut short"):
            sb.load(path)
    path.write_bytes(b"PK" + data)
    with pytest.raises(sb.InputDataError, match="not a file of signatures"):
        sb.load(path)
    path.write_bytes(data[:8] + b"\x04" + data[9:])
    with pytest.raises(sb.InputDataError, match="format version 4 is newer than 3, the newest known here; upgrade"):
        sb.load(path)
    with pytest.raises(sb.InputDataError, match="cannot be read"):
        sb.load(tmp_path / "none")


def test_what_cannot_be_saved(tmp_path):
    own = sb.FastSimilarity(permutations=8).sign(sb.shingle(["a b"], tokenizer=str.split))
    weighted = sb.ICWS(permutations=4).sign(sb.WeightedSets.from_arrays([1], [1.0], [0, 1]))
    for value in (own, weighted):
        with pytest.raises(sb.ParameterError):
            sb.save(value, tmp_path / "x")
