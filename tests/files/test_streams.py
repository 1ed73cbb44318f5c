import bz2
import gzip
import lzma
from io import BytesIO

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from raising import assert_raises

from lookalike.errors import InputDataError
from lookalike.files import streams
from lookalike.files.streams import read_blocks, read_lines, read_raw

PACKED = {
    ".x": lambda data: data, ".x.GZ": gzip.compress, ".zst": lambda data: pa.compress(data, "zstd", asbytes=True),
    ".bz2": bz2.compress, ".txt.xz": lambda data: lzma.compress(data, preset=0),
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("streams")


def test_damage_names_the_file(tmp_path):
    text = b"some text" * 99
    for suffix, data in (
        (".gz", b"\0no"), (".gz", gzip.compress(text, mtime=0)[:-9]), (".zst", b"no data of its own\0"), (".bz2", b"\xffno data"),
        (".bz2", bz2.compress(text)[:-9]), (".bz2", bz2.compress(b"text") + b"more"), (".xz", b"\1no data"), (".xz", lzma.compress(text)[:-9]),
        (".xz", b""),
    ):  # fmt: skip
        path = tmp_path / f"a{suffix}"
        path.write_bytes(data)
        assert_raises(InputDataError, rf"{path}: .*damaged or cut short", list, read_blocks(path))
        assert b"".join(read_raw(path)) == data
    assert_raises(InputDataError, r"gone: cannot be read: No such file", list, read_blocks(tmp_path / "gone"))


@given(
    st.lists(st.sampled_from([b"\n", b"\r\n", b"a", b'"', b"long " * 20, b"x" * 9]), max_size=30),
    st.integers(1, 50),
    st.integers(1, 120),
)
def test_a_line_that_is_too_long_is_not_held(folder, pieces, block, most):
    """Its place is taken by what tells its length and quotation marks; lines after it are as they were."""
    data = b"".join(pieces)
    path = folder / "limited"
    path.write_bytes(data)
    every = BytesIO(data).readlines()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(streams, "BLOCK", block)
        lines = [line for some in read_lines(path, most, skip=True) for line in some]
        stopped = [line for some in read_lines(path, most) for line in some]
    assert [line or (line.n_bytes, line.n_quotes) for line in lines] == [
        line if len(line) <= most else (len(line), line.count(b'"')) for line in every
    ]
    long = next((i for i, line in enumerate(every) if len(line) > most), None)
    assert stopped == (every if long is None else [*every[:long], b""])


def test_what_decompresses_to_much_is_read_no_further_than_a_line_may_be_long(tmp_path, monkeypatch):
    """What is read of the file is noted as it is on the disk."""
    sizes, noted = [], []
    monkeypatch.setattr(streams, "BLOCK", 10_000)
    blocks = lambda path, noted=None: (sizes.append(len(b)) or b for b in read_blocks(path, noted=noted))  # noqa: E731
    monkeypatch.setattr(streams, "read_blocks", blocks)
    for suffix, pack in PACKED.items():
        path = tmp_path / f"lines{suffix}"
        path.write_bytes(pack(bytes(3_000_000)))
        for skip, most in ((False, 60_000), (True, 3_000_000)):
            sizes.clear()
            noted.clear()
            ((line,),) = read_lines(path, 50_000, skip=skip, noted=noted.append)
            assert line == b"" and line.n_bytes <= most and sum(sizes) <= most
        assert line.n_bytes == sum(sizes) == 3_000_000
        assert min(noted) >= 0 and path.stat().st_size - 16 <= sum(noted) <= path.stat().st_size


def test_several_streams_in_a_file(tmp_path):
    padded = [(".xz", lzma.compress, bytes(n)) for n in (0, 4, 3 << 20)]
    for suffix, pack, between in ((".bz2", bz2.compress, b""), (".x.GZ", gzip.compress, b""), *padded):
        path = tmp_path / f"a{suffix}"
        path.write_bytes(pack(b"one ") + between + pack(b"") + pack(b"two") + between)
        assert b"".join(read_blocks(path)) == b"one two"


def xz(window):
    return lzma.compress(b"some text", filters=[{"id": lzma.FILTER_LZMA2, "dict_size": window}])


def zst(window):
    descriptor = bytes([(window.bit_length() - 1 - 10) << 3])
    return b"\x28\xb5\x2f\xfd" + b"\0" + descriptor + (9 << 3 | 1).to_bytes(3, "little") + b"some text"


def test_a_window_that_is_too_large_is_told_from_damage(tmp_path):
    """A few bytes can say that they take a window of any size to decompress."""
    for pack in (xz, zst):
        path = tmp_path / f"a.{pack.__name__}"
        path.write_bytes(pack(1 << 26))
        assert b"".join(read_blocks(path)) == b"some text"
        path.write_bytes(pack(1 << 30))
        said = rf"{path}: cannot be read: its \w+ data takes more than 128 MB((?!damaged).)*$"
        assert_raises(InputDataError, said, list, read_blocks(path))
