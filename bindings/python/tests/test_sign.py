"""Signatures and encryption of one message, and of many."""

import hashlib
import threading
from collections.abc import Iterator
from typing import Any

import pytest

import rsalab
from rsalab import PSS, OAEP, PKCS1v15, insecure

PADDINGS: list[Any] = ["pss", "pkcs1v15", PSS(), PSS("max"), PSS(17), PSS(0), PSS(mgf_hash="sha1"), PKCS1v15()]
PADDINGS[6] = PSS(mgf_hash="sha512")
MESSAGES = [b"", b"a", b"a message", bytes(1000)]


def fixed_length(hash: str) -> bool:
    return not hash.startswith("shake")


def digest(hash: str, message: bytes) -> bytes:
    if hash.startswith("shake"):
        shake: Any = hashlib.new(hash.replace("shake", "shake_"), message)
        return bytes(shake.digest(int(hash[5:]) // 4))
    name = hash.replace("sha512-", "sha512_") if hash.startswith("sha512-") else hash.replace("-", "_")
    return hashlib.new(name, message).digest()


@pytest.mark.parametrize("hash", rsalab.hashes)
def test_every_hash_signs_and_verifies(key: rsalab.PrivateKey, hash: str) -> None:
    public = key.public_key()
    if hash == "sha1":
        for padding in ("pss", "pkcs1v15"):
            with pytest.raises(rsalab.SchemeError):
                key.sign(b"data", padding, hash)
        return
    paddings = PADDINGS if fixed_length(hash) else PADDINGS[:1]
    for padding in paddings:
        for message in MESSAGES:
            signature = key.sign(message, padding, hash)
            assert len(signature) == key.size
            public.verify(signature, message, padding, hash)
            public.verify(signature, digest(hash, message), padding, hash, prehashed=True)
            with pytest.raises(rsalab.InvalidSignature):
                public.verify(signature, message + b"x", padding, hash)
            with pytest.raises(rsalab.InvalidSignature):
                public.verify(signature[:-1] + bytes([signature[-1] ^ 1]), message, padding, hash)
        own = key.sign(digest(hash, b"data"), padding, hash, prehashed=True)
        public.verify(own, b"data", padding, hash)
    if not fixed_length(hash):
        with pytest.raises(rsalab.SchemeError):
            key.sign(b"data", "pkcs1v15", hash)


def test_hashes_have_the_names_of_others(key: rsalab.PrivateKey) -> None:
    expected = key.sign(b"data", "pkcs1v15", "sha3-256")
    for name in ("SHA3_256", "sha3_256", "SHA3-256", hashlib.sha3_256()):
        assert key.sign(b"data", "pkcs1v15", name) == expected
    for wrong in ("md5", "", "sha-257", "sha256\0"):
        with pytest.raises(rsalab.ArgumentError):
            key.sign(b"data", "pss", wrong)
    for strange in (3, None, b"sha256", hashlib):
        with pytest.raises((TypeError, rsalab.ArgumentError)):
            key.sign(b"data", "pss", strange)  # type: ignore[arg-type]


def test_paddings_are_values() -> None:
    assert PSS() == PSS("digest") != PSS("max") and hash(PSS(20)) == hash(PSS(20))
    assert (PSS(20).salt_length, PSS("auto").salt_length, PSS().mgf_hash) == (20, "auto", None)
    assert PKCS1v15() == PKCS1v15() and PKCS1v15() != PSS()
    assert repr(PSS(20, mgf_hash="SHA1")) == "PSS(20, mgf_hash='sha1')"
    assert OAEP() == OAEP("sha256", mgf_hash="sha256", label=b"") != OAEP("sha1")
    assert (OAEP("sha1").hash, OAEP("sha1").mgf_hash, OAEP(label=b"x").label) == ("sha1", "sha1", b"x")
    assert repr(OAEP("sha1", label=b"x")) == "OAEP('sha1', mgf_hash='sha1', label=<1 bytes>)"
    unknown: Any = "long"
    for wrong in (lambda: PSS(unknown), lambda: PSS(-1), lambda: PSS(70000), lambda: OAEP("md5")):
        with pytest.raises(rsalab.ArgumentError):
            wrong()
    for strange in (lambda: PSS(1.5), lambda: OAEP(3), lambda: OAEP(label="x"), lambda: PKCS1v15(1)):  # type: ignore
        with pytest.raises(TypeError):
            strange()
    with pytest.raises(rsalab.SchemeError):
        OAEP("shake128")


def test_salts(key: rsalab.PrivateKey) -> None:
    public = key.public_key()
    signature = key.sign(b"data", PSS(20))
    for fitting in (PSS(20), PSS("auto")):
        public.verify(signature, b"data", fitting)
    for other in (PSS(21), PSS("digest"), PSS("max")):
        with pytest.raises(rsalab.InvalidSignature):
            public.verify(signature, b"data", other)
    for unsuited in (PSS("auto"), PSS(256)):
        with pytest.raises(rsalab.SchemeError):
            key.sign(b"data", unsuited)
    assert key.sign(b"data", "pkcs1v15") == key.sign(b"data", "pkcs1v15")
    assert key.sign(b"data") != key.sign(b"data")


@pytest.mark.parametrize("count", [0, 1, 2, 15, 16, 33, 100, 700])
@pytest.mark.parametrize("threads", [1, 2, 8, None])
def test_many_are_as_one(small: rsalab.PrivateKey, count: int, threads: int | None) -> None:
    messages = [b"message %d" % i for i in range(count)]
    signatures = rsalab.sign_many(small, messages, "pkcs1v15", threads=threads)
    assert signatures == [small.sign(message, "pkcs1v15") for message in messages]
    assert rsalab.verify_many(small, messages, signatures, "pkcs1v15", threads=threads) == [True] * count
    digests = [hashlib.sha256(message).digest() for message in messages]
    assert rsalab.sign_many(small, digests, "pkcs1v15", prehashed=True, threads=threads) == signatures
    wrong = signatures[1:] + signatures[:1]
    expected = [one == other for one, other in zip(signatures, wrong)]
    public = small.public_key()
    assert rsalab.verify_many(public, messages, wrong, "pkcs1v15", threads=threads) == expected


def test_bad_items_are_found(small: rsalab.PrivateKey) -> None:
    messages = [b"%d" % i for i in range(1100)]
    signatures = rsalab.sign_many(small, messages)
    bad = {0: b"", 17: signatures[17][:-1], 511: signatures[511] + b"\0", 512: bytes(128), 1099: b"\xff" * 128}
    for place, signature in bad.items():
        signatures[place] = signature
    valid = rsalab.verify_many(small, messages, signatures)
    assert [i for i, is_valid in enumerate(valid) if not is_valid] == sorted(bad)


@pytest.mark.parametrize("threads", [1, 2, None])
def test_many_are_screened(small: rsalab.PrivateKey, threads: int | None) -> None:
    public = small.public_key()
    messages = [b"message %d" % i for i in range(1100)]
    signatures = rsalab.sign_many(small, messages, "pkcs1v15")
    assert rsalab.screen_many(public, messages, signatures, threads=threads) == [True] * 1100
    digests = [hashlib.sha256(message).digest() for message in messages]
    assert rsalab.screen_many(small, digests, signatures, prehashed=True, threads=threads) == [True] * 1100
    assert rsalab.screen_many(public, [], [], threads=threads) == []
    # What it does not show: two signatures that were exchanged.
    exchanged = [signatures[1], signatures[0], *signatures[2:]]
    assert rsalab.screen_many(public, messages, exchanged, threads=threads) == [True] * 1100
    assert rsalab.verify_many(public, messages, exchanged, "pkcs1v15") == [False] * 2 + [True] * 1098
    bad = {0: b"", 17: signatures[17][:-1], 511: signatures[511] + b"\0", 512: bytes(128), 1099: signatures[0]}
    for place, signature in bad.items():
        signatures[place] = signature
    accepted = rsalab.screen_many(public, messages, signatures, threads=threads)
    assert [i for i, is_accepted in enumerate(accepted) if not is_accepted] == sorted(bad)
    # Repetitions are verified: e of one message could be anything.
    assert rsalab.screen_many(public, [b"once"] * 3, signatures[1:4], threads=threads) == [False] * 3
    with pytest.raises(rsalab.LengthError, match="item 1 "):
        rsalab.screen_many(public, [bytes(32), bytes(31)], signatures[:2], prehashed=True)
    with pytest.raises(rsalab.LengthError):
        rsalab.screen_many(public, [b"one"], [])
    with pytest.raises(TypeError):
        rsalab.screen_many([public], [b"one"], signatures[:1])  # type: ignore[arg-type]


@pytest.mark.parametrize("threads", [1, 3])
def test_a_key_for_each_item(threads: int) -> None:
    keys = [insecure.key(bits, number) for bits in (1024, 1536) for number in range(5)]
    # Some keys have many items, some few, one size has one key alone.
    own = [keys[i % 10] if i % 3 else keys[0] for i in range(90)] + [insecure.key(2048)]
    messages = [b"message %d" % i for i in range(91)]
    for padding in ("pss", "pkcs1v15"):
        signatures = rsalab.sign_many(own, messages, padding, threads=threads)
        assert [len(signature) for signature in signatures] == [key.size for key in own]
        for key, message, signature in zip(own, messages, signatures):
            key.public_key().verify(signature, message, padding)
    public = [key.public_key() for key in own]
    valid = rsalab.verify_many(public, messages, signatures, "pkcs1v15", threads=threads)
    assert valid == [True] * 91
    mixed = rsalab.verify_many(public[1:] + public[:1], messages, signatures, "pkcs1v15", threads=threads)
    assert not all(mixed)
    ciphertexts = rsalab.encrypt_many(iter(own), messages, threads=threads)
    for key, message, ciphertext in zip(own, messages, ciphertexts):
        assert key.decrypt(ciphertext) == message
    for wrong in (own[:3], [], [None] * 91, ["key"] * 91):
        with pytest.raises((rsalab.LengthError, TypeError)):
            rsalab.sign_many(wrong, messages)  # type: ignore[arg-type]
    assert rsalab.sign_many([], []) == rsalab.encrypt_many([], []) == []
    with pytest.raises(rsalab.LengthError, match="item 90 "):
        rsalab.sign_many(own, [bytes(32)] * 90 + [b""], prehashed=True)


def test_exceptions_name_the_item_of_the_list() -> None:
    keys = [insecure.key(1024, number).public_key() for number in range(2)]
    with pytest.raises(rsalab.SchemeError, match="message 1 has 500 bytes"):
        rsalab.encrypt_many(keys, [b"x", bytes(500)])
    with pytest.raises(rsalab.SchemeError, match="message 3 has 500 bytes"):
        rsalab.encrypt_many(keys * 2, [b"x", b"y", b"z", bytes(500)])


class Strange:
    def __iter__(self) -> Iterator[bytes]:
        raise LookupError("on purpose")


def test_wrong_batches(small: rsalab.PrivateKey) -> None:
    with pytest.raises(rsalab.LengthError, match="item 1 "):
        rsalab.sign_many(small, [bytes(32), bytes(31)], prehashed=True)
    with pytest.raises(rsalab.LengthError):
        rsalab.verify_many(small, [b"one"], [])
    with pytest.raises(rsalab.LengthError):
        rsalab.verify_many(small, [bytes(20)], [bytes(128)], prehashed=True)
    for threads in (0, -1, 2**80):
        with pytest.raises(rsalab.ArgumentError):
            rsalab.sign_many(small, [b"one"], threads=threads)
    for wrong in (b"bytes", "text", bytearray(3), memoryview(b"flat"), None, 3, [3], ["text"], [None], [[b"x"]]):
        with pytest.raises(TypeError):
            rsalab.sign_many(small, wrong)  # type: ignore[arg-type]
        with pytest.raises(TypeError):
            rsalab.decrypt_many(small, wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        rsalab.sign_many(small.public_key(), [b"one"])  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        rsalab.verify_many(3, [], [])  # type: ignore[arg-type]
    with pytest.raises(LookupError):
        rsalab.sign_many(small, Strange())
    with pytest.raises(rsalab.SchemeError):
        rsalab.sign_many(small, [], "pkcs1v15", "sha1")
    with pytest.raises(rsalab.ArgumentError):
        rsalab.sign_many(small, [], "oaep")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        rsalab.sign_many(small, [], OAEP())  # type: ignore[arg-type]
    short = insecure.key(512)
    with pytest.raises(rsalab.SchemeError, match="too short"):
        rsalab.sign_many(short, [b"one"], "pss", "sha512")


def test_buffers_of_every_kind(small: rsalab.PrivateKey) -> None:
    messages = [bytes([i]) * 32 for i in range(40)]
    expected = rsalab.sign_many(small, messages, "pkcs1v15")
    flat = b"".join(messages)
    forms: list[Any] = [
        tuple(messages),
        iter(messages),
        (bytearray(message) for message in messages),
        [memoryview(message) for message in messages],
        [memoryview(bytes(b for byte in message for b in (byte, 0)))[::2] for message in messages],
        memoryview(flat).cast("B", (40, 32)),
        memoryview(bytearray(flat)).cast("B", (40, 32)),
    ]
    for form in forms:
        assert rsalab.sign_many(small, form, "pkcs1v15") == expected
    rows = memoryview(b"".join(expected)).cast("B", (40, 128))
    assert rsalab.verify_many(small, forms[-1], rows, "pkcs1v15") == [True] * 40


def test_arrays(small: rsalab.PrivateKey) -> None:
    numpy = pytest.importorskip("numpy")
    rows = numpy.arange(40 * 32, dtype=numpy.uint8).reshape(40, 32)
    expected = rsalab.sign_many(small, [bytes(row) for row in rows], "pkcs1v15")
    for form in (rows, rows.copy(order="F"), numpy.repeat(rows, 2, axis=1)[:, ::2]):
        assert rsalab.sign_many(small, form, "pkcs1v15") == expected
    assert rsalab.sign_many(small, rows[:0], "pkcs1v15") == []
    empty = rsalab.sign_many(small, rows[:2, :0], "pkcs1v15")
    assert empty == [small.sign(b"", "pkcs1v15")] * 2
    for wrong in (rows[0], rows.astype(numpy.uint16), rows.reshape(2, 20, 32)):
        with pytest.raises(TypeError):
            rsalab.sign_many(small, wrong)


@pytest.mark.parametrize("padding", ["oaep", "pkcs1v15", OAEP("sha1"), OAEP("sha512", mgf_hash="sha1", label=b"x")])
def test_encryption(key: rsalab.PrivateKey, padding: Any) -> None:
    public = key.public_key()
    for message in (b"", b"a secret", bytes(60)):
        ciphertext = public.encrypt(message, padding)
        assert len(ciphertext) == 256 and ciphertext != public.encrypt(message, padding)
        assert key.decrypt(ciphertext, padding) == message
    with pytest.raises(rsalab.SchemeError):
        public.encrypt(bytes(250), padding)
    for threads in (1, 3):
        messages = [b"%d" % i for i in range(600)]
        ciphertexts = rsalab.encrypt_many(public, messages, padding, threads=threads)
        assert rsalab.decrypt_many(key, ciphertexts, padding, threads=threads) == messages
        with pytest.raises(rsalab.SchemeError, match="message 2 "):
            rsalab.encrypt_many(key, [b"", b"", bytes(256)], padding)
    for wrong in (b"", ciphertext[1:], ciphertext + b"\0", b"\xff" * 256):
        with pytest.raises(rsalab.DecryptionError):
            key.decrypt(wrong, padding)


def test_failures_of_decryption_say_nothing(key: rsalab.PrivateKey) -> None:
    good = key.public_key().encrypt(b"a secret")
    ciphertexts = [good, good[:-1] + bytes([good[-1] ^ 1]), bytes(255), b"\xff" * 256, b"", good]
    assert rsalab.decrypt_many(key, ciphertexts) == [b"a secret", None, None, None, None, b"a secret"]
    said = set()
    for wrong in ciphertexts[1:5]:
        with pytest.raises(rsalab.DecryptionError) as raised:
            key.decrypt(wrong)
        said.add(str(raised.value))
    with pytest.raises(rsalab.DecryptionError) as raised:
        key.decrypt(good, OAEP("sha1"))
    assert said == {str(raised.value)}
    # Implicit rejection: a message, the same each time, and nobody's.
    bad = key.public_key().encrypt(b"a secret")
    assert key.decrypt(bad, "pkcs1v15") == key.decrypt(bad, "pkcs1v15") != b"a secret"
    with pytest.raises(rsalab.ArgumentError):
        key.decrypt(good, "pss")  # type: ignore[arg-type]


def test_threads_share_keys(key: rsalab.PrivateKey) -> None:
    own = rsalab.load_private_key(key.to_der())
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for turn in range(10):
                messages = [b"%d %d %d" % (number, turn, i) for i in range(20)]
                signatures = rsalab.sign_many(own, messages, threads=1 + turn % 3)
                assert all(rsalab.verify_many(own, messages, signatures))
                own.public_key().verify(own.sign(messages[0]), messages[0])
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_the_interpreter_runs_on(key: rsalab.PrivateKey) -> None:
    """While one thread signs, another counts: a call that kept the interpreter would let it count but once."""
    ends = threading.Event()
    counted = [0]

    def count() -> None:
        while not ends.is_set():
            counted[0] += 1
            ends.wait(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    before = counted[0]
    rsalab.sign_many(key, [bytes(32)] * 3000, prehashed=True, threads=1)
    seen = counted[0] - before
    ends.set()
    counter.join()
    assert seen >= 5
