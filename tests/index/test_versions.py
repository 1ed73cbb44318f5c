"""Parameters without a default are held against rules like all others."""

import sys
from pathlib import Path

import pytest

import lookalike as la

sys.path.insert(0, str(Path(__file__).parent))
from test_hostile import WRONG, write_manifest


@pytest.mark.parametrize("given", [{"kind": "simhash", "probes": 23}, {"bits": 2, "slots": 64}])
def test_parameters_without_a_default_are_held_against_rules(tmp_path, given):
    la.Index.create(tmp_path / "x", **given).close()
    whole = (tmp_path / "x/manifest").read_bytes()
    for field in set(given) - {"kind"} | {"version"}:
        for value in [*WRONG, 10**9, 0, 3.0]:
            for remove in (False, True) if field != "probes" else (False,):  # without probes it is an exact index

                def change(held, field=field, value=value, remove=remove):
                    place = held if field == "version" else held["parameters"]
                    place.pop(field) if remove else place.update({field: value})

                write_manifest(tmp_path / "x", change)
                with pytest.raises(la.IndexFormatError):
                    la.Index.open(tmp_path / "x")
                (tmp_path / "x/manifest").write_bytes(whole)
