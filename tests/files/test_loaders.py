"""Every file of ours, whatever byte of it changed and wherever it was cut: the same result, or a clear error; nothing huge."""

import json
import os
import struct
import tracemalloc
from itertools import product
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
from raising import assert_raises

import lookalike as la
from lookalike.errors import InputDataError, OutputError, ParameterError

TEXTS = [f"one two three four five six seven eight w{i}" for i in range(12)]
MOST = 16 << 20  # bytes of memory for files of some kilobytes


def save_signatures(path):
    la.sketches.save(la.sketches.FastSimilarity(permutations=64, seed=7).sign(la.shingle(TEXTS)), path)


def save_packed(path):
    signatures = la.sketches.PermutationMinHash(universe=100, permutations=64).sign_sets([1, 2, 3, 50], [0, 3, 4])
    la.sketches.save(la.sketches.BBit(bits=2).pack(signatures), path)


def save_frequencies(path):
    la.sketches.DocumentFrequencies.collect(la.shingle(TEXTS, width=1)).save(path)


def load_frequencies(path):
    found = la.sketches.DocumentFrequencies.load(path, la.Shingling(width=1))
    return found.n_documents, found.values.tolist(), found.counts.tolist()


def outcomes(path, damages, expected, whole_is_needed):
    """Load each damaged file; return what was neither the result nor a clear error."""
    strange = []
    for what, data in damages:
        path.write_bytes(data)
        tracemalloc.start()
        try:
            if load_frequencies(path) != expected or whole_is_needed:
                strange.append((what, "another result"))
        except InputDataError as error:
            if str(path) not in str(error):
                strange.append((what, f"the message does not name the file: {error}"))
        except Exception as error:  # also one of other parameters: features counted
            if not (isinstance(error, ParameterError) and "counts features" in str(error)):
                strange.append((what, repr(error)))
        finally:
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        if peak > MOST:
            strange.append((what, f"{peak:,} bytes"))
    return strange


def test_every_changed_byte_of_frequencies_is_harmless_or_found_and_every_cut_is_found(tmp_path, rng):
    path = tmp_path / "file"
    save_frequencies(path)
    whole = path.read_bytes()
    expected = load_frequencies(path)
    changed, cut = ([*range(400), *rng.integers(400, len(whole), n).tolist()] for n in (500, 50))
    damages = [(place, whole[:place] + bytes([whole[place] ^ 1 + place % 255]) + whole[place + 1 :]) for place in changed]
    assert outcomes(path, damages, expected, False) == []
    assert outcomes(path, [(place, whole[:place]) for place in cut], expected, True) == []


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
    path = tmp_path / "file"
    strange = []
    packed = name == "packed"
    (save_packed if packed else save_signatures)(path)
    data = path.read_bytes()
    changes = [  # also of a name, dtype or shape of another kind
        lambda held, n=n, k=k, v=v: held["arrays"][n].__setitem__(k, v)
        for n, (k, v) in product(range(3 if packed else 1), ((0, "x"), (0, None), (0, 5), (1, "<f4"), (2, [1, 1])))
    ]
    fields = ("kind", "scheme", *(["packing", "has_empty"] if packed else []))
    changes += [lambda held, field=field: held["meta"].pop(field) for field in ("shingling", *fields)]
    for field, value in product(fields, (None, 5, [], {}, "x", [5])):
        changes.append(lambda held, field=field, value=value: held["meta"].update({field: value}))
    for given in ({"permutations": 10**12}, {"permutations": "8"}, {"permutations": 65}, {"more": 1}):
        changes.append(lambda held, given=given: held["meta"]["scheme"]["parameters"].update(given))
    changes += [lambda held: held["arrays"].clear(), lambda held: held["meta"]["scheme"].update(kind="os.system")]
    for change in changes:
        path.write_bytes(with_header(data, change))
        try:
            la.sketches.load(path).estimated_resemblance(0, 1)
            strange.append(path.read_bytes())
        except InputDataError as error:
            assert "file: damaged" in str(error) or "file: cut short" in str(error)
    assert strange == []


def test_frequencies_replace_a_file_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "df.npz"
    save_frequencies(path)
    whole = path.read_bytes()

    def full(*arguments, **named):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez_compressed", full)
    assert_raises(OutputError, r"df\.npz: cannot be written: No space left", save_frequencies, path)
    assert path.read_bytes() == whole and [p.name for p in tmp_path.iterdir()] == ["df.npz"]
    assert_raises(
        InputDataError, "frequencies", la.sketches.DocumentFrequencies.load, tmp_path / "missing", la.Shingling(width=1)
    )


def test_no_frequencies_are_frequencies(tmp_path):
    none = la.sketches.DocumentFrequencies(np.empty(0, np.uint64), np.empty(0, np.int64), 3)
    none.save("df.npz")
    found = la.sketches.DocumentFrequencies.load(tmp_path / "df.npz")
    assert found.n_documents == 3 and len(found.values) == len(found.counts) == 0


def test_devices_and_pipes_are_no_files_of_fingerprints(tmp_path):
    os.mkfifo("pipe")
    (tmp_path / "empty").touch()
    for path in (Path("/dev/zero"), tmp_path / "pipe", tmp_path, tmp_path / "empty"):
        assert_raises(InputDataError, "", la.search.FingerprintFile, path)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    la.search.FingerprintFile("link").append(np.arange(3, dtype=np.uint64))
    assert len(la.search.FingerprintFile("real")) == 3


def test_a_first_append_that_fails_leaves_no_file(tmp_path, monkeypatch):
    file = la.search.FingerprintFile("seen.fps")

    def full(number):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch, pytest.raises(OutputError, match="No space left on device; the batch was not added"):
        patch.setattr(os, "fsync", full)
        file.append(la.sketches.SimHash(seed=3).sign(la.shingle(["a b c"], width=1)))
    assert not any(tmp_path.iterdir()) and len(file) == 0
    assert file.append(la.sketches.SimHash(seed=4).sign(la.shingle(["a b c"], width=1))) == 0 and len(file) == 1
