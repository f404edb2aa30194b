"""Keys: read, written, asked, closed."""

import copy
import gc
import json
import pickle
import sys
import weakref
from typing import Any

import pytest

import rsalab
from rsalab import insecure


def test_every_form_is_read_again(key: rsalab.PrivateKey) -> None:
    forms = [
        key.to_pem(),
        key.to_der(),
        key.to_pem(format="pkcs1"),
        key.to_der(format="pkcs1"),
        key.to_jwk().encode(),
        key.to_openssh("a comment"),
    ]
    for form in forms:
        for data in (form, bytearray(form), memoryview(form)):
            read = rsalab.load_private_key(data)
            assert (read.n, read.e, read.bits) == (key.n, key.e, 2048)
            assert read.to_der() == key.to_der()
            assert rsalab.load_public_key(data) == key.public_key()
    public = key.public_key()
    for form in (
        public.to_pem(),
        public.to_der(),
        public.to_pem(format="pkcs1"),
        public.to_der(format="pkcs1"),
        public.to_jwk().encode(),
        public.to_openssh(),
    ):
        assert rsalab.load_public_key(form) == public
        with pytest.raises(rsalab.InvalidKeyError):
            rsalab.load_private_key(form)


def test_a_password_opens_what_it_closed(small: rsalab.PrivateKey) -> None:
    for closed in (small.to_pem(b"secret"), small.to_der(bytearray(b"secret"))):
        assert rsalab.load_private_key(closed, b"secret").n == small.n
        with pytest.raises(rsalab.PasswordWrongError):
            rsalab.load_private_key(closed, b"another")
        with pytest.raises(rsalab.PasswordMissingError):
            rsalab.load_private_key(closed)
        # As code for other packages expects.
        with pytest.raises(TypeError):
            rsalab.load_private_key(closed)
    assert b"ENCRYPTED PRIVATE KEY" in small.to_pem(b"secret")
    with pytest.raises(rsalab.ArgumentError):
        small.to_pem(b"secret", format="pkcs1")


def test_numbers_and_names(key: rsalab.PrivateKey) -> None:
    public = key.public_key()
    assert (key.bits, key.size, key.e, key.primes) == (2048, 256, 65537, 2)
    assert (public.bits, public.size, public.e, public.n) == (2048, 256, 65537, key.n)
    assert key.n.bit_length() == 2048
    assert key.fingerprint == public.fingerprint and len(bytes.fromhex(key.fingerprint)) == 32
    assert repr(key) == "<rsalab.PrivateKey of 2048 bits>"
    assert repr(public) == "<rsalab.PublicKey of 2048 bits>"
    jwk = json.loads(key.to_jwk())
    assert jwk["kty"] == "RSA" and "d" in jwk
    assert "INSECURE" in jwk["comment"]
    assert "d" not in json.loads(public.to_jwk())


def test_public_keys_are_values(key: rsalab.PrivateKey, small: rsalab.PrivateKey) -> None:
    one, same, other = key.public_key(), rsalab.load_public_key(key.to_der()), small.public_key()
    assert one == same and hash(one) == hash(same) and one != other
    assert one != "a key" and len({one, same, other}) == 2
    assert key != rsalab.load_private_key(key.to_der())


def test_which_key_of_several_is_named() -> None:
    keys = insecure.keys(2, 512)
    of_set = json.dumps({"keys": [json.loads(key.to_jwk()) for key in keys]}).encode()
    for key in keys:
        assert rsalab.load_private_key(of_set, name=key.fingerprint).n == key.n
    with pytest.raises(rsalab.InvalidKeyError, match="2 keys"):
        rsalab.load_private_key(of_set)
    with pytest.raises(rsalab.InvalidKeyError):
        rsalab.load_private_key(of_set, name="nobody")


def test_a_closed_key_is_gone(key: rsalab.PrivateKey) -> None:
    own = rsalab.load_private_key(key.to_der())
    signature = own.sign(b"data")
    with own as same:
        assert same is own and not own.closed
    assert own.closed and "closed" in repr(own)
    own.close()
    calls: list[Any] = [
        lambda: own.sign(b"data"),
        lambda: own.decrypt(bytes(256)),
        lambda: own.to_pem(),
        lambda: own.to_der(),
        lambda: own.to_jwk(),
        lambda: own.to_openssh(),
        lambda: own.check(),
        lambda: own.primes,
        lambda: own.to_cryptography(),
        lambda: own.__enter__(),
        lambda: rsalab.sign_many(own, [b"data"]),
        lambda: rsalab.decrypt_many(own, [bytes(256)]),
    ]
    for call in calls:
        with pytest.raises(rsalab.ClosedError):
            call()
    # The public half is nobody's secret.
    own.public_key().verify(signature, b"data")
    assert rsalab.verify_many(own, [b"data"], [signature]) == [True]


def test_keys_do_not_travel(key: rsalab.PrivateKey) -> None:
    for travel in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError):
            travel(key)
    for made_up in (rsalab.PrivateKey, rsalab.PublicKey, rsalab.KeyGenerator):
        with pytest.raises(TypeError):
            made_up()
    with pytest.raises(AttributeError):
        key.bits = 3  # type: ignore[misc]


def test_keys_are_freed(small: rsalab.PrivateKey) -> None:
    own = rsalab.load_private_key(small.to_der())
    there = weakref.ref(own)
    del own
    gc.collect()
    assert there() is None


NO_KEYS = [b"", b"no key", bytes(1000), b"\xff" * 100, b"{}", b"[]", b"-----BEGIN PRIVATE KEY-----\n"]


