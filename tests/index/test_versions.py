"""Parameters that the first version of the format lacks: who knows them reads them, and nobody else does."""

import json
import sys
from pathlib import Path

import pytest

import lookalike as la
from lookalike.index import manifest

sys.path.insert(0, str(Path(__file__).parent))
from test_hostile import WRONG, write_manifest


@pytest.mark.parametrize("given", [{"kind": "simhash", "probes": 23}, {"bits": 2, "slots": 64}])
def test_parameters_that_version_1_lacks_are_held_against_rules(tmp_path, given):
    """They have no default that could be left out, and no reader of version 1 may think that it knows them."""
    la.Index.create(tmp_path / "x", **given).close()
    whole = (tmp_path / "x/manifest").read_bytes()
    for field in set(given) - {"kind"} | {"version"}:
        for value in [*WRONG, 10**9, 0, 1 if field == "version" else 3.0]:
            for remove in (False, True) if field != "probes" else (False,):  # without probes it is an exact index

                def change(held, field=field, value=value, remove=remove):
                    place = held if field == "version" else held["parameters"]
                    place.pop(field) if remove else place.update({field: value})

                write_manifest(tmp_path / "x", change)
                with pytest.raises(la.IndexFormatError):
                    la.Index.open(tmp_path / "x")
                (tmp_path / "x/manifest").write_bytes(whole)


def test_old_files_are_what_they_were_and_old_readers_refuse_new_ones(tmp_path, monkeypatch):
    for name, given, version in (
        ("a", {}, 1), ("b", {"kind": "simhash"}, 1), ("c", {"kind": "simhash", "probes": 23}, 2), ("d", {"bits": 8}, 2),
        ("e", {"bits": 16, "slots": 256}, 1),
    ):  # fmt: skip
        la.Index.create(tmp_path / name, **given).close()
        held = json.loads((tmp_path / name / "manifest").read_bytes()[9:])
        assert held["version"] == version
        assert ({"probes", "bits", "slots"} & set(held["parameters"]) != set()) == (version == 2)
    monkeypatch.setattr(manifest, "VERSION", 1)
    with pytest.raises(la.IndexFormatError, match="format version 2 is newer than 1, the newest known here; upgrade"):
        la.Index.open(tmp_path / "c")
    la.Index.open(tmp_path / "b").close()
