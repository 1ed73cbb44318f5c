import hashlib
from dataclasses import asdict, replace
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from raising import assert_raises

import lookalike as la
from lookalike.errors import IncompatibleSketchError, IndexFormatError, InputDataError, OutputError, ParameterError
from lookalike.files.arrays import ArrayFile, write_arrays
from lookalike.sketches.saved import SIGNATURES

GOLDEN = Path(__file__).parents[1] / "golden/signatures"
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
    fast, true = map(values().get, ("fast", "true"))
    return {
        "below one bit": la.sketches.Fractional(shares=[(1, 0.5), (0.5, 0.25), (1 / 3, 0.25)]).pack(fast),
        "dense, below one bit": la.sketches.Fractional(shares=[(0.5, 0.5), (2, 0.5)]).pack(true),
        "densities of 4 bits": la.sketches.BBit(bits=2).pack(true).with_quantized_densities(4),
        "densities of 16 bits": la.sketches.BBit(bits=2).pack(true).with_quantized_densities(16),
    }


def by_rules_2(value):
    made_by = value.shingling
    return replace(value, shingling=replace(made_by, rules=2)) if isinstance(made_by, la.Shingling) else value


def saved(value, path):
    """Its bytes; what is loaded of them is saved as the same, and compares as the value does."""
    la.sketches.save(value, path, force=True)
    whole, found = path.read_bytes(), la.sketches.load(path)
    assert type(found) is type(value)
    la.sketches.save(found, path, force=True)
    assert path.read_bytes() == whole
    if len(found) > 1:
        estimates = found.estimated_resemblance(0, 1), value.estimated_resemblance(0, 1, other=found)
        assert np.array_equal(*estimates, equal_nan=True)
    return whole


@pytest.mark.filterwarnings("ignore:estimates from XORs")
def test_golden_files_are_what_this_version_makes_of_these_texts_by_their_rules(tmp_path):
    """Files of a format never change."""
    for name, value in values().items():
        assert saved(by_rules_2(value), tmp_path / "x.jsonl.gz") == (GOLDEN / f"{name.replace(' ', '-')}.sig").read_bytes()
    known = {"below one bit": "228e235108870219", "densities of 4 bits": "273c9b746ff8aec8"}
    for name, value in newer_values().items():
        digest = hashlib.sha256(saved(by_rules_2(value), tmp_path / "x.sig")).hexdigest()
        assert digest.startswith(known.get(name, ""))


def test_densities_of_few_bits_are_what_they_say():
    packed = values()["dense"]
    rounded = packed.with_quantized_densities(4)
    assert rounded.densities.tolist() == [1 / 32, 1 / 32] and rounded.density_steps.tolist() == [0, 0]
    assert rounded.with_quantized_densities(np.int64(2)).densities.tolist() == [1 / 8, 1 / 8]
    assert_raises(ParameterError, "not rounded", getattr, packed, "density_steps")
    for wrong in (4, 0, 17, "4"):
        assert_raises(ParameterError, "", replace, packed, density_bits=wrong)
    assert_raises(ParameterError, "middles", replace, rounded, densities=None)


def refuse(path, value, said, header=(), **arrays):
    """Change header and arrays of a saved value (without those that are None): the file is refused."""
    la.sketches.save(value, path, force=True)
    file = ArrayFile(path, SIGNATURES)
    given = {name: array for name, array in (dict(file) | arrays).items() if array is not None}
    meta = {name: held for name, held in (file.meta | dict(header)).items() if held is not ...}
    write_arrays(path, given, meta, kind=SIGNATURES, replace=True)
    assert_raises(InputDataError, said, la.sketches.load, path)


