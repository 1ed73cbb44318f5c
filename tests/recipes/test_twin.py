"""``la.dedup`` against a twin in plain Python, on small corpora of every kind."""

import random
from contextlib import closing, contextmanager
from math import ceil, log

import pyarrow as pa
import pytest
from engine_kinds import spill
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.crowds import Rule
from naive.dedup import dedup, keep_order, least_codes, least_sampled
from naive.groups import group_rules

import lookalike as la
from lookalike.engines.local import bundles as local_bundles
from lookalike.engines.local import documents as local_documents
from lookalike.engines.local import sort as local_sort
from lookalike.engines.local import tables as local_tables
from lookalike.steps import batches as pieces
from lookalike.steps import pairs
from lookalike.theory import containment

SCORES = ("resemblance", "estimated_resemblance", "cosine", "estimated_cosine", "containment")


def pool():
    rng = random.Random(1)
    words = [f"w{i}" for i in range(12)]
    texts = ["", "...", " \n"]
    for base in (rng.choices(words, k=n) for n in (1, 3, 6, 9, 14, 20)):
        for _ in range(8):
            changed = list(base)
            for _ in range(rng.randrange(4)):
                changed[rng.randrange(len(base))] = rng.choice(words)
            changed += rng.choices(words, k=rng.randrange(3))
            texts += [" ".join(changed), " ".join(changed).upper(), f"{' '.join(changed)}{rng.choice('!?')}"]
    template = [f"t{i}" for i in range(16)]
    for _ in range(70):  # families of one template
        family = rng.randrange(14)
        texts.append(" ".join([*template, *(f"o{family}x{i}" for i in range(4)), f"q{rng.randrange(99)}"]))
    for _ in range(70):  # one page, spoiled
        spoiled = list(template)
        for _ in range(rng.randrange(1, 4)):
            spoiled[rng.randrange(16)] = f"z{rng.randrange(30)}"
        texts.append(" ".join(spoiled))
    texts += [" ".join(template[:9] + [f"f{i}v{rng.randrange(4)}" for i in range(7)]) for _ in range(110)]  # records
    return texts


TEXTS = pool()
rows = st.tuples(st.integers(0, len(TEXTS) - 1), st.integers(0, 3), st.integers(0, 4))
corpora = st.lists(rows, max_size=45) | st.builds(
    # Many different documents of one kind: crowds.
    lambda first, n, step: [(first + i * step, i % step, i % 5) for i in range(n) if first + i * step < len(TEXTS)],
    st.integers(100, 390), st.integers(10, 100), st.integers(1, 3),
)  # fmt: skip
KEEP = (
    "first", "last", "longest", "shortest", "largest:v", "smallest:v", "largest:v; longest", "shortest;smallest:v ;last", "v:b, 2.5,-1",
    "g:a,30; v:é,B,2.5; longest", "longest; g:1,b; largest:v; first", "smallest:v;v:b;largest:v;longest;shortest",
)  # fmt: skip
columns = {
    "within": st.sampled_from([None, pa.array([1, 2, None, 30]), pa.array(["a", "b", None, "1"])]),
    "across": st.sampled_from(
        [None, None, pa.array([1, 2, 2, 1]), pa.array([3.0, None, float("nan"), 1.0]), pa.array(["a", "b", None, "a"])]
    ),
    "values": st.sampled_from([pa.array([2.5, None, float("nan"), -1.0, 2.5]), pa.array(["b", "é", None, "", "B"])]),
}
common = {
    "threshold": st.sampled_from([0.3, 0.5, 0.7, 0.8, 0.9, 1.0]),
    "keep": st.sampled_from(KEEP),
    "key": st.sampled_from([None, None, None, "k", "k", ["k"], ["k", "v"], ["g", "k"], "v"]),
    "empty": st.sampled_from(["keep", "drop"]),
    "width": st.integers(1, 3),
    "seed": st.integers(0, 2),
}
bandings = st.sampled_from([None, (1, 1), (2, 3), (6, 1), (8, 2), (16, 6)])
crowds = st.integers(2, 6)


