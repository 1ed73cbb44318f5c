import json
import os
import struct
from dataclasses import replace
from itertools import product
from pathlib import Path
from zlib import crc32

from files.container_twin import content, grown, wanted, whole_file
from raising import assert_raises

from lookalike.errors import IndexFormatError, InputDataError
from lookalike.files import layout
from lookalike.files.layout import open_regular


def test_every_changed_byte_is_found(tmp_path, path):
    for at, read in ((path, lambda: content(path)), whole_file(tmp_path)):
        whole = at.read_bytes()
        assert len(whole) < 2000
        with at.open("r+b", buffering=0) as file:
            heads = [(place, 1 << bit) for place in range(24) for bit in range(8)]  # which no checksum covers
            for place, mask in (*heads, *((place, 1 << place % 8) for place in range(24, len(whole)))):
                os.pwrite(file.fileno(), bytes([whole[place] ^ mask]), place)
                assert_raises((InputDataError, IndexFormatError), at.name, read)
                os.pwrite(file.fileno(), whole[place : place + 1], place)
        read()


def test_every_cut_is_found_or_an_earlier_state(tmp_path, path):
    ends = {section.end: i for i, section in enumerate(grown(path).sections)}
    for size in reversed(range(path.stat().st_size)):
        os.truncate(path, size)
        if size in ends:
            assert content(path) == wanted(3, 9, 1)[: ends[size]]
            continue
        assert_raises(InputDataError, "cut short|empty file|not a file of tests|checksum mismatch", grown, path)
    at, read = whole_file(tmp_path)
    for size in reversed(range(at.stat().st_size)):
        os.truncate(at, size)
        assert_raises(IndexFormatError, "cut short|not a file of arrays|checksum mismatch", read)


WRONG = {  # an entry of an array: its name, dtype, shape, offset
    0: [[]],
    1: ["|O", "zz", "<f4", 5, None],
    3: [8],
    2: [[2**62, 0], [10**15], [-1], [], [10**30], "ab", None, [1, 1], [5.0], [True]],
}


def test_headers_that_contradict_the_layout_are_refused(tmp_path):
    """With a checksum that fits; also one that would put arrays where no kernel may read them."""
    path, read = whole_file(tmp_path)
    whole = path.read_bytes()
    length = int.from_bytes(whole[16:24], "little")
    held = json.loads(whole[24 : 24 + length])
    a, b = held["arrays"]

    def refused(text, said, crc):
        path.write_bytes(whole[:12] + struct.pack("<IQ", crc, len(text)) + text + whole[24 + length :])
        assert_raises(IndexFormatError, said, read)

    entries = [[*a[:i], value, *a[i + 1 :]] for i, values in WRONG.items() for value in values]
    arrays = [*([one, b] for one in (*entries, a[:4], [])), [b, a], [a, a], [a], None, 5, {}, "x", [5]]
    changes = [*({"arrays": value} for value in arrays), {"at": 64}, {"at": None}, {"meta": []}]
    for said in (*(held | change for change in changes), [held], {"meta": {}}):
        text = json.dumps(said).encode()
        text = text.ljust(-(-(24 + len(text)) // 64) * 64 - 24)
        refused(text, r"x: (damaged|cut short)", crc32(text))
    text = json.dumps(held).encode().ljust(length + 8)
    refused(text, "checksum mismatch in the header", crc32(text))


def test_magic_is_found_across_blocks(tmp_path, monkeypatch):
    for data, begin, block, magic in product(
        ("ab" * 9, "aab" * 7, "abab" + "b" * 30 + "aabab"), (0, 3), (1, 2, 3, 5, 8, 19), ("ab", "aab", "abab")
    ):
        (tmp_path / "file").write_text(data)
        monkeypatch.setattr(layout, "_BLOCK", block)
        with open_regular(tmp_path / "file") as stream:
            found = [*layout.find_magic(stream, begin, magic.encode())]
        assert found == [i for i in range(begin, len(data)) if data.startswith(magic, i)]


def test_links_are_followed_where_users_choose_names_only_and_no_pipe_is_waited_for(tmp_path, path):
    link, pipe, linked = tmp_path / "link", tmp_path / "pipe", replace(layout.ARRAYS, links=True)
    link.symlink_to(path)
    os.mkfifo(pipe)
    assert_raises(IndexFormatError, "a symbolic link", open_regular(link).__enter__)
    for odd in (Path("/dev/zero"), pipe, tmp_path):
        assert_raises(IndexFormatError, "not a regular file|Is a directory", open_regular(odd, linked).__enter__)
    with open_regular(path) as one, open_regular(link, linked) as other:
        assert one.read() == other.read()
