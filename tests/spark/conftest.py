"""What tests on a cluster have in common."""

import pytest
from spark.cluster_runs import Run
from spark_session import session


@pytest.fixture(scope="session")
def cluster():
    return session()


@pytest.fixture(autouse=True)
def _no_drivers_left():
    """Drivers that a test started end with it."""
    yield
    Run.end_all()
