"""Every file of ours, whatever byte of it changed and wherever it was cut: the same result, or a clear error; nothing huge."""

import json
import math
import struct
import tracemalloc
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest

import lookalike as la

TEXTS = [f"one two three four five six seven eight w{i}" for i in range(12)]
CLEAR = (la.errors.IndexFormatError, la.errors.InputDataError)
MOST = 16 << 20  # bytes of memory for files of some kilobytes


def save_signatures(path):
    la.sketches.save(la.sketches.FastSimilarity(permutations=64, seed=7).sign(la.shingle(TEXTS)), path)


def load_signatures(path):
    found = la.sketches.load(path)
    return found.scheme, found.shingling, found.values.tolist()


def save_packed(path):
    signatures = la.sketches.PermutationMinHash(universe=100, permutations=64).sign_sets([1, 2, 3, 50], [0, 3, 4])
    la.sketches.save(la.sketches.BBit(bits=2).pack(signatures), path)


def load_packed(path):
    found = la.sketches.load(path)
    return found.scheme, found.packing, found.words.tolist(), found.layout.tolist(), found.densities.tolist(), found.has_empty


def save_fingerprints(path):
    file = la.search.FingerprintFile(path)
    for part in range(3):
        file.append(np.arange(100, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(part))


def load_fingerprints(path):
    file = la.search.FingerprintFile(path)
    queries = np.arange(100, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    found = file.query(queries, la.search.WeakBitIndex(radius=2))
    return len(file), found.left.tolist(), found.right.tolist()


def ends_of_batches(path):
    """Walk from head to head by the layouts as documented; return where each section ends."""
    data, ends, place = path.read_bytes(), [], 0
    while place < len(data):
        assert data[place : place + 8] == b"LOOKAFPS"
        begin, place = place + 24, place + 24 + int.from_bytes(data[place + 16 : place + 24], "little")
        for _, kind, shape, _, _ in json.loads(data[begin:place])["arrays"]:
            place += -(-np.dtype(kind).itemsize * math.prod(shape) // 64) * 64
        ends.append(place)
    assert place == len(data)
    return ends


def save_frequencies(path):
    la.sketches.DocumentFrequencies.collect(la.shingle(TEXTS, width=1)).save(path)


def load_frequencies(path):
    found = la.sketches.DocumentFrequencies.load(path, la.Shingling(width=1))
    return found.n_documents, found.values.tolist(), found.counts.tolist()


CONTAINERS = {
    "signatures": (save_signatures, load_signatures), "packed": (save_packed, load_packed),
    "fingerprints": (save_fingerprints, load_fingerprints), "frequencies": (save_frequencies, load_frequencies),
}  # fmt: skip


def header_of(name, path):
    """Return how many bytes the headers of a file have that come before all arrays."""
    data = path.read_bytes()
    if name == "frequencies":
        return 400
    first = 24 + int.from_bytes(data[16:24], "little")
    return first + 24 + int.from_bytes(data[first + 16 : first + 24], "little") if name == "fingerprints" else first


def outcomes(path, load, damages, expected, whole_is_needed):
    """Load each damaged file; return what was neither the result nor a clear error."""
    strange = []
    for what, data in damages:
        path.write_bytes(data)
        tracemalloc.start()
        try:
            found = load(path)
            if found != expected or whole_is_needed:
                strange.append((what, "another result"))
        except CLEAR as error:
            if str(path) not in str(error):
                strange.append((what, f"the message does not name the file: {error}"))
        except la.errors.ParameterError as error:  # of other parameters: bits of fingerprints, features counted
            if "bits" not in str(error) and "counts features" not in str(error):
                strange.append((what, repr(error)))
        except Exception as error:
            strange.append((what, repr(error)))
        finally:
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        if peak > MOST:
            strange.append((what, f"{peak:,} bytes"))
    return strange


@pytest.mark.parametrize("name", CONTAINERS)
def test_every_changed_byte_is_harmless_or_found(tmp_path, rng, name):
    save, load = CONTAINERS[name]
    path = tmp_path / "file"
    save(path)
    whole, expected = path.read_bytes(), load(path)
    header = header_of(name, path)
    places = sorted({*range(min(header, len(whole))), *rng.integers(header, len(whole), 500).tolist()})
    damages = []
    for place in places:
        changed = bytearray(whole)
        changed[place] ^= int(rng.integers(1, 256))
        damages.append((place, bytes(changed)))
    assert outcomes(path, load, damages, expected, False) == []


@pytest.mark.parametrize("name", CONTAINERS)
def test_every_cut_is_found(tmp_path, rng, name):
    save, load = CONTAINERS[name]
    path = tmp_path / "file"
    save(path)
    whole, expected = path.read_bytes(), load(path)
    header = header_of(name, path)
    places = {*range(min(header, len(whole))), *rng.integers(header, len(whole), 50).tolist()}
    if name == "fingerprints":  # where a batch ends, the file is what it was before the next was appended
        places -= set(ends_of_batches(path))
    assert outcomes(path, load, [(place, whole[:place]) for place in sorted(places)], expected, True) == []


def with_header(data, change):
    """A file of one section whose header says something else, with checksums that fit."""
    size = int.from_bytes(data[16:24], "little")
    held = json.loads(data[24 : 24 + size])
    change(held)
    text = json.dumps(held).encode()
    text += b" " * (-(24 + len(text)) % 64)
    return data[:12] + struct.pack("<IQ", crc32(text), len(text)) + text + data[24 + size :]


@pytest.mark.parametrize("name", ["signatures", "packed"])
def test_hostile_sketch_files(tmp_path, name):
    """With a checksum that fits, a header is held against rules before anything is made from it."""
    path, strange = tmp_path / "file", []
    CONTAINERS[name][0](path)
    data = path.read_bytes()

    def attempt(change):
        path.write_bytes(with_header(data, change))
        try:
            la.sketches.load(path).estimated_resemblance(0, 1)
            strange.append(path.read_bytes())
        except la.errors.InputDataError as error:
            assert "file: damaged" in str(error) or "file: cut short" in str(error)

    for number in range(3 if name == "packed" else 1):  # of a name, dtype or shape of another kind
        for place, value in ((0, "x"), (0, None), (0, 5), (1, "<f4"), (2, [1, 1])):
            attempt(lambda held, n=number, k=place, v=value: held["arrays"][n].__setitem__(k, v))
    for field in ("kind", "scheme", "shingling", *(["packing", "has_empty"] if name == "packed" else [])):
        attempt(lambda held, field=field: held["meta"].pop(field))
        if field != "shingling":
            for value in (None, 5, [], {}, "x", [5]):
                attempt(lambda held, field=field, value=value: held["meta"].update({field: value}))
    for change in (
        lambda held: held["arrays"].clear(), lambda held: held["meta"]["scheme"].update(kind="os.system"),
        *(lambda held, v=value: held["meta"]["scheme"]["parameters"].update(permutations=v) for value in (10**12, "8", 65)),
        lambda held: held["meta"]["scheme"]["parameters"].update(more=1),
    ):  # fmt: skip
        attempt(change)
    assert strange == []


def test_frequencies_replace_a_file_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "df.npz"
    save_frequencies(path)
    whole = path.read_bytes()

    def full(*arguments, **named):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez_compressed", full)
    with pytest.raises(la.errors.OutputError, match=r"df\.npz: cannot be written: No space left"):
        save_frequencies(path)
    assert path.read_bytes() == whole and [p.name for p in tmp_path.iterdir()] == ["df.npz"]
    with pytest.raises(la.errors.InputDataError, match="frequencies"):
        la.sketches.DocumentFrequencies.load(tmp_path / "missing", la.Shingling(width=1))


def test_no_frequencies_are_frequencies(tmp_path):
    none = la.sketches.DocumentFrequencies(np.empty(0, np.uint64), np.empty(0, np.int64), 3)
    none.save(tmp_path / "df.npz")
    found = la.sketches.DocumentFrequencies.load(tmp_path / "df.npz")
    assert found.n_documents == 3 and len(found.values) == len(found.counts) == 0


def test_devices_and_pipes_are_no_files_of_fingerprints(tmp_path):
    import os

    os.mkfifo(tmp_path / "pipe")
    for path in (Path("/dev/zero"), tmp_path / "pipe", tmp_path):
        with pytest.raises(la.errors.InputDataError):
            la.search.FingerprintFile(path)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    la.search.FingerprintFile(tmp_path / "link").append(np.arange(3, dtype=np.uint64))
    assert len(la.search.FingerprintFile(tmp_path / "real")) == 3
    (tmp_path / "empty").touch()
    with pytest.raises(la.errors.InputDataError, match="an empty file: another process may be making it"):
        la.search.FingerprintFile(tmp_path / "empty")


def test_a_first_append_that_fails_leaves_no_file(tmp_path, monkeypatch):
    import os

    file = la.search.FingerprintFile(tmp_path / "seen.fps")

    def full(number):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(la.errors.OutputError, match="No space left on device; the batch was not added"):
        file.append(la.sketches.SimHash(seed=3).sign(la.shingle(["a b c"], width=1)))
    monkeypatch.undo()
    assert not any(tmp_path.iterdir()) and len(file) == 0
    assert file.append(la.sketches.SimHash(seed=4).sign(la.shingle(["a b c"], width=1))) == 0 and len(file) == 1
    before = (tmp_path / "seen.fps").read_bytes()
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(la.errors.OutputError):
        file.append(np.arange(5, dtype=np.uint64))
    assert (tmp_path / "seen.fps").read_bytes() == before and len(file) == 1


def test_others_who_appended_first_decide_what_goes_together(tmp_path):
    """Two objects for one new file: what the first wrote into it binds the second."""
    one, other = la.search.FingerprintFile(tmp_path / "x"), la.search.FingerprintFile(tmp_path / "x")
    one.append(la.sketches.SimHash(seed=1).sign(la.shingle(["a b c"], width=1)))
    with pytest.raises(la.errors.IncompatibleSketchError, match="are incompatible"):
        other.append(la.sketches.SimHash(seed=2).sign(la.shingle(["a b c"], width=1)))
    assert len(la.search.FingerprintFile(tmp_path / "x")) == 1
