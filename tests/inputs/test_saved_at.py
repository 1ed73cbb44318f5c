"""What a store says of the files that saved sketches rest on."""

from semblance.files.places import place_of
from semblance.inputs import saved_at


def test_times_are_compared_to_the_second(bucket, tmp_path):
    """By a list some stores tell them finer than of one file."""
    (bucket / "a").write_bytes(b"1")
    place = place_of(bucket / "a", "a", "a")
    said = {"bytes": 1, "modified_ns": place.modified_ns + 999_000_000}
    assert saved_at.is_as_it_was(place, said)
    assert not saved_at.is_as_it_was(place, said | {"bytes": 2})
    assert not saved_at.is_as_it_was(place, said | {"modified_ns": place.modified_ns + 10**9})
    (tmp_path / "a").write_bytes(b"1")
    place = place_of(tmp_path / "a", "a", "a")
    assert not saved_at.is_as_it_was(place, {"bytes": 1, "modified_ns": place.modified_ns + 1})
