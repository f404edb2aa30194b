#!/usr/bin/env python3
"""Do rsalab's schemes and those of two other programs understand each other?

Random operations over schemes, hash functions, sizes of keys and lengths of messages, both ways: what rsalab signs or
encrypts, Python's `cryptography` and the `openssl` command verify or decrypt, and the other way round. Then signatures
that are almost right, which rsalab must reject.

    scripts/check-schemes.py [--rsalab PATH] [--kernel NAME] [--batch N] [--count N] [--openssl N] [--shake N] [--seed N]

It ends with code 1 if anything differs. `--count` operations go to `cryptography`, `--openssl` to the command. Neither of them
knows RSASSA-PSS with SHAKE (RFC 8702): `--shake` operations of it go to a model in this file, made of Python's integers and hashlib.
"""

import argparse
import collections
import hashlib
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

HASHES = {
    "sha1": hashes.SHA1(),
    "sha224": hashes.SHA224(),
    "sha256": hashes.SHA256(),
    "sha384": hashes.SHA384(),
    "sha512": hashes.SHA512(),
    "sha512-224": hashes.SHA512_224(),
    "sha512-256": hashes.SHA512_256(),
    "sha3-224": hashes.SHA3_224(),
    "sha3-256": hashes.SHA3_256(),
    "sha3-384": hashes.SHA3_384(),
    "sha3-512": hashes.SHA3_512(),
}


# The hash functions that `cryptography` takes inside OAEP; the command takes all.
IN_OAEP = ["sha1", "sha224", "sha256", "sha384", "sha512"]


class Key:
    def __init__(self, bits, e):
        self.private = rsa.generate_private_key(e, bits)
        self.public = self.private.public_key()
        self.bits, self.bytes = bits, (bits + 7) // 8
        self.n = self.public.public_numbers().n
        plain = serialization.NoEncryption()
        pem = serialization.Encoding.PEM
        self.private_pem = self.private.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain).decode()
        self.public_pem = self.public.public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo).decode()


def signature_case(rng, key, signing):
    """A scheme that the key has room for: the members of a request, and `cryptography`'s padding."""
    while True:
        name = rng.choice([name for name in HASHES if not (signing and name == "sha1")])
        size = HASHES[name].digest_size
        if rng.random() < 0.4:
            if key.bytes < size + 19 + 11:
                continue
            return {"scheme": "pkcs1v15", "hash": name}, padding.PKCS1v15(), HASHES[name]
        mgf = name if rng.random() < 0.5 else rng.choice([h for h in HASHES if not (signing and h == "sha1")])
        most = (key.bits - 1 + 7) // 8 - size - 2
        if most < 0:
            continue
        salt = min(most, rng.choice([size, 0, most, rng.randrange(most + 1)]))
        case = {"scheme": "pss", "hash": name, "mgf_hash": mgf, "salt_len": salt}
        return case, padding.PSS(padding.MGF1(HASHES[mgf]), salt), HASHES[name]


def encryption_case(rng, key, names):
    while True:
        if rng.random() < 0.3:
            return {"scheme": "pkcs1v15"}, padding.PKCS1v15(), key.bytes - 11
        name, mgf = rng.choice(names), rng.choice(names)
        if rng.random() < 0.5:
            mgf = name
        most = key.bytes - 2 * HASHES[name].digest_size - 2
        if most < 0:
            continue
        label = rng.randbytes(rng.choice([0, 0, 1, 40]))
        case = {"scheme": "oaep", "hash": name, "mgf_hash": mgf, "label": label.hex()}
        return case, padding.OAEP(padding.MGF1(HASHES[mgf]), HASHES[name], label or None), most


def ask(options, requests):
    command = [options.rsalab, "vectors", "-"]
    if options.kernel:
        command += ["--kernel", options.kernel]
    if options.batch:
        command += ["--batch", str(options.batch)]
    lines = "".join(json.dumps(dict(request, id=place)) + "\n" for place, request in enumerate(requests))
    run = subprocess.run(command, input=lines.encode(), capture_output=True)
    if run.returncode:
        sys.exit(f"rsalab ended with code {run.returncode}: {run.stderr.decode()}")
    answers = [json.loads(line) for line in run.stdout.splitlines()]
    assert [answer["id"] for answer in answers] == list(range(len(requests)))
    return answers


