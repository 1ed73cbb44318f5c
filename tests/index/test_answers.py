"""Look-ups beside a plain twin: any segments, removed documents, empty texts, all kinds, any number of matches wanted; answers as
arrays and as tables; matches are measured by the texts, and equal texts once."""

from fractions import Fraction
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from raising import assert_raises
from waiting import at_once

import lookalike as la
from lookalike.index.answers import Answers
from lookalike.index.segments import Segment
from lookalike.text.hashes import KeyedHashes
from lookalike.text.texts import from_strings

LETTERS = "a b c d e f g h i j k l m n o p q r s t"
TEXTS = [LETTERS, LETTERS + " u"]


def test_equal_texts_are_shingled_once(monkeypatch):
    """Two different queries with two different texts, however often each is there; also where few are compared together."""
    resemblance = la.shingle(TEXTS).resemblance(0, 1)
    shingled = []
    hashes = KeyedHashes.hashes
    monkeypatch.setattr(KeyedHashes, "hashes", lambda self, texts: shingled.append(len(texts)) or hashes(self, texts))
    with la.Index.create("x", keep_text=True, threshold=0.3) as index:
        index.add(range(8), TEXTS * 4)
        answers = index.query(TEXTS * 5, top=None)
        found = {(row["query"], row["id"]): row["resemblance"] for row in answers.to_pylist()}
        assert found == {(q, i): resemblance if (q - i) % 2 else 1.0 for q in range(10) for i in range(8)} and shingled == [2]
        monkeypatch.setattr("lookalike.index.answers.BLOCK_BYTES", 0)
        assert index.query(TEXTS * 5, top=None).equals(answers)
        assert set(shingled[1:]) == {1, 2} and len(shingled) == 81, "a pair at a time"


@pytest.mark.parametrize("keep_text", [False, True])
def test_answers_are_the_columns_of_the_table(tmp_path, keep_text):
    for name, ids, kind in (("text", ["x", "\u00fc\u2028"], pa.string()), ("numbers", [-5, 1 << 62], pa.int64())):
        with la.Index.create(tmp_path / name, keep_text=keep_text, threshold=0.3) as index:
            assert index.query([""]).schema.field("id").type == pa.string(), "nobody knows yet"
            index.add(ids, TEXTS)
            for given, n in (([*TEXTS, "", "nothing here"], 4), (index.sketch(TEXTS), 4), ([], 0), ([""], 0)):
                found = index.answers(given, top=2)
                table = index.query(given, top=2)
                assert len(found) == table.num_rows == n and found.to_table().equals(table)
                assert (
                    table.schema.field("id").type == kind and found.id == table["id"].to_pylist() == [*ids, *reversed(ids)][:n]
                )
                assert found.estimated_resemblance.tolist() == table["estimated_resemblance"].to_pylist()
                exact = table["resemblance"].to_pylist()
                assert n == 0 or (exact == [None] * 4) == (not keep_text or not isinstance(given, list))
            assert_raises(la.errors.ParameterError, "top must be an integer; got '3'", index.answers, TEXTS, top="3")


