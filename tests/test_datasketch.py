"""Signatures, parameters, answers and bytes are those of the package datasketch."""

import inspect
import pickle
import random
import types

import numpy as np
import pytest

import lookalike.datasketch as ours
from lookalike.errors import IncompatibleSketchError, ParameterError
from lookalike.theory.banding import least_errors

SCHEMES = ("affine32", "affine64", "legacy")
every_scheme = pytest.mark.parametrize("scheme", SCHEMES)
# The first four hash values of MinHash(num_perm=4, seed=7, scheme=...) after update_batch([b"a", b"b", b"c"]), and the bytes of its
# LeanMinHash, by datasketch 2.0.0; those of "legacy" are the same in 1.6.5.
RECORDED = {
    "affine32": ([1841720864, 291842483, 117917936, 908001646], "0700000000000000fcffffff01206ec66db3296511f04807076e011f36"),
    "affine64": (
        [2200997417879527112, 3418941848862783010, 13383822555546641562, 4487958894446392360],
        "0700000000000000fcffffff02c8de427c7d838b1e22f62e497f85722f9ae43728b4e3bcb928340816d66e483e",
    ),
    "legacy": ([301388869, 266539363, 71021925, 1329786515], "07000000000000000400000045d4f6116311e30f65b53b0493ee424f"),
}


def tokens(rng, n):
    return [str(rng.random()).encode() for _ in range(n)]


def twin(values, permutations, scheme, start):
    """Minima as the definition says, in whole numbers of Python."""
    out = start.tolist()
    for h in values:
        if scheme != "legacy":
            width = 32 if scheme == "affine32" else 64
            full, shifts = (1 << width) - 1, (16, 13, 16) if width == 32 else (33, 33, 33)
            factors = (0x85EBCA6B, 0xC2B2AE35) if width == 32 else (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53)
            for shift, factor in zip(shifts, (*factors, 1), strict=True):
                h = ((h ^ (h >> shift)) * factor) & full
        for j, (a, b) in enumerate(permutations.T.tolist()):
            made = (a * h + b) & full if scheme != "legacy" else ((a * h + b) & (1 << 64) - 1) % ((1 << 61) - 1) & 0xFFFFFFFF
            out[j] = min(out[j], made)
    return out


@every_scheme
@pytest.mark.parametrize("k", [1, 7, 128])
def test_signatures_are_minima_of_the_permutations(scheme, k):
    rng = random.Random(k)
    one = ours.MinHash(k, seed=3, scheme=scheme)
    values = tokens(rng, 20)
    one.update_batch(values[:19])
    one.update(values[19])
    hashed = ours.sha1_hash64 if scheme == "affine64" else ours.sha1_hash32
    assert one.hashvalues.tolist() == twin(
        map(hashed, values), one.permutations, scheme, ours.MinHash(k, scheme=scheme).hashvalues
    )
    given = ours.MinHash(k, seed=3, hashfunc=lambda value: int(value), scheme=scheme)
    given.update_batch(range(5, 50))
    assert given.hashvalues.tolist() == twin(range(5, 50), one.permutations, scheme, ours.MinHash(k, scheme=scheme).hashvalues)


@every_scheme
def test_signatures_and_bytes_that_datasketch_made(scheme):
    values, stored = RECORDED[scheme]
    one = ours.MinHash(4, seed=7, scheme=scheme)
    one.update_batch([b"a", b"b", b"c"])
    assert one.hashvalues.tolist() == values
    lean = ours.LeanMinHash(one)
    written = bytearray(lean.bytesize("<"))
    lean.serialize(written, "<")
    assert written.hex() == stored
    assert ours.LeanMinHash.deserialize(bytes.fromhex(stored), "<") == lean