class Tally:
    def __init__(self):
        self.counts, self.wrong = collections.Counter(), []

    def count(self, what, is_right, detail):
        self.counts[what] += 1
        if not is_right:
            self.wrong.append((what, detail))


def almost_right(rng, key, signature):
    """Signatures that are not, with what was done to them."""
    number = int.from_bytes(signature, "big")
    flipped = bytearray(signature)
    flipped[rng.randrange(len(flipped))] ^= 1 << rng.randrange(8)
    plus_n = number + key.n
    return [
        ("a byte appended", signature + b"\0"),
        ("a byte in front", b"\0" + signature),
        ("cut", signature[:-1]),
        ("cut in front", signature[1:]),
        ("s + n", plus_n.to_bytes((plus_n.bit_length() + 7) // 8, "big")),
        ("one bit", bytes(flipped)),
        ("nothing", b""),
    ]


def with_cryptography(rng, options, keys, tally):
    requests, checks, noises = [], [], set()
    for _ in range(options.count):
        key = rng.choice(keys)
        message = rng.randbytes(rng.choice([0, 1, 32, rng.randrange(300)]))
        way = rng.randrange(11)
        if way == 10:
            # Padding that is wrong: both must make up the same message (draft-irtf-cfrg-rsa-guidance).
            ciphertext = rng.randrange(key.n).to_bytes(key.bytes, "big")
            noise = key.private.decrypt(ciphertext, padding.PKCS1v15())
            requests.append({"op": "decrypt", "scheme": "pkcs1v15", "key": key.private_pem, "ct": ciphertext.hex()})
            noises.add(len(requests) - 1)

            def check(answer, noise=noise):
                return answer.get("out") == noise.hex()
            checks.append(check)
            continue
        way %= 5
        if way == 0:
            case, their_padding, their_hash = signature_case(rng, key, True)
            requests.append(dict(case, op="sign", key=key.private_pem, msg=message.hex()))

            def check(answer, key=key, message=message, their=(their_padding, their_hash)):
                try:
                    key.public.verify(bytes.fromhex(answer["out"]), message, *their)
                    return True
                except (InvalidSignature, KeyError):
                    return False
        elif way == 1:
            case, their_padding, their_hash = signature_case(rng, key, False)
            signature = key.private.sign(message, their_padding, their_hash)
            requests.append(dict(case, op="verify", key=key.public_pem, msg=message.hex(), sig=signature.hex()))

            def check(answer):
                return answer["result"] == "accept"
        elif way == 2:
            case, their_padding, their_hash = signature_case(rng, key, False)
            signature = key.private.sign(message, their_padding, their_hash)
            what, wrong = rng.choice(almost_right(rng, key, signature))
            requests.append(dict(case, op="verify", key=key.public_pem, msg=message.hex(), sig=wrong.hex()))

            def check(answer):
                return answer["result"] == "reject"
        else:
            case, their_padding, most = encryption_case(rng, key, IN_OAEP)
            message = message[: rng.choice([most, rng.randrange(most + 1)])]
            if way == 3:
                requests.append(dict(case, op="encrypt", key=key.public_pem, msg=message.hex()))

                def check(answer, key=key, message=message, their_padding=their_padding):
                    return key.private.decrypt(bytes.fromhex(answer["out"]), their_padding) == message
            else:
                ciphertext = key.public.encrypt(message, their_padding)
                requests.append(dict(case, op="decrypt", key=key.private_pem, ct=ciphertext.hex()))

                def check(answer, message=message):
                    return answer.get("out") == message.hex()
        checks.append(check)
    names = {"sign": "we sign, cryptography verifies", "encrypt": "we encrypt, cryptography decrypts"}
    names |= {"decrypt": "cryptography encrypts, we decrypt"}
    for request, check, answer in zip(requests, checks, ask(options, requests)):
        expected = "cryptography signs, we verify"
        if answer["id"] in noises:
            tally.count("noise, the same from both", check(answer), (request, answer))
            continue
        if request["op"] == "verify" and answer["result"] == "reject" and check(answer):
            expected = "almost right, we reject"
        tally.count(names.get(request["op"], expected), check(answer), (request, answer))


# RFC 8702, section 2: the function, and the bytes of its digest and of the salt.
SHAKES = {"shake128": (hashlib.shake_128, 32), "shake256": (hashlib.shake_256, 64)}


def shake_encoding(name, message, salt, bits):
    """EMSA-PSS (RFC 8017, section 9.1.1) for a modulus of so many bits, with the mask of RFC 8702, section 3.2.1."""
    function, size = SHAKES[name]
    length = (bits - 1 + 7) // 8
    hashed = function(bytes(8) + function(message).digest(size) + salt).digest(size)
    block = bytes(length - 2 * size - 2) + b"\1" + salt
    mask = function(hashed).digest(len(block))
    masked = bytearray(a ^ b for a, b in zip(block, mask))
    masked[0] &= 0xFF >> (8 * length - (bits - 1))
    return bytes(masked) + hashed + b"\xbc"


def shake_salt(name, encoding, bits):
    """The salt of an encoding that may be one."""
    function, size = SHAKES[name]
    hashed, block = encoding[-size - 1:-1], encoding[:-size - 1]
    return bytes(a ^ b for a, b in zip(block, function(hashed).digest(len(block))))[-size:]


def with_shake(rng, options, keys, tally):
    requests, checks = [], []
    for _ in range(options.shake):
        name = rng.choice(list(SHAKES))
        size = SHAKES[name][1]
        key = rng.choice([key for key in keys if (key.bits - 1 + 7) // 8 >= 2 * size + 2])
        message = rng.randbytes(rng.choice([0, 1, 32, rng.randrange(600)]))
        case = {"scheme": "pss", "hash": name}
        if rng.random() < 0.5:
            case |= {"mgf_hash": name, "salt_len": size}
        way = rng.randrange(3)
        if way == 0:
            requests.append(dict(case, op="sign", key=key.private_pem, msg=message.hex()))

            def check(answer, name=name, key=key, message=message):
                power = pow(int(answer["out"], 16), key.public.public_numbers().e, key.n)
                encoding = power.to_bytes((key.bits - 1 + 7) // 8, "big")
                salt = shake_salt(name, encoding, key.bits)
                return encoding == shake_encoding(name, message, salt, key.bits)
            checks.append(("SHAKE: we sign, the model verifies", check))
            continue
        encoding = shake_encoding(name, message, rng.randbytes(size), key.bits)
        number = pow(int.from_bytes(encoding, "big"), key.private.private_numbers().d, key.n)
        signature = number.to_bytes(key.bytes, "big")
        expected, what = "accept", "SHAKE: the model signs, we verify"
        if way == 2:
            _, signature = rng.choice(almost_right(rng, key, signature))
            expected, what = "reject", "SHAKE: almost right, we reject"
        requests.append(dict(case, op="verify", key=key.public_pem, msg=message.hex(), sig=signature.hex()))
        checks.append((what, lambda answer, expected=expected: answer["result"] == expected))
    for request, (what, check), answer in zip(requests, checks, ask(options, requests)):
        tally.count(what, check(answer), (request, answer))


def openssl(*arguments):
    return subprocess.run(["openssl", *arguments], capture_output=True)


def signature_options(case):
    options = ["-pkeyopt", f"digest:{case['hash']}"]
    if case["scheme"] == "pkcs1v15":
        return options + ["-pkeyopt", "rsa_padding_mode:pkcs1"]
    return options + [
        "-pkeyopt", "rsa_padding_mode:pss",
        "-pkeyopt", f"rsa_mgf1_md:{case['mgf_hash']}",
        "-pkeyopt", f"rsa_pss_saltlen:{case['salt_len']}",
    ]


def encryption_options(case):
    if case["scheme"] == "pkcs1v15":
        return ["-pkeyopt", "rsa_padding_mode:pkcs1"]
    options = [
        "-pkeyopt", "rsa_padding_mode:oaep",
        "-pkeyopt", f"rsa_oaep_md:{case['hash']}",
        "-pkeyopt", f"rsa_mgf1_md:{case['mgf_hash']}",
    ]
    return options + (["-pkeyopt", f"rsa_oaep_label:{case['label']}"] if case["label"] else [])


def with_openssl(rng, options, keys, tally, folder):
    paths = []
    for place, key in enumerate(keys):
        private, public = folder / f"{place}.pem", folder / f"{place}.pub"
        private.write_text(key.private_pem)
        public.write_text(key.public_pem)
        paths.append((str(private), str(public)))
    file = lambda name: str(folder / name)
    requests, checks = [], []
    for _ in range(options.openssl):
        place = rng.randrange(len(keys))
        key, (private, public) = keys[place], paths[place]
        message = rng.randbytes(rng.randrange(100))
        way = rng.randrange(4)
        pathlib.Path(file("message")).write_bytes(message)
        if way < 2:
            case, _, their_hash = signature_case(rng, key, way == 0)
            digest = hashes.Hash(their_hash)
            digest.update(message)
            digest = digest.finalize()
        if way == 0:
            requests.append(dict(case, op="sign", key=key.private_pem, msg=message.hex()))

            def check(answer, case=case, digest=digest, public=public):
                pathlib.Path(file("digest")).write_bytes(digest)
                pathlib.Path(file("sig")).write_bytes(bytes.fromhex(answer["out"]))
                run = openssl("pkeyutl", "-verify", "-pubin", "-inkey", public, "-in", file("digest"),
                              "-sigfile", file("sig"), *signature_options(case))
                return run.returncode == 0
            name = "we sign, openssl verifies"
        elif way == 1:
            pathlib.Path(file("digest")).write_bytes(digest)
            run = openssl("pkeyutl", "-sign", "-inkey", private, "-in", file("digest"), *signature_options(case))
            if run.returncode:
                sys.exit(f"openssl cannot sign {case}: {run.stderr.decode()}")
            requests.append(dict(case, op="verify", key=key.public_pem, msg=message.hex(), sig=run.stdout.hex()))

            def check(answer):
                return answer["result"] == "accept"
            name = "openssl signs, we verify"
        else:
            case, _, most = encryption_case(rng, key, list(HASHES))
            message = message[: rng.randrange(most + 1)]
            pathlib.Path(file("message")).write_bytes(message)
            if way == 2:
                requests.append(dict(case, op="encrypt", key=key.public_pem, msg=message.hex()))

                def check(answer, case=case, message=message, private=private):
                    pathlib.Path(file("ct")).write_bytes(bytes.fromhex(answer["out"]))
                    run = openssl("pkeyutl", "-decrypt", "-inkey", private, "-in", file("ct"), *encryption_options(case))
                    return run.returncode == 0 and run.stdout == message
                name = "we encrypt, openssl decrypts"
            else:
                run = openssl("pkeyutl", "-encrypt", "-pubin", "-inkey", public, "-in", file("message"),
                              *encryption_options(case))
                if run.returncode:
                    sys.exit(f"openssl cannot encrypt {case}: {run.stderr.decode()}")
                requests.append(dict(case, op="decrypt", key=key.private_pem, ct=run.stdout.hex()))

                def check(answer, message=message):
                    return answer.get("out") == message.hex()
                name = "openssl encrypts, we decrypt"
        checks.append((name, check))
    for request, (name, check), answer in zip(requests, checks, ask(options, requests)):
        tally.count(name, check(answer), (request, answer))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rsalab", default="target/release/rsalab")
    parser.add_argument("--kernel")
    parser.add_argument("--batch", type=int)
    parser.add_argument("--count", type=int, default=8000)
    parser.add_argument("--openssl", type=int, default=2000)
    parser.add_argument("--shake", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=None)
    options = parser.parse_args()
    options.rsalab = os.path.abspath(options.rsalab)
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")
    rng = random.Random(seed)
    keys = [Key(bits, e) for bits, e in [(1024, 65537), (1024, 3), (1032, 65537), (1536, 65537), (2048, 65537), (3072, 65537), (4096, 65537)]]
    tally = Tally()
    with_cryptography(rng, options, keys, tally)
    with_shake(rng, options, keys, tally)
    with tempfile.TemporaryDirectory() as folder:
        with_openssl(rng, options, keys, tally, pathlib.Path(folder))
    for what, count in sorted(tally.counts.items()):
        print(f"{count:6}  {what}")
    print(f"{sum(tally.counts.values()):6}  operations, {len(tally.wrong)} differences")
    for what, detail in tally.wrong[:5]:
        print(what, json.dumps(detail), file=sys.stderr)
    sys.exit(bool(tally.wrong))


if __name__ == "__main__":
    main()
