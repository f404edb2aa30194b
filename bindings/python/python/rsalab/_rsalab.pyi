from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from types import TracebackType
from typing import Literal, Protocol, SupportsIndex, TypeAlias, final

from cryptography.hazmat.primitives.asymmetric import rsa
from typing_extensions import Buffer, Self

from .errors import Error

__all__ = [
    "BlindClient",
    "BlindState",
    "KeyGenerator",
    "OAEP",
    "PKCS1v15",
    "PSS",
    "PrivateKey",
    "PublicKey",
    "__version__",
    "blind_sign_many",
    "blind_variants",
    "decrypt_many",
    "encrypt_many",
    "generate",
    "generate_many",
    "hashes",
    "insecure_key",
    "kernel",
    "load_private_key",
    "load_private_keys",
    "load_public_key",
    "screen_many",
    "sign_many",
    "verify_many",
]

__version__: str
blind_variants: list[str]
hashes: list[str]
kernel: str

class _Named(Protocol):
    @property
    def name(self) -> str: ...

_Hash: TypeAlias = str | _Named
_Items: TypeAlias = Iterable[Buffer] | Buffer
_SignaturePadding: TypeAlias = Literal["pss", "pkcs1v15"] | PSS | PKCS1v15
_EncryptionPadding: TypeAlias = Literal["oaep", "pkcs1v15"] | OAEP | PKCS1v15