@every_scheme
def test_beside_the_package(scheme):
    theirs = pytest.importorskip("datasketch", reason="datasketch is not installed")
    rng = random.Random(1)
    sets = [tokens(rng, n) for n in (0, 1, 3, 50, 400)]
    sets.append(sets[-1][:300] + sets[3])
    both = [package.MinHash.bulk(sets, num_perm=64, seed=9, scheme=scheme) for package in (theirs, ours)]
    for its, mine in zip(*both, strict=True):
        assert its.hashvalues.dtype == mine.hashvalues.dtype and np.array_equal(its.hashvalues, mine.hashvalues)
        assert its.count() == mine.count() and its.is_empty() == mine.is_empty() and len(its) == len(mine) == mine.num_perm
        for order in "@=<>!":
            stored = [bytearray(lean.bytesize(order)) for lean in (theirs.LeanMinHash(its), ours.LeanMinHash(mine))]
            theirs.LeanMinHash(its).serialize(stored[0], order)
            ours.LeanMinHash(its).serialize(stored[1], order)
            assert stored[0] == stored[1]
    assert both[0][4].jaccard(both[0][5]) == both[1][4].jaccard(both[1][5])
    unions = [package.MinHash.union(*some[2:5]) for package, some in zip((theirs, ours), both, strict=True)]
    assert np.array_equal(unions[0].hashvalues, unions[1].hashvalues)
    indexes = [package.MinHashLSH(threshold=0.5, num_perm=64) for package in (theirs, ours)]
    for key, (its, mine) in enumerate(zip(*both, strict=True)):
        indexes[0].insert(key, its)
        indexes[1].insert(key, mine)
    read = ours.MinHashLSH.from_datasketch(pickle.loads(pickle.dumps(indexes[0])))
    for its, mine in zip(*both, strict=True):
        assert sorted(indexes[0].query(its)) == sorted(indexes[1].query(mine)) == sorted(read.query(its))
    assert indexes[0].get_counts() == indexes[1].get_counts() == read.get_counts()


def test_signatures_of_the_package_beside_ours():
    """Of either package: compared, merged, kept in sets; weighted ones, of two numbers a value, in an index."""
    theirs = pytest.importorskip("datasketch", reason="datasketch is not installed")
    rng = np.random.default_rng(4)
    sets = [[b"%d" % value for value in range(first, first + 60)] for first in (0, 10)]
    its, mine = (package.MinHash.bulk(sets) for package in (theirs, ours))
    for kind in (ours.MinHash.copy, ours.LeanMinHash):
        assert kind(mine[0]).jaccard(theirs.LeanMinHash(its[1])) == its[0].jaccard(its[1]) > 0.4
    with pytest.raises(IncompatibleSketchError, match="differ in num_perm: 128 and 64"):
        mine[0].jaccard(theirs.LeanMinHash(theirs.MinHash(64)))
    mine[0].merge(theirs.LeanMinHash(its[1]))
    assert np.array_equal(mine[0].hashvalues, theirs.MinHash.union(*its).hashvalues)
    base, weigh = rng.random(30), theirs.WeightedMinHashGenerator(30, sample_size=32)
    weighted = [weigh.minhash(base + share * rng.random(30)) for share in np.linspace(0, 3, 24)]
    indexes = [package.MinHashLSH(params=(8, 4), num_perm=32) for package in (theirs, ours)]
    for index in indexes:
        for key, signature in enumerate(weighted):
            index.insert(key, signature)
    assert indexes[0].get_counts() == indexes[1].get_counts()
    found = [[sorted(index.query(signature)) for signature in weighted] for index in indexes]
    assert found[0] == found[1] and 1 < max(map(len, found[0])) < 24


def test_arguments_are_in_the_order_of_the_package():
    theirs = pytest.importorskip("datasketch", reason="datasketch is not installed")
    for name in ("MinHash", "LeanMinHash", "MinHashLSH"):
        its, mine = (inspect.signature(getattr(package, name)).parameters for package in (theirs, ours))
        assert [(one.name, one.kind, one.default) for one in its.values()] == [
            (x.name, x.kind, x.default) for x in mine.values()
        ]


def test_bands_and_rows_beside_the_package():
    theirs = pytest.importorskip("datasketch.lsh", reason="datasketch is not installed")
    for k in (16, 64, 128, 200):
        for threshold in (0.1, 0.4, 0.5, 0.7, 0.8, 0.9):
            for weights in ((0.5, 0.5), (0.3, 0.7)):
                assert least_errors(threshold, k, weights[0]) == theirs._optimal_param(threshold, k, *weights), (
                    threshold,
                    k,
                    weights,
                )


def test_bands_and_rows_of_its_documentation():
    assert [(i.b, i.r) for i in (ours.MinHashLSH(t, 128) for t in (0.5, 0.8, 0.9))] == [(25, 5), (9, 13), (5, 25)]


def index_of(sets, **how):
    index = ours.MinHashLSH(params=(8, 4), num_perm=32, **how)
    signatures = ours.MinHash.bulk(sets, num_perm=32)
    for key, signature in enumerate(signatures):
        index.insert(key, signature)
    return index, signatures


