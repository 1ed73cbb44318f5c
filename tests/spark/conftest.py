import pytest
from spark.cluster_runs import Run
from spark_session import session


@pytest.fixture(scope="session")
def cluster():
    return session()


@pytest.fixture(autouse=True)
def _no_drivers_left():
    yield
    Run.end_all()
