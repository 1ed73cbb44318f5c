import dataclasses
import itertools

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from formats.jobs import one_split, put, refused, rows_in, table_at
from formats.test_parquet_pages import CODECS, KINDS
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.text import unpacked
from samples import one_in

import lookalike as la
from lookalike.core import unpack_rows
from lookalike.formats import Columns, Limit, parquet_texts
from lookalike.formats.parquet_pages import DICTIONARIES, Page
from lookalike.text.texts import Later, from_strings

ALL_CODECS = [*CODECS, "lz4"]
SMALL_PAGES = {"data_page_size": 1}


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(parquet_texts, "LEAST", 1)


def rows_of(path, limit=None, **columns):
    batches = [*dataclasses.replace(one_split(path), limit=limit or Limit()).batches(Columns(**columns))]
    later = [batch for batch in batches if isinstance(batch.texts, Later)]
    assert all(len(batch.texts) == len(batch.numbers) and batch.texts.n_bytes == 0 for batch in later)
    return rows_in(batches), len(later)


@given(
    st.lists(st.tuples(st.booleans(), st.binary(max_size=20)), max_size=30), st.integers(0, 3), st.booleans(), st.data()
)  # fmt: skip
def test_values_are_taken_apart_as_by_the_twin(rows, behind, in_place, data):
    packed = b"".join(len(value).to_bytes(4, "little") + value for there, value in rows if there)
    cut = data.draw(st.integers(0, len(packed)) | st.just(len(packed)))
    given_bytes = np.frombuffer(bytearray(packed[:cut] + b"\0" * (behind if cut == len(packed) else 0)), np.uint8)
    out = given_bytes if in_place else np.empty(len(given_bytes), np.uint8)
    there, offsets = np.array([there for there, _ in rows], np.int64), np.full(len(rows) + 1, -1)
    wanted = unpacked(given_bytes.tobytes(), there.tolist())
    used = unpack_rows(given_bytes, there, out, offsets)
    if wanted is None:
        assert used == -1 and cut < len(packed)
    else:
        assert used == len(packed)
        assert [out[a:b].tobytes() for a, b in itertools.pairwise(offsets)] == wanted


@settings(max_examples=80)
@given(
    st.lists(st.none() | st.sampled_from(["", "a", "é" * 40, "x" * 300]) | st.text(max_size=20), min_size=1, max_size=80),
    st.sampled_from(ALL_CODECS), st.sampled_from(KINDS), st.booleans(), st.sampled_from(["1.0", "2.0"]), st.booleans(),
    st.integers(1, 40), st.sampled_from([1, 500, 1 << 20]), st.sampled_from([7, 1 << 15]),
)  # fmt: skip
def test_texts_are_those_that_arrow_reads(
    tmp_path_factory, values, codec, kind, dictionary, version, nullable, per_page, piece, most
):
    path, values = tmp_path_factory.getbasetemp() / "pages.parquet", values if nullable else [value or "" for value in values]
    schema = pa.schema([pa.field("text", kind, nullable), ("n", "int64")])
    pq.write_table(
        pa.table([pa.array(values, "string").cast(kind), range(len(values))], schema), path, compression=codec,
        use_dictionary=["text"] if dictionary else False, data_page_version=version, write_batch_size=per_page, row_group_size=50,
        **SMALL_PAGES | {"dictionary_pagesize_limit": 100},
    )  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("LEAST", 1), ("PIECE_BYTES", piece), ("ROWS", most)):
            patch.setattr(parquet_texts, name, value)
        for columns in ({}, {"id": "n", "others": ("n",)}):
            found, later = rows_of(path, later=True, **columns)
            assert (found, 0) == rows_of(path, **columns)
            assert later
    assert [text for _, text, *_ in found] == [(value or "").encode() for value in values]


@pytest.mark.parametrize("per_page", [10, 1000])
def test_a_dictionary_that_grew_too_large(tmp_path, small, monkeypatch, per_page):
    """The first pages refer to it, and their texts take many times as much."""
    texts = [*(["long " * 1000, None, "short"] * 300), *(f"{i} words of one text" * 20 for i in range(3000))]
    how = SMALL_PAGES | {"write_batch_size": per_page, "dictionary_pagesize_limit": 10_000}
    table_at(tmp_path / "in.parquet", {"text": texts}, **how)
    made, take = [], parquet_texts.Texts.take
    monkeypatch.setattr(parquet_texts.Texts, "take", lambda *some: made.append(take(*some)) or made[-1])
    monkeypatch.setattr(parquet_texts, "PIECE_BYTES", 100_000)
    monkeypatch.setattr(parquet_texts.Texts.cut, "__defaults__", (100_000,))
    found, later = rows_of(tmp_path / "in.parquet", later=True)
    assert [text for _, text in found] == [(text or "").encode() for text in texts] and later >= 15
    assert sum(map(len, made)) >= 900 and max(texts.n_bytes for texts in made) <= 100_000


