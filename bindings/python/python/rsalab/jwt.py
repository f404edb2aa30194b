"""RSA's algorithms for PyJWT, which must be installed.

    import rsalab.jwt

    rsalab.jwt.register()                            # once, at the start
    jwt.encode(claims, private_pem, algorithm="RS256")

Nothing else of a program changes. Keys may be PEM, as before, or keys of rsalab or of cryptography. PyJWT reads a PEM
anew for each token; here the last keys are kept, a PEM by the digest of its text and an object of cryptography as it
is, and read once. What is wrong with a key is an exception of PyJWT.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Literal, cast, overload

import jwt
from jwt.algorithms import Algorithm
from jwt.exceptions import InvalidKeyError as InvalidJwtKeyError

from ._rsalab import PrivateKey, PublicKey, load_private_key, load_public_key
from .errors import ArgumentError, Error, InvalidKeyError, InvalidSignature, RestrictedKeyError, SchemeError

__all__ = ["algorithm", "register"]

_NAMES = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")
_LEAST_BITS = 2048

_Key = PrivateKey | PublicKey


def algorithm(name: str, *, rounds: int = 8, cache: int = 16) -> Algorithm:
    """An algorithm for jwt.register_algorithm: RS256, RS384, RS512, PS256, PS384 or PS512.

    rounds: of the test of the primes of a private key in PEM, when it is read.
    cache: how many keys in PEM or of cryptography are kept; 0 to read each of them for each token.
    """
    if name not in _NAMES:
        raise ArgumentError(f"an algorithm is one of {', '.join(_NAMES)}")
    return _Rsa(name, rounds, cache)


def register(*names: str, rounds: int = 8, cache: int = 16) -> None:
    """Puts algorithms, by default all of RSA's, in the place of PyJWT's own.

    That is for jwt.encode, jwt.decode and other functions of the module; an object of the program's own takes
    algorithm(), by its method register_algorithm.
    """
    for name in names or _NAMES:
        new = algorithm(name, rounds=rounds, cache=cache)
        try:
            jwt.unregister_algorithm(name)
        except KeyError:
            # Without cryptography PyJWT has none.
            pass
        jwt.register_algorithm(name, new)


def _load(data: bytes, rounds: int) -> _Key:
    """The key in a file, private or public."""
    try:
        return load_private_key(data, rounds=rounds)
    except InvalidKeyError as refused:
        public = load_public_key(data)
        try:
            load_private_key(data, rounds=0)
        except InvalidKeyError:
            return public
        # Of a private key with a composite prime nothing is used.
        raise refused


def _converted(key: Any) -> _Key:
    """The key in an object of cryptography, or one of ours as it is."""
    if isinstance(key, _Key):
        return key
    if hasattr(key, "private_bytes"):
        return PrivateKey.from_cryptography(key)
    if hasattr(key, "public_bytes"):
        return PublicKey.from_cryptography(key)
    raise TypeError("a key is PEM, or a key of rsalab or of cryptography")


class _Rsa(Algorithm):
    def __init__(self, name: str, rounds: int, cache: int) -> None:
        self._padding: Literal["pss", "pkcs1v15"] = "pkcs1v15" if name.startswith("RS") else "pss"
        self._hash = "sha" + name[2:]
        self.hash_alg = getattr(hashlib, self._hash)
        self._rounds = rounds
        self._cache = cache
        self._keys: OrderedDict[bytes | int, tuple[object, _Key]] = OrderedDict()

    def prepare_key(self, key: Any) -> _Key:
        if isinstance(key, _Key):
            return key
        if isinstance(key, str):
            key = key.encode()
        try:
            if isinstance(key, bytes):
                data = key
                return self._kept(hashlib.sha256(data).digest(), None, lambda: _load(data, self._rounds))
            return self._kept(id(key), key, lambda: _converted(key))
        except Error as error:
            raise InvalidJwtKeyError(str(error)) from None

    def _kept(self, name: bytes | int, source: object, read: Callable[[], _Key]) -> _Key:
        """The key of this name, read if it is not kept. The object whose id is the name is kept with its key: the id
        would else become another's."""
        kept, key = self._keys.get(name, (None, None))
        if key is None or kept is not source or (isinstance(key, PrivateKey) and key.closed):
            key = read()
            self._keys[name] = source, key
            # One step of Python's each: threads may come side by side.
            while len(self._keys) > self._cache:
                try:
                    self._keys.popitem(last=False)
                except KeyError:
                    break
        return key

    def check_key_length(self, key: Any) -> str | None:
        if isinstance(key, _Key) and key.bits < _LEAST_BITS:
            return f"The RSA key has {key.bits} bits, and should have {_LEAST_BITS} at least (NIST SP 800-131A)."
        return None

    def sign(self, msg: bytes, key: Any) -> bytes:
        if not isinstance(key, PrivateKey):
            raise TypeError("a token is signed with a private key")
        try:
            return key.sign(msg, self._padding, self._hash)
        except Error as error:
            raise InvalidJwtKeyError(str(error)) from error

    def verify(self, msg: bytes, key: Any, sig: bytes) -> bool:
        if isinstance(key, PrivateKey):
            key = key.public_key()
        try:
            key.verify(sig, msg, self._padding, self._hash)
        # Who sends a token chooses its algorithm: one that does not suit the key has not signed it.
        except (InvalidSignature, RestrictedKeyError, SchemeError):
            return False
        return True

    @overload
    @staticmethod
    def to_jwk(key_obj: Any, as_dict: Literal[True]) -> dict[str, Any]: ...
    @overload
    @staticmethod
    def to_jwk(key_obj: Any, as_dict: Literal[False] = False) -> str: ...
    @staticmethod
    def to_jwk(key_obj: Any, as_dict: bool = False) -> dict[str, Any] | str:
        try:
            text = _converted(key_obj).to_jwk()
        except Error as error:
            raise InvalidJwtKeyError(str(error)) from None
        return cast("dict[str, Any]", json.loads(text)) if as_dict else text

    @staticmethod
    def from_jwk(jwk: str | dict[str, Any]) -> _Key:
        text = jwk if isinstance(jwk, str) else json.dumps(jwk)
        try:
            return _load(text.encode(), 8)
        except Error as error:
            raise InvalidJwtKeyError(str(error)) from None
