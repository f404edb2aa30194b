"""What goes wrong, as exceptions. No message repeats what a file or a message holds.

Most are also the built-in exception that other packages raise in the same place, so that code which catches
ValueError goes on working.
"""

from __future__ import annotations

__all__ = [
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
    "LengthError",
    "PasswordMissingError",
    "PasswordWrongError",
    "ProgramError",
    "ProgramNotFoundError",
    "RandomnessError",
    "RestrictedKeyError",
    "SchemeError",
    "UnsupportedKeyError",
]


class Error(Exception):
    """Any error of this package."""


class ArgumentError(Error, ValueError):
    """An argument that has no meaning: an unknown name, or a number out of range."""


class InvalidKeyError(Error, ValueError):
    """These bytes are no RSA key, or a damaged or invalid one."""


class UnsupportedKeyError(Error, ValueError):
    """A key, or an encryption of its file, that may be good, and that this package does not work with."""


class PasswordMissingError(Error, TypeError):
    """The key is encrypted, and no password was given."""


class PasswordWrongError(Error, ValueError):
    """The password does not decrypt the key."""


class RestrictedKeyError(Error, ValueError):
    """The key is for something else, as its file says."""


class SchemeError(Error, ValueError):
    """A padding or a hash function does not suit the key or the message, or must not sign any more (SHA-1)."""


class LengthError(Error, ValueError):
    """Digests of the wrong length, or lists that do not have as many items as each other."""


class InvalidSignature(Error):
    """The signature is not that of the message."""


class DecryptionError(Error, ValueError):
    """The ciphertext does not decrypt. It is not said why."""


class FaultError(Error, RuntimeError):
    """A result failed its check and was withheld: the machine computes wrongly, or the key is damaged."""


class RandomnessError(Error, RuntimeError):
    """The system gives no random bytes."""


class ClosedError(Error, ValueError):
    """The private key is closed."""


class ForkedError(Error, RuntimeError):
    """The object belongs to the process that made it, of which this one is a fork."""


class InternalError(Error, RuntimeError):
    """An error in the package, or no thread could be started."""


class ProgramError(Error, RuntimeError):
    """The program rsalab failed. The attribute `code` is its exit code, as the page of commands lists them."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code

    def __reduce__(self) -> tuple[type[ProgramError], tuple[str, int]]:
        return ProgramError, (str(self), self.code)


class ProgramNotFoundError(Error, FileNotFoundError):
    """The program rsalab is not where it is looked for."""


class ExtraMissingError(Error, ImportError):
    """Something needs another package, which is not installed. The message names it."""
