"""The sketch step: the same rows for any cut of the documents, equal to twins in plain Python; errors that name the row."""

import pickle
from functools import partial
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import sketches as naive
from naive.hashing import K0, fold_multiply, keyed_digest
from naive.text import hashes

import lookalike as la
from lookalike.errors import RowError
from lookalike.hashing import digest_secret
from lookalike.inputs.overrides import read_overrides
from lookalike.inputs.sketch_rows import keys_of
from lookalike.methods.registry import MethodSettings, make_method
from lookalike.steps.override import Overriding
from lookalike.steps.sketch import choose_kept, kept_sketches, kept_sketches_schema, sketch, sketches_schema
from lookalike.text.shingle import Shingling
from lookalike.values.tables import SKETCHES, WITHIN_BYTES

TEXTS = ["one two three four", "", "One, two: three, four!", "...", "ä ö ü ß", "天地玄黃", "one " * 300, "e\u0301 a b c", "x"]


BANDS, ROWS = 3, 2


KEYS = bytes(16), bytes(range(16))


METHODS = {
    "minhash": make_method("minhash", MethodSettings(bands=BANDS, rows=ROWS, seed=5)),
    "estimates": make_method("minhash", MethodSettings(bands=BANDS, rows=ROWS, seed=5, verify="sketch")),
    "simhash": make_method("simhash", MethodSettings(seed=5, verify="sketch")),
}


def documents(texts, **more):
    """A table of documents; bytes stand for texts that are no UTF-8."""
    encoded = [text if isinstance(text, bytes) else text.encode() for text in texts]
    n = np.arange(len(texts))
    column = pa.array(encoded, pa.large_binary())
    return pa.table({"position": pa.array(n + (3 << 40)), "number": pa.array(2 * n + 1), "text": column} | more)


def settings_of(method="minhash", **more):
    """Shingles of two words."""
    return {"shingling": Shingling(width=2), "method": METHODS[method], **more}


def run(table, chosen, **more):
    """All sketches, in one table; the schema is the one that was announced."""
    schema = sketches_schema(table.schema, chosen["method"], "overriding" in chosen)
    more = {"key": KEYS[0]} | chosen | more
    return pa.Table.from_batches(sketch(iter(table.to_batches()), **more), schema).combine_chunks()


def withins(n):
    """What three values are told apart by."""
    return [bytes([i % 3]) * WITHIN_BYTES for i in range(n)]


def keyed(data, key, purpose, within=()):
    """A digest as it stands in a column."""
    words = keyed_digest(data, digest_secret(key, purpose).tolist(), within)
    return b"".join(word.to_bytes(8, "little") for word in words)


def test_sketches_equal_their_twins():
    groups = withins(len(TEXTS))
    found = run(documents(TEXTS, within=pa.array(groups, pa.binary(WITHIN_BYTES))), settings_of()).to_pylist()
    for row, (text, group) in enumerate(zip(TEXTS, groups, strict=True)):
        values, first = hashes(text, width=2), int.from_bytes(group[:8], "little")
        slots = naive.fast_similarity(values, BANDS * ROWS, 5)
        keys = found[row]["keys"] and [int(key) % (1 << 64) for key in found[row]["keys"]]
        assert keys == (naive.band_keys(slots, first, BANDS, ROWS) if values else None)
        codes = [fold_multiply(slot ^ first, K0 + i) >> 48 for i, slot in enumerate(slots)]
        assert np.frombuffer(found[row]["code"], "<u2").tolist() == codes
        assert (found[row]["position"], found[row]["number"]) == ((3 << 40) + row, 2 * row + 1)
        assert (found[row]["bytes"], found[row]["empty"]) == (len(text.encode()), not values)
        assert found[row]["within"] == keyed(group, KEYS[0], "within")


@pytest.mark.parametrize("key", KEYS)
def test_digests_are_of_the_text_and_of_what_it_is_compared_within(key):
    plain = run(documents(TEXTS), settings_of(), key=key)
    assert plain["digest"].to_pylist() == [keyed(text.encode(), key, "documents") for text in TEXTS]
    groups = [b"a" * WITHIN_BYTES, b"b" * WITHIN_BYTES, b"a" * WITHIN_BYTES]
    found = run(documents(["same"] * 3, within=pa.array(groups, pa.binary(WITHIN_BYTES))), settings_of(), key=key)
    of_groups = [keyed_digest(group, digest_secret(key, "within").tolist()) for group in groups]
    assert found["digest"].to_pylist() == [keyed(b"same", key, "documents", group) for group in of_groups]


