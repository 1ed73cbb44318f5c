import pytest

import lookalike as la
from lookalike.errors import ParameterError
from lookalike.inputs.ids import document_keys


def test_keys_of_several_columns_are_unambiguous():
    """A null in one of them is no key."""
    assert len({*document_keys([[b"sab", b"sa"], [b"sc", b"sbc"]])}) == 2
    assert document_keys([[b"s", b""], [b"", b"s"]]) == [b"", b""]


def test_a_key_is_a_name_or_several():
    for key in (["url", ""], [1], 1):
        with pytest.raises(ParameterError, match="^key"):
            la.Settings(key=key)
    for key, held in (([], None), (["a", "b"], ("a", "b")), ("url", "url")):
        assert la.Settings(key=key).key == la.Settings(key=key).to_dict().get("key") == held


def test_another_threshold_keeps_what_keys_removed():
    rows = [{"text": text, "url": url} for text, url in (("a b c d e f", 1), ("else", 1), ("a b c d e f g", None))]
    result = la.dedup(rows, key="url", evidence="all", width=1)
    assert result.rethreshold(0.9).decisions["reason"].to_pylist() == ["kept", "key", "kept"]
    assert result.groups.to_pylist() == [{"id": 0, "n_exact": 0, "n_duplicates": 2, "duplicates": [1, 2]}]