@contextmanager
def worked(cut):
    with pytest.MonkeyPatch.context() as patch:
        for (module, name), size in cut.items():
            patch.setattr(module, name, size)
        if cut and cut[local_bundles, "GROUP_BYTES"] < 100:
            spill(patch)
        yield


def decided(table, references, cut, **chosen):
    """(decisions, kept ids, {id: (keeper, score)} of others)."""
    against = table.slice(0, references) if references else None
    with (
        worked(cut),
        closing(la.dedup(table.slice(references), against=against, id="id", threads=1 + len(cut) % 2, **chosen)) as result,
    ):
        removed, keep, decisions = result.removed, result.keep.tolist(), result.decisions
    score = next(name for name in SCORES if name in removed.column_names)
    found = zip(*(removed[name].to_pylist() for name in ("id", "duplicate_of", score)), strict=True)
    kept = {references + i for i, stays in enumerate(keep) if stays}
    return decisions, kept, {d: (None if keeper is None else int(keeper), score) for d, keeper, score in found}


def check(
    corpus, references, within, values, rule, texts=TEXTS, overrides=None, across=None, ignore=(), group=None, cut=(),
    **chosen,
):  # fmt: skip
    """``overrides`` are actions by row, ``group`` what is asked of whole groups, ``cut`` sizes of what is done at a time."""
    texts = [texts[text] for text, _, _ in corpus]
    references = min(references, len(corpus))
    table = pa.table({
        "id": pa.array(range(len(corpus)), pa.int64()), "text": pa.array(texts, pa.string()),
        "v": values.take(pa.array([v for *_, v in corpus], pa.int64())),
        "g": (within or values).take(pa.array([g for _, g, _ in corpus], pa.int64())),
        "k": pa.array([(7 * text + g) % 17 or None for text, g, _ in corpus], pa.int64()),
        "a": (across or values).take(pa.array([(g + v) % 4 for _, g, v in corpus], pa.int64())),
    })  # fmt: skip
    key, columns = chosen.pop("key", None), {name: table[name].to_pylist() for name in "vgk"}
    groups = None if within is None else table["g"].to_pylist()
    bands, plan, counts = {}, {}, {}
    if chosen.get("measure") == "containment":
        recall, t = chosen.pop("recall"), chosen["threshold"]
        plan["sample"] = max(containment.SAMPLE, 0 if t == 1 else ceil(log(1 - recall) / log(1 - t)))
        plan["least"] = least_sampled(t, plan["sample"], recall)
        bands["recall"] = recall
    elif chosen.get("recall") == 1:
        bands["recall"] = plan["recall"] = chosen.pop("recall")
    elif chosen.get("method") != "simhash":
        planned = la.plan(threshold=chosen["threshold"])
        bands = dict(zip(("bands", "rows"), chosen.pop("banding") or (), strict=False))
        plan = dict(bands) or {"bands": planned.bands, "rows": planned.rows}
        plan["least"] = least_codes(chosen["threshold"], **plan, recall=None if bands else 0.99)
    encoded = [t.encode() for t in texts]
    by_hand = {row: action for row, action in (overrides or {}).items() if references <= row < len(corpus)}
    expected = dedup(
        encoded,
        references=references,
        within=groups,
        columns=columns,
        key=None if key is None else list(zip(*(columns[name] for name in key), strict=True)),
        across=None if across is None else table["a"].to_pylist(),
        ignore=[text.encode() for text in ignore],
        rule=rule,
        overrides=by_hand,
        **plan,
        **chosen,
    )
    if group is not None:
        order = keep_order(encoded, references, chosen["keep"], columns)
        origins = ["null" if g is None else str(g) or "null" for g in table["g"].to_pylist()]
        expected, counts = group_rules(expected, order, origins, **group)
        chosen |= group | {"source": "g", "counts": True}
    more = ({} if within is None else {"within": "g"}) | ({} if key is None else {"key": key})
    more |= {} if across is None else {"across": "a"}
    more |= {"ignore": ignore} if ignore else {}
    if overrides is not None:
        more["overrides"] = [{"id": d, "action": a} for d, a in by_hand.items()]
    decisions, kept, removed = decided(table, references, dict(cut), max_bucket=rule.max_bucket, **bands, **more, **chosen)
    assert kept == {d for d, e in enumerate(expected) if e.reason in ("kept", "spared")}
    gone = ("exact", "near", "key", "empty", "override")
    assert removed == {d: (e.keeper, e.score) for d, e in enumerate(expected) if e.reason in gone}
    told = {int(row["id"]): row for row in decisions.to_pylist()}
    assert [told[d]["reason"] for d in range(references, len(expected))] == [e.reason for e in expected[references:]]
    for d, some in counts.items():
        if expected[d].reason in ("kept", "reference"):
            assert some == tuple(told[d][name] for name in ("n_exact", "n_duplicates", "n_sources"))
    return expected


