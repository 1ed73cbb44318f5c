"""Signatures on disk: round trips, known bytes, and three different errors."""

import hashlib
from dataclasses import replace
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
from raising import assert_raises
from samples import one_in

import lookalike as la
from lookalike.errors import IncompatibleSketchError, InputDataError, ParameterError
from lookalike.files.arrays import ArrayFile, write_arrays
from lookalike.sketches.saved import SIGNATURES

GOLDEN = Path(__file__).parents[1] / "golden"
TEXTS = ["The quick brown fox jumps over the lazy dog", "x", "天地玄黃 宇宙洪荒"]


def values():
    shingles = la.shingle(TEXTS, width=2)
    fast = la.sketches.FastSimilarity(permutations=96, seed=7).sign(shingles)
    true = la.sketches.PermutationMinHash(universe=100, permutations=8).sign_sets([1, 2, 3, 50], [0, 3, 4])
    return {
        "fast": fast,
        "minhash": la.sketches.MinHash(permutations=5).sign(shingles),
        "bins": la.sketches.OnePermutation(permutations=64).sign(shingles),
        "true": true,
        "bits": la.sketches.BBit(bits=3).pack(fast),
        "fractional": la.sketches.Fractional(shares=[(1, 0.5), (2, 0.5)]).pack(fast),
        "xor": la.sketches.XorBits(combined=3).pack(fast),
        "raw bits": la.sketches.BBit(bits=1).pack(la.sketches.OnePermutation(permutations=64).sign(shingles)),
        "dense": la.sketches.BBit(bits=2).pack(true),
    }


def newer_values():
    """What no file of format 2 holds."""
    fast = values()["fast"]
    true = values()["true"]
    return {
        "below one bit": la.sketches.Fractional(shares=[(1, 0.5), (0.5, 0.25), (1 / 3, 0.25)]).pack(fast),
        "dense, below one bit": la.sketches.Fractional(shares=[(0.5, 0.5), (2, 0.5)]).pack(true),
        "densities of 4 bits": la.sketches.BBit(bits=2).pack(true).with_quantized_densities(4),
        "densities of 16 bits": la.sketches.BBit(bits=2).pack(true).with_quantized_densities(16),
    }


def by_rules_2(value):
    made_by = value.shingling
    return replace(value, shingling=replace(made_by, rules=2)) if isinstance(made_by, la.Shingling) else value


def check_same(found, value, estimated=True):
    """Check that what was loaded is a value, and can be compared with it."""
    assert type(found) is type(value) and (found.scheme, found.shingling) == (value.scheme, value.shingling)
    for name in ("packing", "has_empty"):
        assert getattr(found, name, None) == getattr(value, name, None)
    for name in ("words", "layout", "values", "densities"):
        one = getattr(found, name, None)
        other = getattr(value, name, None)
        assert one is other is None or (one.dtype == other.dtype and (one == other).all())
    if estimated:
        one = found.estimated_resemblance(0, 1)
        other = value.estimated_resemblance(0, 1, other=found)
        assert one == other or (np.isnan(one) and np.isnan(other))


@pytest.mark.filterwarnings("ignore:estimates from XORs")
@pytest.mark.parametrize("name", values())
def test_golden_files_are_read(tmp_path, name):
    """They hold what this version makes of these texts by other rules, and are saved as the same bytes."""
    path = GOLDEN / f"signatures/{name.replace(' ', '-')}.sig"
    check_same(la.sketches.load(path), by_rules_2(values()[name]))
    la.sketches.save(by_rules_2(values()[name]), tmp_path / "x.sig")
    assert (tmp_path / "x.sig").read_bytes() == path.read_bytes()


def test_round_trip(tmp_path):
    """Files of a format never change."""
    known = {"below one bit": "228e235108870219", "densities of 4 bits": "273c9b746ff8aec8"}
    for name, value in newer_values().items():
        path = tmp_path / name
        la.sketches.save(by_rules_2(value), path)
        check_same(la.sketches.load(path), by_rules_2(value))
        assert hashlib.sha256(path.read_bytes()).hexdigest().startswith(known.get(name, ""))