@pytest.mark.parametrize("hashfunc", [None, lambda band: band[:3]])
def test_an_index_returns_what_shares_a_band(hashfunc):
    rng = random.Random(2)
    base = tokens(rng, 100)
    index, signatures = index_of([base[: 60 + 5 * (i % 8)] + tokens(rng, i) for i in range(40)], hashfunc=hashfunc)
    short = hashfunc or bytes
    for signature in signatures:
        cut = [
            [short(one.hashvalues[i : i + 4].byteswap().tobytes()) for i in range(0, 32, 4)] for one in (signature, *signatures)
        ]
        assert sorted(index.query(signature)) == [key for key, bands in enumerate(cut[1:]) if any(x == y for x, y in zip(bands, cut[0], strict=True))]  # fmt: skip
    counts = index.get_counts()
    assert len(counts) == 8 and all(sum(count.values()) == 40 for count in counts)
    assert index.get_subset_counts(*range(40)) == counts
    for key in range(40):
        assert key in index
        index.remove(key)
        assert key not in index and key not in index.query(signatures[key])
    assert index.is_empty() and index.get_counts() == [{}] * 8


def test_any_key_will_do_and_buckets_are_shown():
    index, (signature,) = index_of([[b"a"]])
    keys = [0, None, (), "", frozenset(), 0.5]
    for key in keys[1:]:
        index.insert(key, signature)
    for left in range(len(keys), 0, -1):
        assert index.query(signature) == keys[-left:]
        assert [list(table.values()) for table in index.hashtables] == [[keys[-left:]]] * 8
        index.remove(keys[-left])
    index.insert(None, signature)
    assert index.query(signature) == [None] and index.get_counts() == index.get_subset_counts(None)


def test_an_empty_index_is_no_false_value():
    assert ours.MinHashLSH(params=(2, 2), num_perm=4), "programs ask: if index"


def test_indexes_merge():
    rng = random.Random(3)
    sets = [tokens(rng, 30) for _ in range(6)]
    one, signatures = index_of(sets)
    other = ours.MinHashLSH(params=(8, 4), num_perm=32)
    with other.insertion_session() as session:
        session.insert("x", signatures[0])
        session.insert(1, signatures[2])
    with pytest.raises(ParameterError, match="1 keys are in both indexes, such as 1"):
        one.merge(other, check_overlap=True)
    one.merge(other)
    assert sorted(map(str, one.query(signatures[0]))) == ["0", "x"] and sorted(one.query(signatures[2])) == [1, 2]
    assert one.query(signatures[1]) == []
    with pytest.raises(IncompatibleSketchError, match="differ in b: 8 and 4"):
        one.merge(ours.MinHashLSH(params=(4, 4), num_perm=32))


@every_scheme
def test_copies_and_pickles_are_apart(scheme):
    one = ours.MinHash(16, seed=5, scheme=scheme)
    one.update_batch([b"a", b"b"])
    twins = [one.copy(), pickle.loads(pickle.dumps(one)), ours.MinHash(seed=5, hashvalues=one.hashvalues, scheme=scheme)]
    drawn = ours.MinHash(16, permutations=one.permutations, hashvalues=one.hashvalues, seed=5, scheme=scheme)
    before = one.digest()
    for other in (*twins, pickle.loads(pickle.dumps(drawn))):
        assert other == one and other.permutations.tolist() == one.permutations.tolist()
        other.update(b"c")
        assert other != one and np.array_equal(one.hashvalues, before)
    lean = pickle.loads(pickle.dumps(ours.LeanMinHash(one)))
    assert lean == ours.LeanMinHash(one) and lean.jaccard(one) == 1.0 and lean.copy() == lean
    assert len({lean, ours.LeanMinHash(one), lean.copy()}) == 1 and lean not in {ours.LeanMinHash(ours.MinHash(16))}
    with pytest.raises(TypeError, match="nothing can be added"):
        lean.update(b"x")
    one.clear()
    assert one.is_empty()