overridden = st.none() | st.dictionaries(st.integers(0, 44), st.sampled_from(["keep", "remove"]), max_size=30)
verified = st.sampled_from(["exact", "exact", "sketch"])
templates = st.sampled_from([(), (), (" ".join(f"t{i}" for i in range(16)),), ("w1 w2 w3 w4", "t3 t4 t5 t6 z7", "W5")])
common |= {"ignore": templates}
sizes = st.fixed_dictionaries({
    (local_documents, "PIECE_BYTES"): st.integers(40, 500), (local_tables, "ROWS"): st.integers(5, 50),
    (local_sort, "MEMBERS"): st.integers(3, 50), (local_bundles, "GROUP_BYTES"): st.integers(1, 400),
    (local_tables, "PART_BYTES"): st.integers(500, 9000), (pieces, "PIECE_WEIGHT"): st.integers(1, 900),
    (pairs, "AT_A_TIME"): st.integers(1, 40),
})  # fmt: skip
common |= {"cut": st.integers(0, 5).flatmap(lambda n: st.just({}) if n else sizes)}
grouped = st.none() | st.fixed_dictionaries({"at_most": st.integers(1, 4)})
common |= {"corpus": corpora, "references": st.integers(0, 20), "overrides": overridden, "verify": verified, "group": grouped}


@settings(max_examples=170)
@given(banding=bandings, max_bucket=crowds, **columns, **common)
def test_minhash(max_bucket, **chosen):
    check(rule=Rule(max_bucket), **chosen)


@settings(max_examples=170)
@given(max_bucket=crowds, **columns, **common | {"verify": st.just("exact")})
def test_recall_1(max_bucket, **chosen):
    check(rule=Rule(max_bucket), recall=1, **chosen)


@settings(max_examples=150)
@given(radius=st.integers(0, 16), max_bucket=crowds, **columns, **common)
def test_simhash(max_bucket, **chosen):
    check(rule=Rule(max_bucket), method="simhash", **chosen)


