"""The settings of all other tests."""

from conftest import _same_secrets, data, rng  # noqa: F401