@pytest.mark.parametrize(("bits", "n"), one_in(3, [1, 3, 4, 8, 11, 16], [0, 1, 7, 64, 1001]))
def test_quantized_densities_take_their_bits(tmp_path, bits, n):
    universe = 1 << 12
    rng = np.random.default_rng(n)
    sizes = rng.integers(0, universe, n)
    scheme = la.sketches.PermutationMinHash(universe=universe, permutations=64)
    values = rng.integers(0, 9, (n, 64), dtype=np.uint64)
    packed = la.sketches.BBit(bits=1).pack(la.sketches.Signatures(values, scheme, "integers", sizes / universe))
    rounded = packed.with_quantized_densities(bits)
    path = tmp_path / "rounded"
    la.sketches.save(rounded, path)
    found = la.sketches.load(path)
    check_same(found, rounded, estimated=n > 1)
    assert found.density_bits == bits and found.densities.dtype == np.float64
    assert np.array_equal(found.density_steps, np.minimum(sizes * 2**bits // universe, 2**bits - 1))
    stored = ArrayFile(path, SIGNATURES)["density_steps"]
    numbers = int.from_bytes(stored.tobytes(), "little")
    assert [numbers >> (bits * i) & (2**bits - 1) for i in range(n)] == found.density_steps.tolist()
    assert stored.nbytes == -(-n * bits // 8)
    la.sketches.save(found, "again")
    assert (tmp_path / "again").read_bytes() == path.read_bytes()


def test_densities_of_few_bits_are_what_they_say():
    packed = values()["dense"]
    rounded = packed.with_quantized_densities(4)
    assert rounded.densities.tolist() == [1 / 32, 1 / 32] and rounded.density_steps.tolist() == [0, 0]
    assert rounded.with_quantized_densities(np.int64(2)).densities.tolist() == [1 / 8, 1 / 8]
    with pytest.raises(ParameterError, match="not rounded"):
        _ = packed.density_steps
    for wrong in (4, 0, 17, "4"):
        assert_raises(ParameterError, "", replace, packed, density_bits=wrong)
    assert_raises(ParameterError, "middles", replace, rounded, densities=None)


def refuse(path, value, said, header, **arrays):
    """Save a value, change its header and its arrays (without those that are None): the file is refused."""
    la.sketches.save(value, path, force=True)
    file = ArrayFile(path, SIGNATURES)
    given = {name: array for name, array in ({name: file[name] for name in file} | arrays).items() if array is not None}
    write_arrays(path, given, file.meta | header, kind=SIGNATURES, replace=True)
    assert_raises(InputDataError, said, la.sketches.load, path)


def test_other_densities_are_damage(tmp_path):
    dense = values()["dense"]
    for bits, steps in (
        (0, np.zeros(2, np.uint8)),
        (17, np.zeros(5, np.uint8)),
        ("8", np.zeros(2, np.uint8)),
        (True, np.zeros(1, np.uint8)),
        (8, np.zeros(3, np.uint8)),
        (8, np.zeros(2, np.float64)),
        (4, np.zeros(2, np.uint8)),
        (3, np.full(1, 255, np.uint8)),
        (8, None),
    ):
        refuse(tmp_path / "x.sig", dense, "damaged", {"density_bits": bits}, density_steps=steps, densities=None)
    refuse(tmp_path / "x.sig", dense, "damaged", {}, density_steps=np.zeros(2, np.uint8), densities=None)
    bits = values()["bits"]
    refuse(tmp_path / "x.sig", bits, "damaged", {"has_empty": int(bits.has_empty)})
    refuse(tmp_path / "x.sig", bits, "damaged", {}, layout=bits.layout + np.array([0, 1, 0]))  # a slot more, in as many words
    later = {"scheme": {"kind": "MinHashOfLater", "parameters": {}}}
    refuse(tmp_path / "x.sig", values()["fast"], "of a newer version.*MinHashOfLater", later)


def test_copies_that_are_not_marked_and_places_that_were_mixed_are_refused(tmp_path):
    filled = la.sketches.OnePermutation(permutations=64, densify="rotation").sign(la.shingle(TEXTS, width=2))
    places = la.sketches.PermutationBins(universe=512, permutations=64).sign_sets([3, 4, 500], [0, 1, 3])
    for what in (filled, la.sketches.BBit(bits=2).pack(filled), la.sketches.BBit(bits=3).pack(places)):
        la.sketches.save(what, "x.sig", force=True)
        la.sketches.load("x.sig")
        scheme = {key: ArrayFile("x.sig", SIGNATURES).meta["scheme"][key] for key in ("kind", "parameters")}
        refuse(tmp_path / "y.sig", what, "earlier version, .*: make the signatures again", {"scheme": scheme, "bins": ""})


def test_files_of_earlier_rules_are_loaded_but_not_mixed(tmp_path):
    """Their sketches can be compared with each other, not with new ones."""
    earlier = la.Shingling(width=2, rules=1)
    index = la.search.BandingIndex(bands=16, rows=6)
    pairs = {}
    for name in ("fast", "bits"):
        new = values()[name]
        la.sketches.save(replace(new, shingling=earlier), tmp_path / name)
        old = la.sketches.load(tmp_path / name)
        assert old.shingling == earlier != la.Shingling(width=2) == new.shingling
        pairs[name] = old, new
    old, new = pairs["fast"]
    assert old.estimated_resemblance(0, 0, other=old) == 1.0
    assert len(la.search.BandingIndex(bands=16, rows=6).add(old).add(old).pairs().left) == 3
    index.add(new)
    for mix in (
        *(lambda one=one, other=other: one.estimated_resemblance(0, 0, other=other) for one, other in pairs.values()),
        lambda: index.add(old),
        lambda: index.query(old),
    ):
        assert_raises(IncompatibleSketchError, r"rules=1.*rules=3|rules=3.*rules=1", mix)
    assert_raises(IncompatibleSketchError, "same parameters", old.merge, new)


def test_damage_is_told_from_strangers_and_newer_versions(tmp_path):
    path = tmp_path / "x.sig"
    value = values()["fast"]
    la.sketches.save(value, path)
    assert_raises(la.errors.OutputError, "exists", la.sketches.save, value, path)
    data = path.read_bytes()
    end = 24 + int.from_bytes(data[16:24], "little")
    newer = data.replace(b'"rules": 3', b'"rules": 4')
    for said, content in {
        "not a file of signatures": b"PK" + data,
        r"rules 4 are newer than 3; upgrade": newer[:12] + crc32(newer[24:end]).to_bytes(4, "little") + newer[16:],
        "format version 4 is newer than 1, the newest known here; upgrade": data[:8] + b"\x04" + data[9:],
        "checksum mismatch": data[:-65] + bytes([data[-65] ^ 1]) + data[-64:],
    }.items():
        path.write_bytes(content)
        assert_raises(InputDataError, said, la.sketches.load, path)
    assert_raises(InputDataError, "cannot be read", la.sketches.load, "none")


def test_what_cannot_be_saved():
    own = la.sketches.FastSimilarity(permutations=8).sign(la.shingle(["a b"], tokenizer=str.split))
    weighted = la.sketches.DartMinHash(permutations=4).sign(la.sketches.WeightedSets.from_arrays([1], [1.0], [0, 1]))
    for value in (own, weighted):
        assert_raises(ParameterError, "", la.sketches.save, value, "x")