LONG = ["word " * 1000] * 999


@pytest.mark.parametrize(("what", "table", "written", "asked"), [
    ("a small chunk", {"text": ["word"] * 99}, {}, {}),
    ("another encoding", {"text": LONG}, {"column_encoding": {"text": "DELTA_BYTE_ARRAY"}}, {}),
    ("a struct", {"text": [{"a": text} for text in LONG]}, {}, {"texts": "text.a"}),
    ("one value, in a dictionary: too small", {"text": 10 * LONG}, {"use_dictionary": True}, {}),
    ("a text that is wanted twice", {"text": [f"{i} " * 1000 for i in range(999)]}, {}, {"others": ("text",)}),
    ("lists beside it", {"text": LONG, "n": [[1]] * 999}, {}, {"others": ("n",)}),
    ("wide values beside it", {"text": LONG, "n": ["n" * 5000] * 999}, {}, {"others": ("n",)}),
    ("nobody asks", {"text": LONG}, {}, {"later": False}),
    ("a limit", {"text": LONG}, {}, {"limit": Limit(1 << 20)}),
])  # fmt: skip
def test_what_arrow_reads(tmp_path, what, table, written, asked):
    """What is not worth it, or not within the limits, goes as it did."""
    path = table_at(tmp_path / "in.parquet", table, **{"use_dictionary": False} | written)
    assert rows_of(path, **{"later": True} | asked)[1] == 0
    if what in ("nobody asks", "a limit"):
        assert rows_of(path, later=True)[1] > 0


@pytest.mark.parametrize(("codec", "dictionary", "threads"), one_in(3, ALL_CODECS, [False, True], [1, 2]))
def test_damaged_pages(tmp_path, small, codec, dictionary, threads):
    """An error that names the file, or a job that ends; the worst of it is another text."""
    path, rng = tmp_path / "in.parquet", np.random.default_rng(1)
    texts = [" ".join(map(str, rng.integers(0, 9999, 50))) for _ in range(300)]
    how = SMALL_PAGES | {"write_batch_size": 50, "dictionary_pagesize_limit": 20_000, "use_dictionary": dictionary}
    table_at(path, {"text": texts}, compression=codec, **how)
    assert rows_of(path, later=True)[1] > 0
    whole, refused = path.read_bytes(), 0
    for at in rng.integers(4, len(whole) * 9 // 10, 40).tolist():
        put(path, whole[:at] + bytes([whole[at] ^ 1 << int(rng.integers(8))]) + whole[at + 1 :])
        try:
            la.dedup(path, threads=threads, encoding_errors="replace")
        except la.errors.InputDataError as error:
            assert str(error).startswith(str(path))
            refused += 1
    assert refused > 0 or codec == "none"


def test_numbers_in_a_dictionary_have_32_bits_at_most():
    """Those of more could be below zero, where no value is looked up."""
    stored = bytes([64, 3]) + b"\xff" * 64  # a run of eight numbers that are packed
    page = Page(0, 0, len(stored), len(stored), 8, DICTIONARIES[0], 0, 0, False)
    values = parquet_texts._looked_up(page, stored, "UNCOMPRESSED", False, from_strings(["a", "b"]))
    refused("the numbers of a page are damaged", list, values, error=OSError)


@pytest.mark.parametrize(("memory", "threads"), one_in(3, [None, "400MB"], [1, 2, 3]))
def test_jobs_decide_the_same(tmp_path, threads, memory):
    rng, path = np.random.default_rng(2), tmp_path / "in.parquet"
    texts = [" ".join(f"w{word}" for word in rng.integers(0, 3000, 300)) for _ in range(9000)]
    texts[::7] = [f"{text} more" for text in texts[1::7]]
    texts[5], texts[-1], names = None, texts[0], [f"n{i}" for i in range(9000)]
    table_at(path, {"text": texts, "name": names}, write_batch_size=500, **SMALL_PAGES)
    assert rows_of(path, id="name", later=True)[1] > 1
    found = la.dedup(path, id="name", threads=threads, memory=memory, work=memory and tmp_path / "work").removed
    wanted = la.dedup(pa.table({"text": texts, "name": names}), id="name").removed
    assert found.select(["id", "resemblance"]).equals(wanted.select(["id", "resemblance"])) and 1000 < len(found) < 2000