@final
class PKCS1v15:
    def __new__(cls) -> Self: ...
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class PSS:
    def __new__(
        cls,
        salt_length: SupportsIndex | Literal["digest", "max", "auto"] = "digest",
        *,
        mgf_hash: _Hash | None = None,
    ) -> Self: ...
    @property
    def salt_length(self) -> int | Literal["digest", "max", "auto"]: ...
    @property
    def mgf_hash(self) -> str | None: ...
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class OAEP:
    def __new__(
        cls, hash: _Hash = "sha256", *, mgf_hash: _Hash | None = None, label: Buffer | None = None
    ) -> Self: ...
    @property
    def hash(self) -> str: ...
    @property
    def mgf_hash(self) -> str: ...
    @property
    def label(self) -> bytes: ...
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class PublicKey:
    @property
    def bits(self) -> int: ...
    @property
    def n(self) -> int: ...
    @property
    def e(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def fingerprint(self) -> str: ...
    def verify(
        self,
        signature: Buffer,
        data: Buffer,
        padding: _SignaturePadding = "pss",
        hash: _Hash = "sha256",
        *,
        prehashed: bool = False,
    ) -> None: ...
    def encrypt(self, plaintext: Buffer, padding: _EncryptionPadding = "oaep") -> bytes: ...
    def to_pem(self, *, format: Literal["spki", "pkcs1"] = "spki") -> bytes: ...
    def to_der(self, *, format: Literal["spki", "pkcs1"] = "spki") -> bytes: ...
    def to_jwk(self) -> str: ...
    def to_openssh(self, comment: str = "") -> bytes: ...
    def to_cryptography(self) -> rsa.RSAPublicKey: ...
    @staticmethod
    def from_cryptography(key: rsa.RSAPublicKey) -> PublicKey: ...
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class PrivateKey:
    @property
    def bits(self) -> int: ...
    @property
    def n(self) -> int: ...
    @property
    def e(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def primes(self) -> int: ...
    @property
    def fingerprint(self) -> str: ...
    @property
    def closed(self) -> bool: ...
    def public_key(self) -> PublicKey: ...
    def sign(
        self,
        data: Buffer,
        padding: _SignaturePadding = "pss",
        hash: _Hash = "sha256",
        *,
        prehashed: bool = False,
    ) -> bytes: ...
    def decrypt(self, ciphertext: Buffer, padding: _EncryptionPadding = "oaep") -> bytes: ...
    def check(self, rounds: SupportsIndex = 64) -> None: ...
    def to_pem(self, password: Buffer | None = None, *, format: Literal["pkcs8", "pkcs1"] = "pkcs8") -> bytes: ...
    def to_der(self, password: Buffer | None = None, *, format: Literal["pkcs8", "pkcs1"] = "pkcs8") -> bytes: ...
    def to_jwk(self) -> str: ...
    def to_openssh(self, comment: str = "") -> bytes: ...
    def to_cryptography(self) -> rsa.RSAPrivateKey: ...
    @staticmethod
    def from_cryptography(key: rsa.RSAPrivateKey, *, rounds: SupportsIndex = 0) -> PrivateKey: ...
    def close(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        *_exception: type[BaseException] | BaseException | TracebackType | None,
    ) -> None: ...

@final
class KeyGenerator(Iterator[PrivateKey]):
    def __iter__(self) -> Self: ...
    def __next__(self) -> PrivateKey: ...
    def __length_hint__(self) -> int: ...
    def close(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        *_exception: type[BaseException] | BaseException | TracebackType | None,
    ) -> None: ...

@final
class BlindState:
    @property
    def prefix(self) -> bytes: ...
    def to_bytes(self) -> bytes: ...

@final
class BlindClient:
    def __new__(cls, key: PublicKey, variant: str = "RSABSSA-SHA384-PSS-Randomized") -> Self: ...
    @property
    def variant(self) -> str: ...
    def blind_many(self, messages: _Items) -> tuple[list[bytes], list[BlindState]]: ...
    def finalize_many(
        self, messages: _Items, states: Sequence[BlindState], answers: Sequence[Buffer | None]
    ) -> list[bytes | None]: ...
    def verify_many(self, messages: _Items, signatures: _Items, prefixes: _Items | None = None) -> list[bool]: ...
    def load_state(self, data: Buffer) -> BlindState: ...

def blind_sign_many(
    key: PrivateKey,
    blinded: _Items,
    variant: str = "RSABSSA-SHA384-PSS-Randomized",
    *,
    threads: SupportsIndex | None = None,
) -> list[bytes | None]: ...
def load_private_key(
    data: Buffer,
    password: Buffer | None = None,
    *,
    rounds: SupportsIndex = 8,
    max_bits: SupportsIndex = 8192,
    name: str | None = None,
) -> PrivateKey: ...
def load_public_key(
    data: Buffer,
    password: Buffer | None = None,
    *,
    max_bits: SupportsIndex = 8192,
    name: str | None = None,
) -> PublicKey: ...
def load_private_keys(
    sources: Iterable[Buffer | str | PathLike[str]],
    password: Buffer | None = None,
    *,
    rounds: SupportsIndex = 8,
    max_bits: SupportsIndex = 8192,
    threads: SupportsIndex | None = None,
) -> list[PrivateKey | Error | OSError]: ...
def generate(bits: SupportsIndex = 2048, e: SupportsIndex = 65537, *, primes: SupportsIndex = 2) -> PrivateKey: ...
def generate_many(
    count: SupportsIndex,
    bits: SupportsIndex | Iterable[SupportsIndex] = 2048,
    e: SupportsIndex = 65537,
    *,
    primes: SupportsIndex = 2,
    threads: SupportsIndex | None = None,
) -> KeyGenerator: ...
def insecure_key(seed: Buffer, number: int, bits: SupportsIndex) -> PrivateKey: ...
def sign_many(
    key: PrivateKey | Iterable[PrivateKey],
    messages: _Items,
    padding: _SignaturePadding = "pss",
    hash: _Hash = "sha256",
    *,
    prehashed: bool = False,
    threads: SupportsIndex | None = None,
) -> list[bytes]: ...
def verify_many(
    key: PublicKey | PrivateKey | Iterable[PublicKey | PrivateKey],
    messages: _Items,
    signatures: _Items,
    padding: _SignaturePadding = "pss",
    hash: _Hash = "sha256",
    *,
    prehashed: bool = False,
    threads: SupportsIndex | None = None,
) -> list[bool]: ...
def screen_many(
    key: PublicKey | PrivateKey,
    messages: _Items,
    signatures: _Items,
    hash: _Hash = "sha256",
    *,
    prehashed: bool = False,
    threads: SupportsIndex | None = None,
) -> list[bool]: ...
def encrypt_many(
    key: PublicKey | PrivateKey | Iterable[PublicKey | PrivateKey],
    messages: _Items,
    padding: _EncryptionPadding = "oaep",
    *,
    threads: SupportsIndex | None = None,
) -> list[bytes]: ...
def decrypt_many(
    key: PrivateKey,
    ciphertexts: _Items,
    padding: _EncryptionPadding = "oaep",
    *,
    threads: SupportsIndex | None = None,
) -> list[bytes | None]: ...
