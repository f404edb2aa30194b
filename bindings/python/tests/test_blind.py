"""Blind signatures: the way of a request, and what is refused on it."""

import pytest

import rsalab
from rsalab import PSS, blind, insecure

KEY = insecure.key(2048, 9)
MESSAGES = [b"token %d" % i for i in range(70)]


@pytest.mark.parametrize("variant", blind.variants)
@pytest.mark.parametrize("threads", [1, 3])
def test_the_whole_way(variant: str, threads: int) -> None:
    client = blind.BlindClient(KEY.public_key(), variant)
    assert client.variant == variant and variant in repr(client)
    blinded, states = client.blind_many(MESSAGES)
    answers = blind.sign_many(KEY, blinded, variant, threads=threads)
    # The client ended meanwhile.
    states = [client.load_state(state.to_bytes()) for state in states]
    signatures = client.finalize_many(MESSAGES, states, answers)
    assert None not in signatures
    known = [signature for signature in signatures if signature]
    prefixes = [state.prefix for state in states]
    assert {len(prefix) for prefix in prefixes} == ({0} if "Deterministic" in variant else {32})
    assert client.verify_many(MESSAGES, known, prefixes) == [True] * 70
    assert client.verify_many(MESSAGES[1:] + MESSAGES[:1], known, prefixes) == [False] * 70
    # They are signatures like others.
    padding = PSS(0 if "PSSZERO" in variant else 48)
    signed = [prefix + message for prefix, message in zip(prefixes, MESSAGES)]
    assert rsalab.verify_many(KEY, signed, known, padding, "sha384") == [True] * 70
    assert not set(blinded) & set(known)


def test_a_wrong_prefix_is_the_failure_of_its_item() -> None:
    client = blind.BlindClient(KEY.public_key())
    blinded, states = client.blind_many(MESSAGES[:4])
    signatures = client.finalize_many(MESSAGES[:4], states, blind.sign_many(KEY, blinded))
    known = [signature for signature in signatures if signature]
    prefixes = [state.prefix for state in states]
    for wrong in (b"", prefixes[1][:-1], prefixes[1] + b"\0", bytes(32)):
        verdicts = client.verify_many(MESSAGES[:4], known, [prefixes[0], wrong, *prefixes[2:]])
        assert verdicts == [True, False, True, True]
    variant = next(name for name in blind.variants if "Deterministic" in name)
    client = blind.BlindClient(KEY.public_key(), variant)
    blinded, states = client.blind_many(MESSAGES[:2])
    answers = blind.sign_many(KEY, blinded, variant)
    known = [signature for signature in client.finalize_many(MESSAGES[:2], states, answers) if signature]
    assert client.verify_many(MESSAGES[:2], known) == [True, True]
    assert client.verify_many(MESSAGES[:2], known, [b"", bytes(32)]) == [True, False]


def test_what_is_refused() -> None:
    client = blind.BlindClient(KEY.public_key())
    blinded, states = client.blind_many(MESSAGES[:4])
    answers = blind.sign_many(KEY, [blinded[0], b"short", b"\xff" * 256, blinded[3]])
    assert [answer is None for answer in answers] == [False, True, True, False]
    wrong = [answers[0], None, bytes(256), answers[0]]
    signatures = client.finalize_many(MESSAGES[:4], states, wrong)
    assert [signature is None for signature in signatures] == [False, True, True, True]
    for arguments in ((MESSAGES[:3], states, wrong), (MESSAGES[:4], states[:3], wrong), (MESSAGES[:4], states, [])):
        with pytest.raises(rsalab.LengthError):
            client.finalize_many(*arguments)
    for prefixes in (None, [], [bytes(32)] * 2):
        with pytest.raises(rsalab.LengthError):
            client.verify_many(MESSAGES[:1], [bytes(256)], prefixes)
    with pytest.raises(rsalab.LengthError):
        client.verify_many(MESSAGES[:1], [], [bytes(32)])
    other = blind.BlindClient(insecure.key(2048, 10).public_key())
    with pytest.raises(rsalab.ArgumentError, match="another key"):
        other.load_state(states[0].to_bytes())
    with pytest.raises(rsalab.ArgumentError):
        client.load_state(b"no state")
    with pytest.raises(rsalab.ArgumentError):
        blind.BlindClient(KEY.public_key(), "RSABSSA")
    with pytest.raises(rsalab.SchemeError):
        blind.BlindClient(insecure.key(512).public_key())
    with pytest.raises(rsalab.SchemeError):
        blind.sign_many(insecure.key(512), [])
    for strange in (KEY, None, "key"):
        with pytest.raises(TypeError):
            blind.BlindClient(strange)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        client.finalize_many(MESSAGES[:1], [None], [b""])  # type: ignore[list-item]
    with pytest.raises(TypeError):
        blind.BlindState()
    assert "prefix" not in repr(states[0])
