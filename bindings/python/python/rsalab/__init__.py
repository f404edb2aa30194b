"""RSA keys, signatures and encryption, many at once in the lanes of the CPU.

    import rsalab

    key = rsalab.generate(2048)                            # or load_private_key(open("key.pem", "rb").read())
    signature = key.sign(b"a message", "pss", "sha256")
    key.public_key().verify(signature, b"a message", "pss", "sha256")

    signatures = rsalab.sign_many(key, messages)           # a list, in order
    valid = rsalab.verify_many(key, messages, signatures)  # a list of bool

Private operations are blinded, run in constant time, and their results are checked before they are returned. Every
exception is a subclass of rsalab.Error, but for TypeError, and for OSError of files that cannot be read or written.
rsalab.jwt has RSA's algorithms for PyJWT, rsalab.study measures RSA libraries, and rsalab.engine lets one that is
written in Python take part.
"""

from .jwk import jwk_set
from .keyfiles import generate_folder, write_jwk_set
from .errors import (
    ArgumentError,
    ClosedError,
    DecryptionError,
    Error,
    ExtraMissingError,
    FaultError,
    ForkedError,
    InternalError,
    InvalidKeyError,
    InvalidSignature,
    LengthError,
    PasswordMissingError,
    PasswordWrongError,
    ProgramError,
    ProgramNotFoundError,
    RandomnessError,
    RestrictedKeyError,
    SchemeError,
    UnsupportedKeyError,
)
from ._rsalab import (
    OAEP,
    PSS,
    KeyGenerator,
    PKCS1v15,
    PrivateKey,
    PublicKey,
    __version__,
    decrypt_many,
    encrypt_many,
    generate,
    generate_many,
    hashes,
    kernel,
    load_private_key,
    load_private_keys,
    load_public_key,
    screen_many,
    sign_many,
    verify_many,
)

__all__ = [
    "OAEP",
    "PSS",
    "ArgumentError",
    "ClosedError",
    "DecryptionError",
    "Error",
    "ExtraMissingError",
    "FaultError",
    "ForkedError",
    "InternalError",
    "InvalidKeyError",
    "InvalidSignature",
    "KeyGenerator",
    "LengthError",
    "PKCS1v15",
    "PasswordMissingError",
    "PasswordWrongError",
    "PrivateKey",
    "ProgramError",
    "ProgramNotFoundError",
    "PublicKey",
    "RandomnessError",
    "RestrictedKeyError",
    "SchemeError",
    "UnsupportedKeyError",
    "__version__",
    "decrypt_many",
    "encrypt_many",
    "generate",
    "generate_folder",
    "generate_many",
    "hashes",
    "jwk_set",
    "kernel",
    "load_private_key",
    "load_private_keys",
    "load_public_key",
    "screen_many",
    "sign_many",
    "verify_many",
    "write_jwk_set",
]
