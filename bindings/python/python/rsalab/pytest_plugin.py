"""The fixtures rsa_key and rsa_keys, where the package was not installed from its wheel, with which pytest finds them.

In a conftest.py: pytest_plugins = ["rsalab.pytest_plugin"]
"""

from rsalab_pytest import rsa_key, rsa_keys

__all__ = ["rsa_key", "rsa_keys"]
