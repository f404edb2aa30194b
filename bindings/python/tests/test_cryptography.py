"""What the package cryptography makes is taken here, and the other way round."""

from typing import Any

import pytest

import rsalab
from rsalab import OAEP, PSS, insecure

pytest.importorskip("cryptography")
pytest.importorskip("hypothesis")

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa, utils
from hypothesis import given, settings
from hypothesis import strategies as st

HASHES = [
    hashes.SHA224(), hashes.SHA256(), hashes.SHA384(), hashes.SHA512(), hashes.SHA512_224(), hashes.SHA512_256(),
    hashes.SHA3_224(), hashes.SHA3_256(), hashes.SHA3_384(), hashes.SHA3_512(),
]
KEYS = [insecure.key(2048, 5), insecure.key(1536, 5)]
THEIRS = [key.to_cryptography() for key in KEYS]

#: Its OAEP takes no others.
OAEP_HASHES = [hashes.SHA1(), hashes.SHA224(), hashes.SHA256(), hashes.SHA384(), hashes.SHA512()]

examples = settings(max_examples=60, deadline=None)
which = st.integers(0, len(KEYS) - 1)
a_hash = st.sampled_from(HASHES)
message = st.binary(max_size=300)


def both_paddings(draw: Any, hash: hashes.HashAlgorithm) -> tuple[Any, Any]:
    """The same padding, ours and theirs."""
    if draw(st.booleans()):
        return "pkcs1v15", padding.PKCS1v15()
    mgf = draw(st.one_of(st.none(), a_hash))
    theirs = padding.MGF1(mgf or hash)
    salt: Any = draw(st.one_of(st.integers(0, 40), st.sampled_from(["digest", "max"])))
    names: dict[Any, Any] = {"digest": padding.PSS.DIGEST_LENGTH, "max": padding.PSS.MAX_LENGTH}
    return PSS(salt, mgf_hash=mgf), padding.PSS(theirs, names.get(salt, salt))


@examples
@given(st.data(), which, a_hash, message)
def test_signatures(data: st.DataObject, which: int, hash: hashes.HashAlgorithm, message: bytes) -> None:
    key, theirs = KEYS[which], THEIRS[which]
    ours, their_padding = both_paddings(data.draw, hash)
    signature = theirs.sign(message, their_padding, hash)
    key.public_key().verify(signature, message, ours, hash)
    own = key.sign(message, ours, hash)
    theirs.public_key().verify(own, message, their_padding, hash)
    if ours == "pkcs1v15":
        assert own == signature
    spoilt = bytearray(own)
    spoilt[data.draw(st.integers(0, len(spoilt) - 1))] ^= data.draw(st.integers(1, 255))
    with pytest.raises(rsalab.InvalidSignature):
        key.public_key().verify(spoilt, message, ours, hash)
    with pytest.raises(InvalidSignature):
        theirs.public_key().verify(bytes(spoilt), message, their_padding, hash)


@examples
@given(which, a_hash, st.lists(message, max_size=40), st.integers(1, 3))
def test_many_signatures(which: int, hash: hashes.HashAlgorithm, messages: list[bytes], threads: int) -> None:
    key, public = KEYS[which], THEIRS[which].public_key()
    signatures = rsalab.sign_many(key, messages, "pss", hash, threads=threads)
    their_padding = padding.PSS(padding.MGF1(hash), padding.PSS.DIGEST_LENGTH)
    for message, signature in zip(messages, signatures, strict=True):
        public.verify(signature, message, their_padding, hash)
    theirs = [THEIRS[which].sign(message, their_padding, hash) for message in messages]
    assert rsalab.verify_many(key, messages, theirs, "pss", hash, threads=threads) == [True] * len(messages)


@examples
@given(which, st.binary(min_size=32, max_size=32))
def test_digests(which: int, digest: bytes) -> None:
    prehashed = utils.Prehashed(hashes.SHA256())
    signature = THEIRS[which].sign(digest, padding.PKCS1v15(), prehashed)
    assert KEYS[which].sign(digest, "pkcs1v15", prehashed=True) == signature


@examples
@given(which, st.sampled_from(OAEP_HASHES), st.sampled_from(OAEP_HASHES), st.binary(max_size=20),
       st.binary(max_size=40))
