"""Tokens of PyJWT, with rsalab in the place of its own algorithms."""

import json
from typing import Any

import pytest

import rsalab
from rsalab import insecure

jwt = pytest.importorskip("jwt")
pytest.importorskip("cryptography")

import rsalab.jwt

NAMES = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"]
KEY = insecure.key(2048, 7)
CLAIMS = {"sub": "somebody", "n": 3}


def own(name: str, **options: int) -> Any:
    """A PyJWS of its own, so that tests do not change PyJWT for each other."""
    jws = jwt.PyJWS()
    jws.unregister_algorithm(name)
    jws.register_algorithm(name, rsalab.jwt.algorithm(name, **options))
    return jws


@pytest.mark.parametrize("name", NAMES)
def test_tokens_of_each_are_the_others(name: str) -> None:
    ours, theirs = own(name), jwt.PyJWS()
    pem, public = KEY.to_pem(), KEY.public_key().to_pem()
    private_forms = [pem, pem.decode(), KEY, KEY.to_cryptography()]
    public_forms = [public, public.decode(), KEY.public_key(), KEY.public_key().to_cryptography(), KEY]
    public_forms.append(KEY.public_key().to_openssh())
    for form in private_forms:
        token = ours.encode(b"payload", form, name)
        assert theirs.decode(token, public, [name]) == b"payload"
    token = theirs.encode(b"payload", pem, name)
    for form in public_forms:
        assert ours.decode(token, form, [name]) == b"payload"
    wrong = token[:-4] + ("AAAA" if token[-4:] != "AAAA" else "BBBB")
    with pytest.raises(jwt.InvalidSignatureError):
        ours.decode(wrong, public, [name])


def test_one_line_changes_a_program() -> None:
    before = jwt.encode(CLAIMS, KEY.to_pem(), algorithm="RS256")
    theirs = {name: jwt.api_jws.get_algorithm_by_name(name) for name in NAMES}
    try:
        rsalab.jwt.register()
        for name in NAMES:
            token = jwt.encode(CLAIMS, KEY.to_pem(), algorithm=name)
            assert jwt.decode(token, KEY.public_key().to_pem(), algorithms=NAMES) == CLAIMS
        assert jwt.encode(CLAIMS, KEY.to_pem(), algorithm="RS256") == before
        rsalab.jwt.register("PS256")
    finally:
        for name, algorithm in theirs.items():
            jwt.unregister_algorithm(name)
            jwt.register_algorithm(name, algorithm)


def test_keys_are_kept() -> None:
    algorithm: Any = rsalab.jwt.algorithm("RS256", cache=2)
    pems = [insecure.key(512, number).to_pem() for number in range(3)]
    first = algorithm.prepare_key(pems[0])
    assert algorithm.prepare_key(pems[0].decode()) is first
    for pem in pems[1:]:
        algorithm.prepare_key(pem)
    assert algorithm.prepare_key(pems[0]) is not first
    algorithm.prepare_key(pems[0]).close()
    assert not algorithm.prepare_key(pems[0]).closed
    none: Any = rsalab.jwt.algorithm("RS256", cache=0)
    assert none.prepare_key(pems[0]) is not none.prepare_key(pems[0])


def test_objects_of_cryptography_are_kept() -> None:
    algorithm: Any = rsalab.jwt.algorithm("RS256", cache=2)
    objects = [insecure.key(1024, number).to_cryptography() for number in range(3)]
    first = algorithm.prepare_key(objects[0])
    assert algorithm.prepare_key(objects[0]) is first
    for number, key in enumerate(objects):
        assert algorithm.prepare_key(key).n == insecure.key(1024, number).n
    assert algorithm.prepare_key(objects[0]) is not first
    algorithm.prepare_key(objects[0]).close()
    assert not algorithm.prepare_key(objects[0]).closed
    # The id of an object that is gone becomes another's.
    for number in range(20):
        made = insecure.key(1024, number % 3)
        assert algorithm.prepare_key(made.public_key().to_cryptography()).n == made.n
    none: Any = rsalab.jwt.algorithm("RS256", cache=0)
    assert none.prepare_key(objects[0]) is not none.prepare_key(objects[0])


def test_a_token_that_does_not_suit_the_key_is_an_error_of_pyjwt() -> None:
    # Its use is encryption, so that it verifies nothing.
    jwk = json.loads(KEY.public_key().to_jwk())
    other = rsalab.load_public_key(json.dumps({**jwk, "use": "enc"}).encode())
    token = jwt.PyJWS().encode(b"payload", KEY.to_pem(), "RS256")
    with pytest.raises(rsalab.RestrictedKeyError):
        other.verify(bytes(256), b"payload", "pkcs1v15")
    with pytest.raises(jwt.InvalidSignatureError):
        own("RS256").decode(token, other, ["RS256"])
    # A modulus of 512 bits is too short for SHA-512.
    algorithm: Any = rsalab.jwt.algorithm("PS512")
    short = insecure.key(512)
    assert not algorithm.verify(b"data", short.public_key(), bytes(64))
    with pytest.raises(jwt.InvalidKeyError):
        algorithm.sign(b"data", short)
    closed = insecure.key(1024, 9)
    closed.close()
    with pytest.raises(jwt.InvalidKeyError):
        algorithm.sign(b"data", closed)
    with pytest.raises(jwt.InvalidKeyError):
        algorithm.to_jwk(closed)


def test_what_is_no_key_is_an_error_of_pyjwt() -> None:
    algorithm: Any = rsalab.jwt.algorithm("RS256")
    with pytest.raises(jwt.InvalidKeyError):
        algorithm.prepare_key("no key")
    with pytest.raises(jwt.InvalidKeyError):
        algorithm.from_jwk('{"kty":"oct","k":"AAAA"}')
    with pytest.raises(TypeError):
        algorithm.prepare_key(3)
    with pytest.raises(TypeError):
        algorithm.sign(b"data", KEY.public_key())
    with pytest.raises(rsalab.ArgumentError):
        rsalab.jwt.algorithm("HS256")
    assert "1024 bits" in algorithm.check_key_length(insecure.key(1024))
    assert algorithm.check_key_length(KEY) is None


def test_json_web_keys() -> None:
    algorithm: Any = rsalab.jwt.algorithm("PS512")
    for key in (KEY, KEY.public_key()):
        for jwk in (algorithm.to_jwk(key), algorithm.to_jwk(key, as_dict=True)):
            assert algorithm.from_jwk(jwk).n == KEY.n
        assert algorithm.from_jwk(algorithm.to_jwk(key.to_cryptography())).n == KEY.n
    assert type(algorithm.from_jwk(algorithm.to_jwk(KEY))) is rsalab.PrivateKey
    assert algorithm.compute_hash_digest(b"") == __import__("hashlib").sha512(b"").digest()
