"""Fixtures for pytest: INSECURE keys that are the same on each machine, and take milliseconds.

pytest loads this module wherever the wheel is installed, for every run of tests. So it stands outside of the package,
which is imported when a test asks for a key: a run that asks for none neither pays for it nor fails with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from rsalab import PrivateKey

__all__ = ["rsa_key", "rsa_keys"]


@pytest.fixture(scope="session")
def rsa_key() -> PrivateKey:
    """An INSECURE private key of 2048 bits, for tests alone."""
    from rsalab import insecure

    return insecure.key()


@pytest.fixture(scope="session")
def rsa_keys() -> Callable[..., list[PrivateKey]]:
    """INSECURE private keys, for tests alone: rsa_keys(count, bits=2048) returns a list."""
    from rsalab import insecure

    return insecure.keys
