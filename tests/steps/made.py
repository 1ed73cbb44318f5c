import cut_tables
import numpy as np
import pyarrow as pa
from hypothesis import strategies as st
from naive.crowds import Rule, bucket_pairs

import lookalike as la
from lookalike.steps import pairs as linking


def columns(**named):
    arrays = {name: c if isinstance(c, pa.Array) else pa.array(np.asarray(c, "int64")) for name, c in named.items()}
    return pa.record_batch(arrays)


def grouped(groups):
    rows = [(key, order) for key, members in groups.items() for order in members]
    return columns(key=[key for key, _ in rows], order=[order for _, order in rows])


def binary_column(rows, width, kind="fixed"):
    plain = pa.array(rows, {"small": pa.binary(), "large": pa.large_binary()}.get(kind.split()[-1], pa.binary(width)))
    return plain.dictionary_encode() if kind.startswith("numbered") else plain


kinds = st.sampled_from(["fixed", "small", "large", "numbered", "numbered small"])


def code_column(codes, slots, kind="fixed"):
    return binary_column([np.asarray(code, "<u2").tobytes() for code in codes], 2 * slots, kind)


def nibble_column(codes, slots, kind="fixed"):
    """The lowest four bits of 16-bit codes of documents, in whole words."""
    width = 8 * -(-slots // 16)
    rows = [sum((int(c) & 15) << 4 * i for i, c in enumerate(code)).to_bytes(width, "little") for code in codes]
    return binary_column(rows, width, kind)


def links_of_bucket(members, max_bucket, boundary, heads):
    """Marks of a crowd included, member by member; these ascend."""
    rule = Rule(max_bucket or 1 << 60, heads)
    found = [(a, b) for a, b in bucket_pairs(members, boundary, rule) if b >= boundary]
    found += [(a, a) for a in members if len(members) > rule.max_bucket]
    return sorted(found, key=lambda link: link[::-1])


def counted(fold, batches):
    total = fold.start()
    for batch in batches:
        fold.add(total, batch)
    return total


def as_shingles(sets):
    return la.sketches.Shingles.from_arrays([x for some in sets for x in some], np.cumsum([0, *map(len, sets)]))


def rows_of(batches, schema=None):
    found = list(batches)
    assert all((schema or batch.schema) == batch.schema and len(batch) <= linking.AT_A_TIME for batch in found)
    return cut_tables.rows_of(found)