def test_tables_are_those_that_arrow_makes(rng):
    """Of numbers or texts of any length, of few matches and of many; one table does not change the next."""
    for n, longest, exact in product([0, 1, 2, 31, 32, 33, 500], [None, 0, 1, 9, 130], [False, True]):
        made = []
        for _ in range(2):
            query = np.sort(rng.integers(0, 9, n))
            scores = rng.random((3, n))
            if longest is None:
                ids = rng.integers(-(1 << 63), 1 << 63, n).tolist()
                id_type = "int"
                kind = pa.int64()
            else:
                ids = ["é\U0001f600x"[i % 3] * int(rng.integers(0, longest + 1)) for i in range(n)]
                id_type = "str"
                kind = pa.string()
            answers = Answers(query, ids, scores[0], scores[1], scores[2] if exact else None, id_type)
            last = pa.array(scores[2]) if exact else pa.nulls(n, pa.float64())
            made.append((answers.to_table(), pa.table([query, pa.array(ids, kind), *scores[:2], last], COLUMNS)))
        for table, expected in made:
            table.validate(full=True)
            assert table.equals(expected) and table.schema == expected.schema
            assert table.slice(n // 2).to_pylist() == expected.slice(n // 2).to_pylist()


KINDS = {
    "minhash": {"threshold": 0.5, "slots": 48},
    "packed": {"threshold": 0.5, "bits": 4, "slots": 36},
    "single bits": {"threshold": 0.5, "bits": 1, "slots": 130},
    "simhash": {"kind": "simhash", "threshold": 0.7, "radius": 7, "unit": "word", "width": 1},
    "probed": {"kind": "simhash", "threshold": 0.8, "radius": 5, "probes": 40, "unit": "word", "width": 1},
}
COLUMNS = ("query", "id", "estimated_resemblance", "standard_error", "resemblance")


def some_texts(rng, n, base):
    """Texts of families, some of them copies, some empty; shorter ones are more often alike by chance."""
    words = np.array([f"w{i}" for i in range(400)])
    out = []
    for _ in range(n):
        mine = base[int(rng.integers(0, len(base)))].copy()
        places = rng.integers(0, len(mine), int(rng.choice([0, 0, 1, 2, 6])))
        mine[places] = rng.integers(0, len(words), len(places))
        out.append("" if rng.random() < 0.05 else " ".join(words[mine].tolist()))
    return out


def twin(index, segments, removed, queries, top, first_only):
    """What a search finds, document by document, in the order in which it says it."""
    kind = index.kind
    exact = index.info["keep_text"]
    asked, *sketched = (
        kind.sketch(*kind.shingling.hashes(from_strings(texts)))
        for texts in (queries, *([text for _, text in segment] for segment in segments))
    )
    bits_of = [Segment(file, kind, exact).prefix_bits for file in sorted(index.path.glob("segment-*"))]
    tables = {bits: kind.prefixes(asked, bits).tolist() for bits in bits_of} if kind.probes else {}

    def codes_of(codes):
        return [int(word) >> shift & (1 << kind.lane) - 1 for word in codes for shift in range(0, 16, kind.lane)]

    out = []
    for q, query in enumerate(queries):
        matches = []
        mine = codes_of(asked.codes[q])
        for number, (segment, bits, stored) in enumerate(zip(segments, bits_of, sketched, strict=True)):
            for r, (name, text) in enumerate(segment):
                if name in removed or stored.empty[r] or asked.empty[q]:
                    continue
                apart = sum(a != b for a, b in zip(codes_of(stored.codes[r]), mine, strict=True))
                if kind.name == "minhash":
                    met = (stored.keys[r] == asked.keys[q]).any()
                else:
                    met = apart <= kind.radius and (not kind.probes or int(stored.keys[r, 0]) >> (64 - bits) in tables[bits][q])
                score = len(mine) - apart if kind.lane == 16 else -apart
                if met and score >= kind.least:
                    estimate, error = (float(x) for x in kind.estimate(np.array(score)))
                    matches.append((-score, number, r, (q, name, estimate, error, alike(kind, query, text) if exact else None)))
        if first_only:
            out.append([match[3] for match in matches if match[1] == matches[0][1]])
        else:
            out.append([row for *_, row in sorted(matches)[:top]])
    return out


def alike(kind, a, b):
    """Exact resemblance, or the cosine of counts."""
    left, right = (kind.shingling.hashes(from_strings([text]))[0].tolist() for text in (a, b))
    if kind.name == "minhash":
        return float(Fraction(len({*left} & {*right}), len({*left} | {*right})))
    m, n = ({x: side.count(x) for x in side} for side in (left, right))
    return sum(m[x] * n.get(x, 0) for x in m) / (sum(c * c for c in m.values()) * sum(c * c for c in n.values())) ** 0.5


def rows_of(table):
    return list(zip(*(table[name].to_pylist() for name in COLUMNS), strict=True))


def assert_same(found, expected):
    assert [row[:4] for row in found] == [row[:4] for row in expected]
    exact, wanted = ([-1 if row[4] is None else row[4] for row in rows] for rows in (found, expected))
    assert exact == pytest.approx(wanted, rel=1e-12)


@pytest.fixture(params=[(kind, keep, seed) for kind in KINDS for keep, seed in ((False, 1), (True, 2))], ids=str)
def filled(request, tmp_path):
    """An index of some segments, what is in each, which documents were removed, and texts to ask for."""
    kind, keep, seed = request.param
    rng = np.random.default_rng(seed)
    base = [rng.integers(0, 400, int(size)) for size in rng.integers(6, 60, 8)]
    with la.Index.create(tmp_path / "x", keep_text=keep, **KINDS[kind]) as index:
        segments = []
        count = 0
        for size in rng.integers(1, 40, 4).tolist():
            segments.append([(count + i, text) for i, text in enumerate(some_texts(rng, size, base))])
            count += size
            index.add([name for name, _ in segments[-1]], [text for _, text in segments[-1]])
        removed = set(rng.choice(count, count // 5, replace=False).tolist()) - {name for name, _ in segments[0][:1]}
        index.remove(sorted(removed))
        segments = [segment for segment in segments if not {name for name, _ in segment} <= removed]
        yield index, segments, removed, [*some_texts(rng, 14, base), "", "nothing like it"]


def test_look_ups_are_those_of_the_twin(filled):
    index, segments, removed, queries = filled
    assert index.info["segments"] == len(segments) > 1
    for top in (None, 1, 3):
        by_query = twin(index, segments, removed, queries, top, False)
        expected = [row for rows in by_query for row in rows]
        assert len(expected) >= 4
        assert_same(rows_of(index.query(queries, top=top)), expected)
        alone = [(q, *row[1:]) for q, query in enumerate(queries) for row in rows_of(index.query([query], top=top))]
        assert_same(alone, expected)
    firsts = rows_of(index.first(queries))
    allowed = twin(index, segments, removed, queries, None, True)
    assert [row[0] for row in firsts] == [q for q, rows in enumerate(allowed) if rows]
    assert all(row[:2] in [other[:2] for other in allowed[row[0]]] for row in firsts)


def test_pieces_for_threads_change_nothing(filled, monkeypatch):
    index, *_, queries = filled
    plain = [ask(queries * 5) for ask in (index.query, index.first)]
    monkeypatch.setattr("lookalike.index.answers.FEW", 8)
    monkeypatch.setattr("lookalike.index.answers.MOST_PREFIXES", 200)
    for threads in (1, 2):
        assert [ask(queries * 5, threads=threads) for ask in (index.query, index.first)] == plain


def test_threads_that_ask_at_once_get_what_each_gets_alone(filled):
    index, *_, queries = filled
    groups = [queries[i:] + queries[:i] for i in range(0, 16, 2)]
    expected = [index.query(group) for group in groups]
    found = at_once(len(groups), lambda i: [index.query(groups[i]) for _ in range(8)])
    assert all(table.equals(expected[i]) for i, tables in enumerate(found) for table in tables)
