"""Fixtures for pytest: INSECURE keys that are the same on each machine, and take milliseconds.

In a conftest.py: pytest_plugins = ["rsalab.pytest_plugin"]
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from . import insecure
from ._rsalab import PrivateKey


@pytest.fixture(scope="session")
def rsa_key() -> PrivateKey:
    """An INSECURE private key of 2048 bits, for tests alone."""
    return insecure.key()


@pytest.fixture(scope="session")
def rsa_keys() -> Callable[..., list[PrivateKey]]:
    """INSECURE private keys, for tests alone: rsa_keys(count, bits=2048) returns a list."""
    return insecure.keys