@pytest.fixture(scope="module")
def small_samples():
    """Documents of few words have more shingles than a sample."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(containment, "SAMPLE", 4)
        yield


@settings(max_examples=170)
@given(
    recall=st.sampled_from([0.5, 0.9, 0.99]), floor=st.sampled_from([0, 0, 0.4, 0.8]), max_bucket=crowds,
    **columns | common | {"verify": st.just("exact")},
)  # fmt: skip
def test_containment(small_samples, max_bucket, **chosen):
    check(rule=Rule(max_bucket), measure="containment", **chosen)


def test_containment_of_every_kind(small_samples):
    """Samples, crowds and their heads each change what is decided here."""
    rng = random.Random(1)
    pages = [[f"w{rng.randrange(2000)}" for _ in range(60)] for _ in range(40)]
    texts = [" ".join(page[b : b + n]) for page in pages for b, n in ((0, 90), (3, 9), (rng.randrange(30), 25), (9, 3))]
    texts += [" ".join(rng.sample(page, 25) + [f"{page[0]}x{i}" for i in range(9)]) for page in pages]
    texts += [" ".join(w if rng.random() < 0.8 else f"u{rng.randrange(40)}" for w in page) for page in pages for _ in range(5)]
    texts += [*records(300, values=6), *texts[40:60]]
    chosen = {"threshold": 0.7, "seed": 1, "recall": 0.9, "measure": "containment", "floor": 0}
    found = compare(texts, 30, Rule(6), keep="longest", **chosen)
    assert {d.reason for d in found} == {"reference", "kept", "exact", "near"}
    plan = {"sample": 4, "least": least_sampled(0.7, 4, 0.9), "threshold": 0.7, "measure": "containment", "width": 1}
    encoded = [text.encode() for text in texts]
    same = {"references": 30, "keep": "longest", "rule": Rule(6), "empty": "drop"} | plan
    assert dedup(encoded, **same) == found
    for other in ({"rule": Rule(10**6)}, {"rule": Rule(6, heads=0)}, {"least": 4}, {"sample": 8}, {"floor": 0.5}):
        assert dedup(encoded, **same | other) != found, other


def test_contained_texts_of_other_authors_are_found_in_crowds(small_samples):
    """All shingles of a text are crowded, and the first who have them match nobody: its equal is a candidate all the same."""
    block = [f"b{i}" for i in range(20)]
    texts = [" ".join([*block, *(f"p{page}x{i}" for i in range(60))]) for page in range(12)] + 3 * [" ".join(block)]
    corpus, authors = [(i, g, 0) for i, g in enumerate([0] * 12 + [1, 1, 2])], pa.array(["a", "b", "c", "d"])
    given = {"texts": texts, "rule": Rule(2), "width": 1, "threshold": 0.8, "floor": 0.5, "keep": "longest", "seed": 1}
    found = check(corpus, 0, None, pa.array([None] * 4), across=authors, measure="containment", recall=0.9, **given)
    assert [e.reason for e in found] == ["kept"] * 14 + ["near"] and found[-1].keeper == 12


def records(n, values=3, common=12):
    """Records of one template: crowds in every band, in which heads and rare codes find some pairs, and not all."""
    rng = random.Random(1)
    template = [f"t{i}" for i in range(common)]
    return [" ".join(template + [f"f{i}v{rng.randrange(values)}" for i in range(8)]) for _ in range(n)]


def compare(texts, references, rule, **chosen):
    corpus = [(i, 0, 0) for i in range(len(texts))]
    return check(corpus, references, None, pa.array([None]), rule, texts=texts, empty="drop", width=1, **chosen)


def test_decisions_of_every_kind():
    for keep, kinds in (("first", {"reference", "kept", "exact", "near", "empty"}), ("last", {"reference", "kept", "near"})):
        texts = [*TEXTS, *TEXTS] if keep == "first" else TEXTS[3:]
        found = compare(texts, 30, Rule(10**6), threshold=0.5, keep=keep, seed=1, banding=(8, 1))
        assert {d.reason for d in found} == kinds
        assert sum(d.score == 1.0 for d in found if d.reason == "near") > 10


def test_crowds():
    """Heads, codes, couples of codes and budget each change what is decided here (the first holders of a code are heads too)."""
    plan = {"bands": 4, "rows": 6, "least": least_codes(0.8, 4, 6)}
    for texts, others in (
        (records(400), ({"max_bucket": 10**6}, {"heads": 0}, {"codes": 0}, {"budget": 0})),
        (records(800, values=5, common=24), ({"coupled": 0}, {"coupled": 3}, {"coupled": 5}, {"code_heads": 3})),
    ):
        found = compare(texts, 60, Rule(6), threshold=0.8, keep="first", seed=1, banding=(4, 6))
        encoded = [text.encode() for text in texts]
        for other in others:
            rule = Rule(6)._replace(**other)
            assert dedup(encoded, references=60, threshold=0.8, width=1, **plan, rule=rule) != found, other
