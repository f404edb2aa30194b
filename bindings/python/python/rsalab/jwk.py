"""Sets of JSON Web Keys (RFC 7517, section 5)."""

from __future__ import annotations

from collections.abc import Iterable

from ._rsalab import PrivateKey, PublicKey

__all__ = ["jwk_set"]


def jwk_set(keys: Iterable[PrivateKey | PublicKey], *, public: bool = False) -> str:
    """Keys as a set of JSON Web Keys: text, a key a line. public: the public halves alone."""
    own = (key.public_key() if public and isinstance(key, PrivateKey) else key for key in keys)
    return '{"keys":[\n' + ",\n".join(key.to_jwk() for key in own) + "\n]}\n"
