"""What tests on a cluster have in common."""

import pytest
from spark_session import session


@pytest.fixture(scope="session")
def cluster():
    """The one session."""
    return session()
