"""Keys of the tests: insecure ones, the same on each machine."""

import pytest

import rsalab
from rsalab import insecure

pytest_plugins = ["rsalab.pytest_plugin"]


@pytest.fixture(scope="session")
def key() -> rsalab.PrivateKey:
    return insecure.key(2048, 1)


@pytest.fixture(scope="session")
def small() -> rsalab.PrivateKey:
    return insecure.key(1024, 1)