def test_headers_and_arrays_that_do_not_fit_are_damage_though_checksums_fit(tmp_path):
    path, (fast, bits, dense) = tmp_path / "x.sig", map(values().get, ("fast", "bits", "dense"))
    for n_bits, n in ((0, 2), (17, 5), ("8", 2), (True, 1), (8, 3), (4, 2), (..., 2)):
        refuse(path, dense, "damaged", {"density_bits": n_bits}, density_steps=np.zeros(n, np.uint8), densities=None)
    for n_bits, steps in ((8, np.zeros(2)), (3, np.full(1, 255, np.uint8)), (8, None)):
        refuse(path, dense, "damaged", {"density_bits": n_bits}, density_steps=steps, densities=None)
    for value, name in ((fast, "values"), (dense, "words"), (dense, "layout"), (dense, "densities")):
        held = getattr(value, name)
        for array in (held.astype(np.float32), held[None], *([None] if name != "densities" else [])):
            refuse(path, value, "damaged", **{name: array})
        refuse(path, value, "damaged", x=held)
    refuse(path, bits, "damaged", layout=bits.layout + np.array([0, 1, 0]))  # a slot more, in as many words
    refuse(path, bits, "damaged", {"has_empty": int(bits.has_empty)})
    for value, more in ((fast, ()), (dense, ("packing", "has_empty"))):
        refuse(path, value, "damaged", {"shingling": ...})
        for field, wrong in product(("kind", "scheme", *more), (..., None, 5, [], {}, "x", [5])):
            refuse(path, value, "damaged", {field: wrong})
        kind, known = type(value.scheme).__name__, asdict(value.scheme)
        for wrong in ({"permutations": 10**12}, {"permutations": "8"}, {"permutations": 65}, {"more": 1}):
            refuse(path, value, "damaged", {"scheme": {"kind": kind, "parameters": known | wrong}})
        for other in ("os.system", "MinHashOfLater"):
            refuse(path, value, f"of a newer version.*{other}", {"scheme": {"kind": other, "parameters": known}})
    newer = asdict(la.Shingling(width=2)) | {"rules": 4}
    refuse(path, fast, "rules 4 are newer than 3; upgrade", {"shingling": newer})


def test_copies_that_are_not_marked_and_places_that_were_mixed_are_refused(tmp_path):
    filled = la.sketches.OnePermutation(permutations=64, densify="rotation").sign(la.shingle(TEXTS, width=2))
    places = la.sketches.PermutationBins(universe=512, permutations=64).sign_sets([3, 4, 500], [0, 1, 3])
    for value in (filled, la.sketches.BBit(bits=2).pack(filled), la.sketches.BBit(bits=3).pack(places)):
        saved(value, tmp_path / "x.sig")
        scheme = {"kind": type(value.scheme).__name__, "parameters": asdict(value.scheme)}
        refuse(tmp_path / "x.sig", value, "earlier version, .*: make the signatures again", {"scheme": scheme, "bins": ""})


def test_files_of_earlier_rules_are_loaded_but_not_mixed(tmp_path):
    bands = partial(la.search.BandingIndex, bands=16, rows=6)
    earlier, not_mixed = la.Shingling(width=2, rules=1), partial(assert_raises, IncompatibleSketchError)
    for name in ("bits", "fast"):
        new = values()[name]
        la.sketches.save(replace(new, shingling=earlier), tmp_path / name)
        old = la.sketches.load(tmp_path / name)
        assert old.shingling == earlier and old.estimated_resemblance(0, 0, other=old) == 1.0
        not_mixed("rules=1.*rules=3", old.estimated_resemblance, 0, 0, other=new)
    assert len(bands().add(old).add(old).pairs().left) == 3
    index = bands().add(new)
    for call in (index.add, index.query):
        not_mixed(r"rules=1.*rules=3|rules=3.*rules=1", call, old)
    not_mixed("same parameters", old.merge, new)


def test_what_cannot_be_saved_or_loaded(tmp_path):
    own = la.sketches.FastSimilarity(permutations=8).sign(la.shingle(["a b"], tokenizer=str.split))
    weighted = la.sketches.DartMinHash(permutations=4).sign(la.sketches.WeightedSets.from_arrays([1], [1.0], [0, 1]))
    for value in (own, weighted):
        assert_raises(ParameterError, "", la.sketches.save, value, "x")
    la.sketches.save(values()["fast"], "x")
    assert_raises(OutputError, "exists", la.sketches.save, values()["fast"], "x")
    assert_raises(InputDataError, "cannot be read", la.sketches.load, "none")
    assert_raises(IndexFormatError, "not a file of arrays", ArrayFile, tmp_path / "x")
