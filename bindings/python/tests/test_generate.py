"""New keys, one and many."""

import json
import threading

import pytest

import rsalab
from rsalab import insecure


def test_one() -> None:
    own = rsalab.generate(1024)
    assert (own.bits, own.e, own.primes) == (1024, 65537, 2)
    own.check()
    own.public_key().verify(own.sign(b"data"), b"data")
    assert rsalab.generate(512, 3).e == 3
    assert rsalab.generate(1024, primes=3).primes == 3
    assert rsalab.generate(bits=512).n != rsalab.generate(bits=512).n


@pytest.mark.parametrize("threads", [1, 2, 5, None])
@pytest.mark.parametrize("count", [0, 1, 7, 100])
def test_many(count: int, threads: int | None) -> None:
    made = rsalab.generate_many(count, 512, threads=threads)
    assert made.__length_hint__() == count
    keys = list(made)
    assert len({key.n for key in keys}) == len(keys) == count
    assert all(key.bits == 512 for key in keys)
    for _ in range(2):
        with pytest.raises(StopIteration):
            next(made)


@pytest.mark.parametrize("threads", [1, 3])
def test_several_sizes_in_one_call(threads: int) -> None:
    made = rsalab.generate_many(5, (512, 768, 1024), threads=threads)
    assert made.__length_hint__() == 15
    assert repr(made) == "<rsalab.KeyGenerator of 512, 768, 1024 bits>"
    sizes = [key.bits for key in made]
    assert sorted(sizes) == [512] * 5 + [768] * 5 + [1024] * 5
    assert threads > 1 or sizes == sorted(sizes)
    assert list(rsalab.generate_many(5, [])) == []
    with pytest.raises(rsalab.ArgumentError, match="511"):
        rsalab.generate_many(1, [512, 511])
    for wrong in ("2048", [512, "768"], 512.0, None):
        with pytest.raises(TypeError):
            rsalab.generate_many(1, wrong)  # type: ignore[arg-type]
    with pytest.raises(rsalab.ArgumentError, match="out of range"):
        rsalab.generate_many(2**63, [512, 512])


def test_a_closed_generator_ends() -> None:
    with rsalab.generate_many(10**9, 512) as made:
        assert next(made).bits == 512
        assert "512 bits" in repr(made)
    assert list(made) == []
    made.close()
    for key in rsalab.generate_many(10**9, 512, threads=1):
        assert key.bits == 512
        break


def test_threads_share_a_generator() -> None:
    made = rsalab.generate_many(200, 512)
    taken: list[int] = []

    def take() -> None:
        taken.extend(key.n for key in made)

    threads = [threading.Thread(target=take) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == len(set(taken)) == 200


def test_wrong_arguments() -> None:
    for wrong in (
        {"bits": 1023}, {"bits": 0}, {"bits": 128}, {"bits": 20000}, {"bits": -2}, {"e": 1}, {"e": 4}, {"e": 0},
        {"e": 2**64 + 1}, {"e": -3}, {"primes": 1}, {"primes": 9}, {"bits": 512, "primes": 3},
    ):
        with pytest.raises(rsalab.ArgumentError):
            rsalab.generate(**wrong)
        with pytest.raises(rsalab.ArgumentError):
            rsalab.generate_many(3, **wrong)
    for strange in ({"bits": "2048"}, {"bits": 2048.0}, {"e": None}, {"size": 3}):
        with pytest.raises(TypeError):
            rsalab.generate(**strange)
    with pytest.raises(rsalab.ArgumentError):
        rsalab.generate_many(-1)
    with pytest.raises(rsalab.ArgumentError):
        rsalab.generate_many(1, threads=0)


def test_insecure_keys_are_the_same_everywhere() -> None:
    assert insecure.key(512).fingerprint == FIRST
    assert insecure.key(512) is insecure.key(512) and len({key.n for key in insecure.keys(4, 512)}) == 4
    for wrong in (b"short", bytes(33)):
        with pytest.raises(rsalab.ArgumentError):
            rsalab._rsalab.insecure_key(wrong, 0, 512)
    for number in (-1, 2**64):
        with pytest.raises(rsalab.ArgumentError):
            insecure.key(512, number)


def test_sets_of_keys() -> None:
    keys = list(rsalab.generate_many(3, 512))
    private, public = rsalab.jwk_set(keys), rsalab.jwk_set(iter(keys), public=True)
    assert ["d" in jwk for text in (private, public) for jwk in json.loads(text)["keys"]] == [True] * 3 + [False] * 3
    for key in keys:
        assert rsalab.load_private_key(private.encode(), name=key.fingerprint).n == key.n
        assert rsalab.load_public_key(public.encode(), name=key.fingerprint) == key.public_key()
    assert json.loads(rsalab.jwk_set([])) == {"keys": []}


def test_fixtures(rsa_key: rsalab.PrivateKey, rsa_keys: object) -> None:
    assert rsa_key.bits == 2048 and rsa_keys is insecure.keys


#: Whoever stores what insecure keys have signed relies on it.
FIRST = "b0fa24bc4b42411252d359571a3820bc522f98b243c2821b931c7c9884f0b154"