def test_what_is_compared_across_enters_no_other_column():
    codes = [b"a" * WITHIN_BYTES, bytes(WITHIN_BYTES), b"a" * WITHIN_BYTES]
    found = run(documents(["same"] * 3, across=pa.array(codes, pa.binary(WITHIN_BYTES))), settings_of())
    digest = keyed(b"a" * WITHIN_BYTES, KEYS[0], "across")
    assert found["across"].to_pylist() == [digest, bytes(16), digest]
    assert found.drop_columns(["across"]) == run(documents(["same"] * 3), settings_of())


def test_the_key_enters_digests_alone():
    groups = pa.array(withins(len(TEXTS)), pa.binary(WITHIN_BYTES))
    one, other = (run(documents(TEXTS, within=groups), settings_of(), key=key) for key in KEYS)
    for name in ("digest", "within"):
        assert not set(one[name].to_pylist()) & set(other[name].to_pylist())
    assert one.drop_columns(["digest", "within"]) == other.drop_columns(["digest", "within"])


@settings(max_examples=80)
@given(st.data())
def test_any_cut_gives_the_same_rows(data):
    texts = data.draw(st.lists(st.sampled_from(TEXTS) | st.text(max_size=12), max_size=12))
    n = len(texts)
    more = {
        "id": pa.array([f"d{i}" for i in range(n)]),
        "priority": pa.array([bytes([255 - i]) for i in range(n)], pa.binary()),
        "within": pa.array(withins(n), pa.binary(WITHIN_BYTES)),
    }
    table = documents(texts, **{name: more[name] for name in data.draw(st.sets(st.sampled_from(sorted(more))))})
    method = data.draw(st.sampled_from(sorted(METHODS)))
    expected = run(table, settings_of(method))
    assert len(expected) == n
    bounds = [0, *sorted(data.draw(st.lists(st.integers(0, n), max_size=6))), n]
    whole = table.combine_chunks().to_batches() or [pa.RecordBatch.from_pylist([], table.schema)]
    batches = [whole[0].slice(a, b - a) for a, b in pairwise(bounds)]
    step = pickle.loads(
        pickle.dumps(partial(sketch, key=KEYS[0], **settings_of(method, piece_bytes=data.draw(st.integers(1, 50)))))
    )
    found = pa.Table.from_batches(step(iter(batches)), expected.schema).combine_chunks()
    found.validate(full=True)
    assert found == expected


@pytest.mark.parametrize(
    ("method", "columns"), [("minhash", ["code"]), ("estimates", ["code", "estimate"]), ("simhash", ["estimate"])]
)
def test_columns_are_there_if_the_method_has_them(method, columns):
    ids = pa.array(range(len(TEXTS)))
    found = run(documents(TEXTS, id=ids), settings_of(method))
    assert found.schema.names == [*SKETCHES.names, *columns, "id", "short"]
    keys = pa.list_(pa.int64(), METHODS[method].n_keys)
    assert [found.schema.field(field.name) for field in SKETCHES] == [
        field.with_type(keys) if field.name == "keys" else field for field in SKETCHES
    ]
    assert found["id"].combine_chunks() == ids


def test_estimates_are_the_words_of_the_method():
    found = run(documents(TEXTS), settings_of("simhash")).to_pylist()
    words = (
        la.sketches.SimHash(seed=5)
        .sign(la.sketches.Shingles(*settings_of()["shingling"].hashes(la.text.texts.from_strings(TEXTS))))
        .words
    )
    for row in (0, 2, 6):
        assert found[row]["estimate"] == words[row].tobytes() == np.array(found[row]["keys"]).tobytes()


def test_invalid_utf8_is_refused_by_row():
    table = documents(["good", "fine", b"bad \xff"])
    with pytest.raises(RowError) as caught:
        run(table.slice(1), settings_of())
    what = "invalid UTF-8 at byte 4 of the text; convert it, or pass {} to continue"
    raw = what.format("--encoding-errors replace (encoding_errors='replace')")
    what = what.format("encoding_errors='replace'")
    assert str(caught.value) == f"row 5: {what}" and isinstance(caught.value, la.errors.InputDataError)
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (copy.position, copy.row, copy.reason, str(copy)) == ((3 << 40) + 2, 5, raw, str(caught.value))
    assert len(run(table, settings_of(encoding_errors="replace"))) == 3


