"""Tables for tests of steps."""

import cut_tables
import numpy as np
import pyarrow as pa
from hypothesis import strategies as st
from naive.crowds import Rule, bucket_pairs

import lookalike as la
from lookalike.steps import pairs as linking


def columns(**named):
    """A batch of columns of integers, or of pyarrow's arrays."""
    arrays = {name: c if isinstance(c, pa.Array) else pa.array(np.asarray(c, "int64")) for name, c in named.items()}
    return pa.record_batch(arrays)


def grouped(groups):
    """A batch of groups: {key: orders}."""
    rows = [(key, order) for key, members in groups.items() for order in members]
    return columns(key=[key for key, _ in rows], order=[order for _, order in rows])


def binary_column(rows, width, kind="fixed"):
    """Values of some bytes each, as engines have them."""
    plain = pa.array(rows, {"small": pa.binary(), "large": pa.large_binary()}.get(kind.split()[-1], pa.binary(width)))
    return plain.dictionary_encode() if kind.startswith("numbered") else plain


kinds = st.sampled_from(["fixed", "small", "large", "numbered", "numbered small"])


def code_column(codes, slots, kind="fixed"):
    """16-bit codes of documents."""
    return binary_column([np.asarray(code, "<u2").tobytes() for code in codes], 2 * slots, kind)


def nibble_column(codes, slots, kind="fixed"):
    """The lowest four bits of 16-bit codes of documents, in whole words."""
    width = 8 * -(-slots // 16)
    rows = [sum((int(c) & 15) << 4 * i for i, c in enumerate(code)).to_bytes(width, "little") for code in codes]
    return binary_column(rows, width, kind)


def links_of_bucket(members, max_bucket, boundary, heads):
    """Links of one bucket by the rule for crowds, marks of a crowd included, member by member; these ascend."""
    rule = Rule(max_bucket or 1 << 60, heads)
    found = [(a, b) for a, b in bucket_pairs(members, boundary, rule) if b >= boundary]
    found += [(a, a) for a in members if len(members) > rule.max_bucket]
    return sorted(found, key=lambda link: link[::-1])


def counted(fold, batches):
    """What a fold adds up."""
    total = fold.start()
    for batch in batches:
        fold.add(total, batch)
    return total


def as_shingles(sets):
    """Sets of integers as shingles of documents."""
    return la.sketches.Shingles.from_arrays([x for some in sets for x in some], np.cumsum([0, *map(len, sets)]))


def rows_of(batches, schema=None):
    """The rows of batches as tuples, in order; batches must have the schema, and be of bounded size."""
    found = list(batches)
    assert all((schema or batch.schema) == batch.schema and len(batch) <= linking.AT_A_TIME for batch in found)
    return cut_tables.rows_of(found)
