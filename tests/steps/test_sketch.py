import pickle

import numpy as np
import pyarrow as pa
import pytest
from naive import sketches as naive
from naive.hashing import K0, fold_multiply, keyed_digest
from naive.text import hashes

from lookalike.errors import RowError
from lookalike.hashing import digest_secret
from lookalike.methods.registry import MethodSettings, make_method
from lookalike.steps.sketch import sketch, sketches_schema
from lookalike.text.shingle import Shingling
from lookalike.values.tables import WITHIN_BYTES

TEXTS = ["one two three four", "", "One, two: three, four!", "...", "ä ö ü ß", "天地玄黃", "one " * 300, "e\u0301 a b c", "x"]


BANDS, ROWS = 3, 2
KEYS = bytes(16), bytes(range(16))
TWO_WORDS = Shingling(width=2)
METHOD = make_method("minhash", MethodSettings(bands=BANDS, rows=ROWS, seed=5))


def documents(texts, **more):
    """Bytes stand for texts that are no UTF-8."""
    encoded = [text if isinstance(text, bytes) else text.encode() for text in texts]
    n = np.arange(len(texts))
    column = pa.array(encoded, "large_binary")
    return pa.table({"position": pa.array(n + (3 << 40)), "number": pa.array(2 * n + 1), "text": column} | more)


def run(table, shingling=TWO_WORDS, key=KEYS[0], **more):
    """A text is a piece."""
    made = sketch(iter(table.to_batches()), shingling=shingling, method=METHOD, key=key, piece_bytes=1, **more)
    return pa.Table.from_batches(made, sketches_schema(table.schema, METHOD, False)).combine_chunks()


def grouped(texts):
    return documents(
        texts, within=pa.array([bytes([i % 3]) * WITHIN_BYTES for i in range(len(texts))], pa.binary(WITHIN_BYTES))
    )


def keyed(data, key, purpose, within=()):
    """A digest as it stands in a column."""
    return b"".join(word.to_bytes(8, "little") for word in keyed_digest(data, digest_secret(key, purpose).tolist(), within))


@pytest.mark.parametrize("key", KEYS)
def test_sketches_equal_their_twins(key):
    """Digests depend on a secret and on what texts are compared within, and nothing else depends on the secret."""
    table, plain = grouped(TEXTS), run(documents(TEXTS), key=key)
    found = run(table, key=key)
    assert plain["digest"].to_pylist() == [keyed(text.encode(), key, "documents") for text in TEXTS]
    for row, (text, document) in enumerate(zip(TEXTS, table.to_pylist(), strict=True)):
        group = document["within"]
        values, first = hashes(text, width=2), int.from_bytes(group[:8], "little")
        slots = naive.fast_similarity(values, BANDS * ROWS, 5)
        codes = [fold_multiply(slot ^ first, K0 + i) >> 48 for i, slot in enumerate(slots)]
        keys = [(band - (band >> 63 << 64)) for band in naive.band_keys(slots, first, BANDS, ROWS)] if values else None
        of_group = keyed_digest(group, digest_secret(key, "within").tolist())
        assert found.slice(row, 1).to_pylist() == [{
            "position": (3 << 40) + row, "number": 2 * row + 1, "bytes": len(text.encode()), "empty": not values, "keys": keys,
            "code": np.array(codes, "<u2").tobytes(), "short": len(values) <= 1, "within": keyed(group, key, "within"),
            "digest": keyed(text.encode(), key, "documents", of_group),
        }]  # fmt: skip


def failing(text):
    if text == "bad":
        raise KeyError("no luck")
    return [3] if text == "number" else ["\ud800"] if text == "surrogate" else text.split()


@pytest.mark.parametrize(
    ("text", "what"),
    [("bad", "the tokenizer failed: KeyError: 'no luck'"), ("number", "the tokenizer must yield str; it yielded 3"),
     ("surrogate", r"the tokenizer yielded '\ud800': surrogates not allowed"), (b"bad \xff", "invalid UTF-8 at byte 4 of the text")],
)  # fmt: skip
def test_errors_name_the_row(text, what):
    shingling = TWO_WORDS if isinstance(text, bytes) else Shingling(tokenizer=failing)
    table = documents(["fine", "good one", text, "fine"])
    with pytest.raises(RowError) as caught:
        run(table.slice(1), shingling)
    for error in (caught.value, pickle.loads(pickle.dumps(caught.value))):
        assert (error.position, error.row, error.reason.partition("; convert")[0]) == ((3 << 40) + 2, 5, what)
    assert isinstance(caught.value.__cause__, KeyError) == (text == "bad")
    if isinstance(text, bytes):
        assert len(run(table, encoding_errors="replace")) == 4