def failing(text):
    """A tokenizer that has no luck with one text."""
    if text == "bad":
        raise KeyError("no luck")
    return [3] if text == "number" else ["\ud800"] if text == "surrogate" else text.split()


@pytest.mark.parametrize(
    ("text", "what"),
    [("bad", "the tokenizer failed: KeyError: 'no luck'"), ("number", "the tokenizer must yield str; it yielded 3"),
     ("surrogate", r"the tokenizer yielded '\ud800': surrogates not allowed")],
)  # fmt: skip
def test_errors_of_a_tokenizer_name_the_row(text, what):
    chosen = settings_of() | {"shingling": Shingling(tokenizer=failing)}
    with pytest.raises(RowError) as caught:
        run(documents(["fine", "good one", text, "fine"]).slice(1), chosen)
    assert (caught.value.position, caught.value.row, caught.value.reason) == ((3 << 40) + 2, 5, what)
    assert isinstance(caught.value.__cause__, KeyError) == (text == "bad")


def test_a_document_that_is_removed_by_hand_has_no_keys():
    """So that it meets nobody; all else is known of it. One that is kept by hand has them."""
    ids = pa.array(["a", "b", "c", "d"], pa.large_string())
    table = documents(["one two three"] * 3 + [""], id=ids)
    lines = [{"id": "b", "action": "remove"}, {"id": "c", "action": "keep"}, {"id": "d", "action": "keep"}]
    overriding = Overriding.of(read_overrides(lines), KEYS[0], 0, None)
    plain, found = run(table, settings_of()), run(table, settings_of(overriding=overriding))
    assert found["override"].to_pylist() == [0, -1, 2, 3]
    assert found["empty"].to_pylist() == [False, True, False, True]
    assert [keys is None for keys in found["keys"].to_pylist()] == [False, True, False, True]
    for name in ("position", "digest", "bytes", "code"):
        assert found[name].equals(plain[name])


SAVED_KEYS = pa.array([[1, -2, 3], None, [4, 5, 1 << 62]], pa.list_(pa.int64(), 3))


SAVED_ROWS = pa.record_batch({
    "position": pa.array([5, 6, (2 << 40) + 1]), "number": pa.array([6, 7, 2]), "bytes": pa.array([10, 0, 30]),
    "digest": pa.array([b"d" * 16, b"e" * 16, b"f" * 16], pa.binary(16)), "empty": pa.array([False, True, False]), "keys": SAVED_KEYS,
    "priority": pa.array([b"x", b"", b"y"], pa.large_binary()), "order": pa.array([2, 1, 0]),
})  # fmt: skip


def test_keys_are_bytes_and_become_keys_again():
    for rows in (SAVED_ROWS, SAVED_ROWS.slice(1), SAVED_ROWS.slice(0, 1), SAVED_ROWS.slice(1, 1)):
        (saved,) = kept_sketches(iter([rows]))
        assert saved.schema == kept_sketches_schema(rows.schema)
        assert saved.schema.names == ["position", "number", "bytes", "digest", "keys"]
        assert saved["keys"].type == pa.binary(24)
        assert keys_of(saved["keys"]).to_pylist() == rows["keys"].to_pylist()
        assert saved["digest"].to_pylist() == rows["digest"].to_pylist()


def test_texts_are_saved_where_they_are_a_column():
    rows = SAVED_ROWS.append_column("text", pa.array([b"a", b"", b"c"], pa.large_binary()))
    (saved,) = kept_sketches(iter([rows]))
    assert saved["text"].to_pylist() == [b"a", b"", b"c"] and saved.schema == kept_sketches_schema(rows.schema)


def test_references_and_removed_documents_are_not_kept():
    reasons = ["kept", "reference", "exact", "near", "empty", "skipped", "kept"]
    rows = pa.record_batch({"order": pa.array(range(7)), "reason": reasons})
    assert [row for batch in choose_kept(iter([rows])) for row in batch["order"].to_pylist()] == [0, 6]