def test_what_does_not_fit_is_refused():
    one = ours.MinHash(8)
    assert isinstance(ParameterError(""), ValueError), "what programs catch"
    for make, words in (
        (lambda: ours.MinHash(hashvalues=[1, 2]), "scheme must be given"),
        (lambda: ours.MinHash(scheme="other"), "scheme must be one of affine32"),
        (lambda: ours.MinHash(0), "num_perm must be from 1"),
        (lambda: ours.MinHash(gpu_mode="always"), "no use for a GPU"),
        (lambda: ours.MinHash(hashfunc=3), "hashfunc must be a function"),
        (lambda: ours.MinHash(2, permutations=[[1, 3], [0, 0], [1, 1]], scheme="affine32"), r"shape \(2, 2\)"),
        (lambda: ours.MinHash(2, permutations=[[1, 2], [0, 0]], scheme="affine32"), "must be odd"),
        (lambda: ours.MinHash(hashvalues=[1 << 32], scheme="affine32"), "hashvalues must be integers from 0 to 4294967295"),
        (lambda: ours.MinHash(hashvalues=np.array([-1]), scheme="legacy"), "hashvalues must be integers"),
        (lambda: ours.MinHash(8, hashfunc=lambda value: 1 << 40).update(b""), "values of hashfunc must be integers from 0"),
        (lambda: one.jaccard(ours.MinHash(9)), "differ in num_perm: 8 and 9"),
        (lambda: one.merge(ours.MinHash(8, seed=2)), "differ in seed: 1 and 2"),
        (lambda: one.jaccard(ours.MinHash(8, scheme="legacy")), "differ in scheme"),
        (lambda: ours.MinHash.union(one), "at least 2 signatures; got 1"),
        (lambda: ours.LeanMinHash(seed=1), "minhash, or seed, hashvalues and scheme"),
        (lambda: ours.LeanMinHash(one, scheme="legacy"), "is not that of the signature"),
        (lambda: ours.LeanMinHash(one).serialize(bytearray(5)), "the buffer must have"),
        (lambda: ours.LeanMinHash.deserialize(b"\0" * 11), "11 bytes are no signature"),
        (lambda: ours.LeanMinHash.deserialize(b"\0" * 8 + b"\xff\xff\xff\x7f" + b"\0" * 50, "<"), "62 bytes are no signature"),
        (lambda: ours.LeanMinHash.deserialize(b"\0" * 8 + b"\xff" * 4 + b"\x09" + b"\0" * 50, "<"), "scheme must be one of"),
        (lambda: ours.MinHashLSH(1.5), "threshold must"),
        (lambda: ours.MinHashLSH(weights=(0.5, 0.6)), "that add up to 1"),
        (lambda: ours.MinHashLSH(num_perm=1), "num_perm must be at least 2"),
        (lambda: ours.MinHashLSH(num_perm=8, params=(3, 3)), "8 rows in all at most"),
        (lambda: ours.MinHashLSH(storage_config={"type": "redis"}), "lookalike.Index is one on a disk"),
        (lambda: index_of([[b"a"]])[0].insert(0, ours.MinHash(32)), "the key 0 is in the index already"),
        (lambda: index_of([[b"a"]])[0].query(ours.MinHash(33)), "must have 32 hash values; it has 33"),
        (lambda: index_of([[b"a"]])[0].query(ours.MinHash(32, scheme="legacy")), "holds signatures of the scheme 'affine32'"),
        (lambda: index_of([[b"a"]])[0].remove("x"), "the key 'x' is not in the index"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=words):
            make()
    index, (signature,) = index_of([[b"a"]])
    index.insert(0, ours.MinHash(32), check_duplication=False)
    assert index.query(signature) == [], "replaced"


def test_an_index_of_datasketch_with_pickled_keys():
    index, signatures = index_of([[b"a"], [b"b"]])
    stored = types.SimpleNamespace(h=32, b=8, r=4, hashfunc=None, prepickle=True, _minhash_scheme="affine32")
    stored.keys = {pickle.dumps(("key", key)): bands for key, bands in index.keys.items()}
    assert ours.MinHashLSH.from_datasketch(stored).query(signatures[1]) == [("key", 1)]


def test_an_index_of_an_older_datasketch_and_a_key_that_was_inserted_twice():
    index, signatures = index_of([[b"a"], [b"b"]])
    stored = types.SimpleNamespace(h=32, b=8, r=4, keys={"x": [*index.keys[0], *index.keys[1]]})
    read = ours.MinHashLSH.from_datasketch(stored)
    assert [read.query(signature) for signature in signatures] == [[], ["x"]], "the last, as ``insert`` replaces"
