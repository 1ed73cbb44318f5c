from json_lines import write_lines
from raising import assert_raises

import lookalike as la
from lookalike.inputs.keep_order import KeepOrder, Priority

ORDERS = {
    "first": ("position",),
    "last": ("-position",),
    " longest ": ("-bytes", "position"),
    "shortest;last": ("bytes", "-position"),
    "longest; shortest; first": ("-bytes", "position"),
    "largest:a:b; smallest:c": ("-priority", "priority_1", "position"),
    "source:x; largest:source; longest": ("priority", "-priority_1", "-bytes", "position"),
}
REFUSED = {
    "first; longest": "keep: 'longest' cannot decide anything after first or last, which leave no ties; got 'first; longest'",
    "last;first": "'first' cannot decide anything",
    "": "must be one of first, last, .*; got ''$",
    "longest;": "got '' in 'longest;'$",
    "best": "largest:COLUMN, smallest:COLUMN, COLUMN:VALUE,VALUE,..., or several of them, separated by ';'; got 'best'$",
    "largest": "got 'largest'$",
    "largst": "got 'largst'; did you mean 'largest'\\?$",
    "largest:": "got 'largest:'$",
    "longest:a": "got 'longest:a'$",
    ":a": "got ':a'$",
    "source:": "got 'source:'$",
    "source:a,": "keep: a value is missing in 'source:a,'; expected COLUMN:VALUE,VALUE",
    "longest; source:a, a": "keep: 'a' is listed twice in 'source:a, a'",
}
TYPED = {
    "largest:n": ("largest", "n"), "source:wiki,news": {"source": ["wiki", "news"]}, "source:wiki": {"source": "wiki"}, "last": ["last"],
    "source:wiki; largest:n; longest": [{"source": ["wiki"]}, ("largest", "n"), "longest"],
}  # fmt: skip
"""What type checkers know, by what it means."""


def test_policies_are_columns_to_rank_by():
    assert {keep: KeepOrder.of(keep).by for keep in ORDERS} == ORDERS
    found = KeepOrder.of("a: x ,1;largest:b ; c d:y").priorities
    assert found == (Priority("a", ("x", "1")), Priority("b"), Priority("c d", ("y",)))


def test_what_cannot_be_meant_is_refused():
    for keep, said in REFUSED.items():
        assert_raises(la.errors.ParameterError, said, la.Settings, keep=keep)
    for wrong in (("largest", "a;b"), ("largest",), ("largest", 1), {"of": ["x,y"]}, {"of": []}, {"a:b": ["c"]}, []):
        assert_raises(la.errors.ParameterError, "^keep", la.Settings, keep=wrong)
    assert {text: la.Settings(keep=keep).keep for text, keep in TYPED.items()} == {text: text for text in TYPED}


def test_values_are_text_or_what_text_reads_as(tmp_path):
    """Each text is alike; who is kept shows whose value comes first."""
    text = "the same text for all of them"
    values = ["other", 2, True, None, 1]
    write_lines(tmp_path / "in.jsonl", ({"text": text, "v": value} for value in values))
    lines = [f"{text},{value}\n" for value in ("v", "other", "2", "true", "", "1.0")]
    (tmp_path / "in.csv").write_text("".join(lines).replace(text, "text", 1))
    for name in ("in.jsonl", "in.csv"):
        for keep, kept in {"v:1,2": 4, "v:true": 2, "v:3": 0, "v:2.0,1": 1, "v:3; last": 4, "v:true,other; last": 2}.items():
            assert la.dedup(tmp_path / name, keep=keep).keep.tolist().index(True) == kept, keep
