"""The settings of all other tests."""

from conftest import _same_secrets, _wrapping_integers, data, rng  # noqa: F401