def test_oaep(
    which: int, hash: hashes.HashAlgorithm, mgf: hashes.HashAlgorithm, label: bytes, message: bytes
) -> None:
    key, theirs = KEYS[which], THEIRS[which]
    ours = OAEP(hash, mgf_hash=mgf, label=label)
    their_padding = padding.OAEP(padding.MGF1(mgf), hash, label)
    assert key.decrypt(theirs.public_key().encrypt(message, their_padding), ours) == message
    assert theirs.decrypt(key.public_key().encrypt(message, ours), their_padding) == message
    assert key.decrypt(theirs.public_key().encrypt(message, padding.PKCS1v15()), "pkcs1v15") == message
    assert theirs.decrypt(key.public_key().encrypt(message, "pkcs1v15"), padding.PKCS1v15()) == message


@pytest.mark.parametrize("bits", [1024, 2048, 3072])
def test_their_keys_are_read(bits: int) -> None:
    theirs = rsa.generate_private_key(65537, bits)
    for encoding in (serialization.Encoding.PEM, serialization.Encoding.DER):
        for form in (serialization.PrivateFormat.PKCS8, serialization.PrivateFormat.TraditionalOpenSSL):
            written = theirs.private_bytes(encoding, form, serialization.NoEncryption())
            assert rsalab.load_private_key(written).n == theirs.public_key().public_numbers().n
        closed = theirs.private_bytes(
            encoding, serialization.PrivateFormat.PKCS8, serialization.BestAvailableEncryption(b"secret")
        )
        assert rsalab.load_private_key(closed, b"secret").bits == bits
    openssh = theirs.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.OpenSSH, serialization.NoEncryption()
    )
    assert rsalab.load_private_key(openssh).n == theirs.private_numbers().public_numbers.n


def test_our_keys_are_read() -> None:
    key = insecure.key(2048, 3)
    numbers = key.to_cryptography().private_numbers()
    assert numbers.public_numbers.n == key.n and numbers.p * numbers.q == key.n
    for written in (key.to_pem(), key.to_pem(format="pkcs1")):
        theirs: Any = serialization.load_pem_private_key(written, None)
        assert theirs.private_numbers() == numbers
    assert serialization.load_ssh_private_key(key.to_openssh(), None).private_numbers() == numbers  # type: ignore
    closed = serialization.load_pem_private_key(key.to_pem(b"secret"), b"secret")
    assert closed.private_numbers() == numbers  # type: ignore[union-attr]
    public = key.public_key()
    for theirs in (
        serialization.load_pem_public_key(public.to_pem()),
        serialization.load_der_public_key(public.to_der()),
        serialization.load_ssh_public_key(public.to_openssh()),
        public.to_cryptography(),
    ):
        assert theirs.public_numbers() == numbers.public_numbers


def test_a_version_that_always_tests_primes_takes_our_keys_too(monkeypatch: pytest.MonkeyPatch) -> None:
    new = serialization.load_der_private_key

    # As in version 38, which Debian 12 has.
    def old(data: bytes, password: bytes | None, backend: Any = None) -> Any:
        return new(data, password)

    monkeypatch.setattr(serialization, "load_der_private_key", old)
    key = insecure.key(1024, 4)
    assert key.to_cryptography().public_key().public_numbers().n == key.n


def test_objects_go_both_ways() -> None:
    key = insecure.key(2048, 4)
    there = key.to_cryptography()
    back = rsalab.PrivateKey.from_cryptography(there)
    assert back.to_der() == key.to_der()
    assert rsalab.PrivateKey.from_cryptography(there, rounds=8).n == key.n
    with pytest.raises(rsalab.ArgumentError):
        rsalab.PrivateKey.from_cryptography(there, rounds=1025)
    assert rsalab.PublicKey.from_cryptography(there.public_key()) == key.public_key()
    for strange in (None, 3, b"key", there.public_key()):
        with pytest.raises(TypeError):
            rsalab.PrivateKey.from_cryptography(strange)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        rsalab.PublicKey.from_cryptography(there)  # type: ignore[arg-type]
    from cryptography.hazmat.primitives.asymmetric import ec

    with pytest.raises(rsalab.UnsupportedKeyError):
        rsalab.PrivateKey.from_cryptography(ec.generate_private_key(ec.SECP256R1()))  # type: ignore[arg-type]
