"""Keep policies: what order each list of them means, and which are refused."""

import pytest
from json_lines import write_lines

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
    for keep in ORDERS:
        assert KeepOrder.of(keep).by == ORDERS[keep]


def test_columns_and_values():
    found = KeepOrder.of("a: x ,1;largest:b ; c d:y").priorities
    assert found == (Priority("a", ("x", "1")), Priority("b"), Priority("c d", ("y",)))


def test_what_cannot_be_meant_is_refused():
    for keep in REFUSED:
        with pytest.raises(la.errors.ParameterError, match=REFUSED[keep]):
            la.Settings(keep=keep)


def test_typed_policies_mean_what_the_command_line_writes():
    assert {text: la.Settings(keep=keep).keep for text, keep in TYPED.items()} == {text: text for text in TYPED}
    for wrong in (("largest", "a;b"), ("largest",), ("largest", 1), {"of": ["x,y"]}, {"of": []}, {"a:b": ["c"]}, []):
        with pytest.raises(la.errors.ParameterError, match="^keep"):
            la.Settings(keep=wrong)


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_values_are_text_or_what_text_reads_as(form, tmp_path):
    """Each text is alike; who is kept shows whose value comes first."""
    text = "the same text for all of them"
    values = ["other", "2", "true", "", "1.0"] if form == "csv" else ["other", 2, True, None, 1]
    path = tmp_path / f"in.{form}"
    if form == "csv":
        path.write_text("text,v\n" + "".join(f"{text},{v}\n" for v in values))
    else:
        write_lines(path, ({"text": text, "v": v} for v in values))
    for keep, kept in (("v:1,2", 4), ("v:true", 2), ("v:3", 0), ("v:2.0,1", 1), ("v:3; last", 4), ("v:true,other; last", 2)):
        assert la.dedup(path, keep=keep).keep.tolist().index(True) == kept, keep
