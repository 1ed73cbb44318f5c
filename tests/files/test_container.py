"""Files of named arrays against a reader written from the description of their layout."""

import numpy as np
import pytest
from container_twin import described, twin
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from lookalike.files.arrays import ArrayFile, write_arrays
from lookalike.files.layout import ARRAYS, Streamed, open_regular, read_pieces, read_section

DTYPES = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"]
NAMES = st.text("abcé-0 \n", max_size=4)
SHAPES = array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5)
MADE = st.dictionaries(NAMES, st.sampled_from(DTYPES).flatmap(lambda dtype: arrays(dtype, SHAPES)), max_size=4)
META = st.dictionaries(NAMES, st.none() | st.integers() | NAMES, max_size=3)


@settings(max_examples=60, deadline=None)
@given(made=MADE, meta=META)
def test_what_is_written_is_read(tmp_path_factory, made, meta):
    path = tmp_path_factory.mktemp("x") / "file"
    write_arrays(path, made, meta)
    assert twin(path.read_bytes()) == [(meta, described(made))]
    file = ArrayFile(path)
    file.check()
    file.hold()
    assert file.meta == meta and list(file) == list(made) and len(file) == len(made) and "another" not in file
    for name, array in made.items():
        assert file.described(name) == (file[name].dtype.str, array.shape)
        assert described({name: file[name]}) == described({name: file.map(name)}) == described({name: array})
        assert file.map(name).nbytes == 0 or file.map(name).ctypes.data % 64 == 0
        assert file[name].flags.writeable and not file.map(name).flags.writeable


@settings(max_examples=60, deadline=None)
@given(array=st.sampled_from(DTYPES).flatmap(lambda d: arrays(d, array_shapes(max_dims=2, max_side=9))), cut=st.integers(1, 10))
def test_pieces_are_the_array(tmp_path_factory, array, cut):
    """Written in pieces or whole, the bytes are the same; read in pieces or whole, the arrays."""
    folder = tmp_path_factory.mktemp("x")
    pieces = [array[i : i + cut] for i in range(0, len(array), cut)]
    write_arrays(folder / "pieces", {"a": Streamed(array.dtype, array.shape, iter(pieces)), "b": array[::-1]})
    write_arrays(folder / "whole", {"a": array, "b": np.ascontiguousarray(array[::-1])})
    assert (folder / "pieces").read_bytes() == (folder / "whole").read_bytes()
    with open_regular(folder / "whole") as stream:
        found = list(read_pieces(stream, folder, ARRAYS, read_section(stream, folder, ARRAYS), "a", cut))
    assert [len(piece) for piece in found] == [len(piece) for piece in pieces]
    assert np.concatenate(found).tobytes() == array.tobytes()


def test_stacked_arrays_are_mapped_as_one(tmp_path):
    rows = np.arange(60, dtype=np.uint32).reshape(3, 20)
    write_arrays(tmp_path / "x", {f"{part}-{i}": rows[i] * k for i in range(3) for k, part in ((1, "a"), (2, "b"))})
    file = ArrayFile(tmp_path / "x")
    file.hold()
    assert (file.map_stack([f"a-{i}" for i in range(3)]) == rows).all()
    assert (file.map_stack([f"b-{i}" for i in range(3)]) == 2 * rows).all() and (file.map_stack(["a-1"]) == rows[1:2]).all()


@pytest.mark.parametrize("pieces", [[3, 3], [3, 5], []])
def test_other_bytes_than_announced_are_no_file(tmp_path, pieces):
    with pytest.raises(ValueError, match=r"a: 56 bytes were announced, \d+ came"):
        write_arrays(tmp_path / "x", {"a": Streamed(np.int64, (7,), (np.arange(n) for n in pieces))})
    assert not any(tmp_path.iterdir())