@pytest.mark.parametrize("data", NO_KEYS)
def test_what_is_no_key_is_said(data: bytes) -> None:
    for load in (rsalab.load_private_key, rsalab.load_public_key):
        with pytest.raises(rsalab.Error) as raised:
            load(data)
        assert isinstance(raised.value, ValueError)


def test_no_message_repeats_a_file(key: rsalab.PrivateKey) -> None:
    text = key.to_pem().decode()
    body = "".join(text.splitlines()[1:-1])
    pieces = {body[i : i + 8] for i in range(len(body) - 8)}
    forms = [text[:cut] for cut in range(60, len(text), 97)]
    forms += [text.replace("\n", end) for end in ("", " ", "\\n")]
    forms += [f'{{"kty":"{body}"}}', f'{{"kty":"RSA","n":"{body}"}}', f"ssh-rsa {body} {body}", f'KEY="{body}"']
    for form in forms:
        try:
            rsalab.load_private_key(form.encode())
        except rsalab.Error as error:
            said = f"{error} {error.args}"
            assert not any(said[i : i + 8] in pieces for i in range(len(said)))


def test_limits_and_wrong_arguments(key: rsalab.PrivateKey) -> None:
    der = key.to_der()
    with pytest.raises(rsalab.InvalidKeyError, match="2048 bits"):
        rsalab.load_private_key(der, max_bits=1024)
    assert rsalab.load_private_key(der, max_bits=2048, rounds=0).n == key.n
    for wrong in ({"max_bits": 16385}, {"max_bits": -1}, {"rounds": -1}, {"rounds": 1025}, {"rounds": 2**70}):
        with pytest.raises(rsalab.ArgumentError):
            rsalab.load_private_key(der, **wrong)  # type: ignore[arg-type]
    for rounds in (-1, 1025, 2**70):
        with pytest.raises(rsalab.ArgumentError):
            key.check(rounds)
    strange: list[Any] = [{"max_bits": "2048"}, {"rounds": 1.5}, {"password": "text"}, {"name": 3}, {"what": 1}]
    for arguments in strange:
        with pytest.raises(TypeError):
            rsalab.load_private_key(der, **arguments)
    for data in (None, 3, "text", [der], object(), memoryview(der).cast("B")[::2].tolist()):
        with pytest.raises(TypeError):
            rsalab.load_private_key(data)  # type: ignore[arg-type]
    calls: list[Any] = [
        lambda: key.to_pem(format="spki"),  # type: ignore[arg-type]
        lambda: key.public_key().to_der(format="pkcs8"),  # type: ignore[arg-type]
    ]
    for call in calls:
        with pytest.raises(rsalab.ArgumentError):
            call()


def test_a_package_that_is_missing_is_named(small: rsalab.PrivateKey, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.serialization", None)
    calls: list[Any] = [
        small.to_cryptography,
        small.public_key().to_cryptography,
        lambda: rsalab.PrivateKey.from_cryptography(small),  # type: ignore[arg-type]
        lambda: rsalab.PublicKey.from_cryptography(small),  # type: ignore[arg-type]
    ]
    for call in calls:
        with pytest.raises(rsalab.ExtraMissingError, match="pip install"):
            call()


def test_restrictions_of_a_file_are_kept(small: rsalab.PrivateKey) -> None:
    jwk = json.loads(small.to_jwk()) | {"use": "enc"}
    own = rsalab.load_private_key(json.dumps(jwk).encode())
    with pytest.raises(rsalab.RestrictedKeyError):
        own.sign(b"data")
    with pytest.raises(rsalab.RestrictedKeyError):
        own.public_key().verify(bytes(128), b"data")
    assert own.decrypt(own.public_key().encrypt(b"data")) == b"data"
    assert json.loads(own.to_jwk())["use"] == "enc"


def is_prime(n: int) -> bool:
    return all(n % d for d in (2, 3, 5, 7, 11, 13)) and all(pow(base, n - 1, n) == 1 for base in (2, 3, 5, 7))


def composite() -> bytes:
    """A key whose numbers fit each other, and whose p is a product of two primes."""
    from cryptography.hazmat.primitives.asymmetric import rsa
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    a, b = (insecure.key(512, number).to_cryptography().private_numbers().p for number in range(2))
    p, q, e = a * b, insecure.key(1024, 0).to_cryptography().private_numbers().q, 65537
    assert is_prime(a) and is_prime(b) and is_prime(q)
    d = pow(e, -1, (p - 1) * (q - 1))
    numbers = rsa.RSAPrivateNumbers(
        p, q, d, d % (p - 1), d % (q - 1), pow(q, -1, p), rsa.RSAPublicNumbers(e, p * q)
    )
    own = numbers.private_key(unsafe_skip_rsa_key_validation=True)
    return own.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())


def test_composite_primes_are_found() -> None:
    pytest.importorskip("cryptography")
    der = composite()
    for rounds in (1, 8, 9, 64):
        with pytest.raises(rsalab.InvalidKeyError, match="p is not a prime"):
            rsalab.load_private_key(der, rounds=rounds)
    own = rsalab.load_private_key(der, rounds=0)
    with pytest.raises(rsalab.InvalidKeyError, match="p is not a prime"):
        own.check()
    good = insecure.key(1024, 0)
    good.check()
    for rounds in (0, 1, 8, 17):
        good.check(rounds=rounds)
        assert rsalab.load_private_key(good.to_der(), rounds=rounds).n == good.n
    verdicts = rsalab.load_private_keys([good.to_der(), der, good.to_der()])
    assert isinstance(verdicts[1], rsalab.InvalidKeyError)
    assert isinstance(verdicts[0], rsalab.PrivateKey) and isinstance(verdicts[2], rsalab.PrivateKey)
