import atexit
import gc
import os
import shutil
import tempfile
from pathlib import Path
from random import Random

import numpy as np
import object_store
import pytest
from hypothesis import settings

# What tests draw at random is the same in each run. Another seed draws otherwise, and runs them in another order.
SEED = str(int(os.environ.get("LOOKALIKE_TEST_SEED", "0")))
os.urandom = Random(SEED).randbytes
os.fsync = os.fstat  # nothing here outlives the machine: a disk is not waited for; what syncs, and when, tests see all the same

os.environ["XDG_CACHE_HOME"] = os.devnull  # constants of this machine must not change what tests see
os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="lookalike-tests-")  # nor tests the state of who runs them
atexit.register(shutil.rmtree, os.environ["XDG_STATE_HOME"], True)

settings.register_profile("lookalike", deadline=None, derandomize=SEED == "0", max_examples=60)
settings.load_profile("lookalike")

pytest_plugins = ["job_files", "job_inputs", "weekly"]

DATA = Path(__file__).parents[2] / "shared/data"


def pytest_configure(config):
    """A failure shows which case of a loop it was."""
    config.option.showlocals = True


def pytest_collection_modifyitems(config, items):
    """Tests on a cluster take their time, and are run apart: ``make test-spark``."""
    if SEED != "0":
        items.sort(key=lambda item: (Random(f"{SEED} {item.path}").random(), Random(f"{SEED} {item.nodeid}").random()))
    if "spark" not in config.option.markexpr:
        left_out = [item for item in items if item.get_closest_marker("spark")]
        items[:] = [item for item in items if not item.get_closest_marker("spark")]
        config.hook.pytest_deselected(items=left_out)


def pytest_collection_finish():
    """What all tests import is not searched for garbage again and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _same_secrets(request, monkeypatch):
    """Secrets that a test draws in this process do not depend on the tests before it."""
    monkeypatch.setattr(os, "urandom", Random(f"{SEED} {request.node.nodeid}").randbytes)


@pytest.fixture
def rng():
    return np.random.default_rng(20240817)


@pytest.fixture
def bucket():
    with object_store.environment():
        yield object_store.new_bucket()


@pytest.fixture(scope="module")
def browser():
    from browsers import launched  # here, as few tests need it

    with launched() as made:
        yield made


@pytest.fixture
def data():
    if not DATA.is_dir():
        pytest.skip("the real corpora lie beside the repository, and are absent here")
    return DATA
