#!/usr/bin/env python3
"""Do rsalab and other programs understand each other? Without a line of rsalab's own code.

    scripts/check.py formats [--rsalab PATH] [--bits 1024,2048,3072,4096]
    scripts/check.py schemes [--rsalab PATH] [--kernel NAME] [--batch N] [--count N] [--openssl N] [--shake N] [--seed N]
    scripts/check.py keys FOLDER COUNT BITS
    scripts/check.py samples STUDY [--rsalab PATH]

formats: each format of `rsalab key convert` goes to two programs at least, and comes back from one that writes it, number for number:
the `openssl` command and Python's `cryptography` for DER and PEM, with a password or without; `ssh-keygen` and `cryptography` for
OpenSSH's; `jwcrypto` and `joserfc` for JSON Web Keys. A program that is not there is named, and its rows are left out.

schemes: random operations over schemes, hash functions, sizes of keys and lengths of messages, both ways: what rsalab signs or encrypts,
`cryptography` (`--count` operations) and the `openssl` command (`--openssl`) verify or decrypt, and the other way round. Then signatures
that are almost right, which rsalab must reject. Neither of the two knows RSASSA-PSS with SHAKE (RFC 8702): `--shake` operations go to
a model in this file, made of Python's integers and hashlib.

keys: every key of a folder that `rsalab keygen --count N --out FOLDER` made: its integers by a reader of DER that is written here, p
and q by GMP's probable-prime test, their relations by Python's integers, its digest in the manifest, no two alike, mode 0600. One key in
fifty is read by `cryptography`, where that is installed. Takes PKCS#8 in PEM.

samples: a study's samples as `rsalab export` writes them, in both formats, read by pandas: the two must hold the same, and their medians and speeds
must be those of the report. Without pandas, or without its reader of Parquet (pyarrow), it is skipped.

It ends with code 1 if anything differs.
"""

import argparse
import base64
import collections
import ctypes
import ctypes.util
import hashlib
import json
import math
import multiprocessing
import os
import pathlib
import random
import shutil
import stat
import subprocess
import sys
import tempfile


def optional(name):
    try:
        return __import__(name, fromlist=["_"])
    except ImportError:
        print(f"SKIPPED: there is no Python module {name}")
        return None


def run(*command, text=None):
    done = subprocess.run(command, input=text, capture_output=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: code {done.returncode}: {done.stderr.decode()}")
    return done.stdout


class Tally:
    """What was compared, how often, and what differed."""

    def __init__(self):
        self.counts, self.wrong = collections.Counter(), []

    def count(self, what, is_right, detail=None):
        self.counts[what] += 1
        if not is_right:
            self.wrong.append((what, detail))

    def exit(self):
        for what, count in sorted(self.counts.items()):
            print(f"{count:6}  {what}")
        print(f"{sum(self.counts.values()):6}  comparisons, {len(self.wrong)} differences")
        for what, detail in self.wrong[:5]:
            print(what, json.dumps(detail), file=sys.stderr)
        sys.exit(bool(self.wrong))


# ---- formats ----

PASSWORD = b"open, sesame"


def numbers(key):
    """All numbers of a private key of `cryptography`, in the order of PKCS#1."""
    private = key.private_numbers()
    public = private.public_numbers
    return (public.n, public.e, private.d, private.p, private.q, private.dmp1, private.dmq1, private.iqmp)


class FormatCheck:
    """One key in every format, in a folder of its own."""

    def __init__(self, program, folder, tally, bits):
        self.program, self.folder, self.tally, self.bits = program, folder, tally, bits

    def path(self, name):
        return str(self.folder / name)

    def bytes(self, name):
        return (self.folder / name).read_bytes()

    def rsalab(self, *arguments):
        return run(self.program, "--quiet", *arguments)

    def row(self, what, is_right):
        self.tally.count(what, is_right, f"{self.bits} bits")

    def back(self, name, contents, what):
        """A file of another program's, read by rsalab and written as PKCS#8."""
        (self.folder / name).write_bytes(contents)
        password = ["--password-file", self.path("password")] if "locked" in name else []
        again = self.rsalab("key", "convert", self.path(name), "--format", "pkcs8-der", "--out", "-", *password)
        self.row(f"{what}, back", again == self.whole)

    def check(self, modules):
        (self.folder / "password").write_bytes(PASSWORD + b"\n")
        self.rsalab("keygen", "--bits", str(self.bits), "--insecure-size", "--out", self.path("key"))
        self.whole = self.rsalab("key", "convert", self.path("key"), "--format", "pkcs8-der", "--out", "-")
        for name in ["pkcs8-pem", "pkcs8-der", "pkcs1-pem", "pkcs1-der", "pkcs8-encrypted", "jwk", "openssh"]:
            password = ["--new-password-file", self.path("password")] if name == "pkcs8-encrypted" else []
            self.rsalab("key", "convert", self.path("key"), "--format", name, "--out", self.path(name), *password)
            self.rsalab("key", "public", self.path("key"), "--format", name, "--out", self.path(name + ".pub"))
        key = modules["formats"].load_der_private_key(self.whole, None)
        self.der_and_pem(modules["formats"], key)
        self.openssh(modules["formats"], key)
        self.json_web_keys(modules, key)

    def der_and_pem(self, formats, key):
        public = key.public_key().public_numbers()
        for name in ["pkcs8-pem", "pkcs8-der", "pkcs1-pem", "pkcs1-der", "pkcs8-encrypted"]:
            is_der, is_locked = name.endswith("der"), name == "pkcs8-encrypted"
            load = formats.load_der_private_key if is_der else formats.load_pem_private_key
            read = load(self.bytes(name), PASSWORD if is_locked else None)
            self.row(f"{name} by cryptography", numbers(read) == numbers(key))
            options = ["-passin", "file:" + self.path("password")] if is_locked else []
            options += ["-inform", "der"] if is_der else []
            der = run("openssl", "pkcs8", "-topk8", "-nocrypt", "-in", self.path(name), "-outform", "der", *options)
            self.row(f"{name} by openssl", der == self.whole)
            checked = run("openssl", "rsa", "-check", "-noout", "-in", self.path(name), *options)
            self.row(f"{name} checked by openssl", b"RSA key ok" in checked)
            if is_locked:
                continue
            load = formats.load_der_public_key if is_der else formats.load_pem_public_key
            self.row(f"public {name} by cryptography", load(self.bytes(name + ".pub")).public_numbers() == public)
            structure = "-pubin" if name.startswith("pkcs8") else "-RSAPublicKey_in"
            modulus = run("openssl", "rsa", structure, "-in", self.path(name + ".pub"), "-modulus", "-noout", *options)
            self.row(f"public {name} by openssl", int(modulus.split(b"=")[1], 16) == public.n)
        encodings = {"pem": formats.Encoding.PEM, "der": formats.Encoding.DER}
        locks = {"": formats.NoEncryption(), "locked": formats.BestAvailableEncryption(PASSWORD)}
        structures = {"pkcs8": formats.PrivateFormat.PKCS8, "pkcs1": formats.PrivateFormat.TraditionalOpenSSL}
        for structure, lock in [("pkcs8", ""), ("pkcs1", ""), ("pkcs8", "locked")]:
            for encoding in encodings:
                name = f"theirs-{structure}{lock}.{encoding}"
                theirs = key.private_bytes(encodings[encoding], structures[structure], locks[lock])
                self.back(name, theirs, f"{name} of cryptography")

    def openssh(self, formats, key):
        plain = formats.NoEncryption()
        theirs = key.private_bytes(formats.Encoding.PEM, formats.PrivateFormat.OpenSSH, plain)
        self.back("theirs-openssh", theirs, "theirs-openssh of cryptography")
        self.row("openssh by cryptography", numbers(formats.load_ssh_private_key(self.bytes("openssh"), None)) == numbers(key))
        line = self.bytes("openssh.pub")
        read = formats.load_ssh_public_key(line).public_numbers()
        self.row("public openssh by cryptography", read == key.public_key().public_numbers())
        if ssh_keygen := shutil.which("ssh-keygen"):
            os.chmod(self.path("openssh"), 0o600)
            printed = run(ssh_keygen, "-y", "-P", "", "-f", self.path("openssh")).split()[:2]
            self.row("openssh by ssh-keygen", printed == line.split()[:2])
            shutil.copy(self.path("openssh"), self.path("rewritten"))
            run(ssh_keygen, "-p", "-P", "", "-N", "", "-f", self.path("rewritten"))
            self.back("theirs-ssh", self.bytes("rewritten"), "openssh of ssh-keygen")

    def json_web_keys(self, modules, key):
        formats, ours, half = modules["formats"], self.bytes("jwk"), self.bytes("jwk.pub")
        if jwcrypto := modules["jwcrypto"]:
            theirs = jwcrypto.JWK.from_json(ours.decode())
            read = formats.load_pem_private_key(theirs.export_to_pem(True, None), None)
            self.row("jwk by jwcrypto", numbers(read) == numbers(key))
            self.row("jwk thumbprint by jwcrypto", theirs.thumbprint() == json.loads(ours)["kid"])
            self.row("public jwk by jwcrypto", theirs.thumbprint() == jwcrypto.JWK.from_json(half.decode()).thumbprint())
            pem = key.private_bytes(formats.Encoding.PEM, formats.PrivateFormat.PKCS8, formats.NoEncryption())
            self.back("theirs-jwcrypto", jwcrypto.JWK.from_pem(pem).export_private().encode(), "jwk of jwcrypto")
        if joserfc := modules["joserfc"]:
            theirs = joserfc.RSAKey.import_key(json.loads(ours))
            self.row("jwk by joserfc", numbers(theirs.private_key) == numbers(key))
            read = joserfc.RSAKey.import_key(json.loads(half)).public_key.public_numbers()
            self.row("public jwk by joserfc", read == key.public_key().public_numbers())
            self.back("theirs-joserfc", json.dumps(theirs.as_dict(private=True)).encode(), "jwk of joserfc")


def check_formats(options):
    from cryptography.hazmat.primitives import serialization
    modules = {"formats": serialization, "jwcrypto": optional("jwcrypto.jwk"), "joserfc": optional("joserfc.jwk")}
    if not shutil.which("ssh-keygen"):
        print("SKIPPED: there is no ssh-keygen")
    tally = Tally()
    for bits in map(int, options.bits.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            FormatCheck(options.rsalab, pathlib.Path(folder), tally, bits).check(modules)
    tally.exit()


# ---- schemes ----

HASHES = ["sha1", "sha224", "sha256", "sha384", "sha512", "sha512-224", "sha512-256",
          "sha3-224", "sha3-256", "sha3-384", "sha3-512"]
# The hash functions that `cryptography` takes inside OAEP; the command takes all.
IN_OAEP = HASHES[:5]
# RFC 8702, section 2: the function, and the bytes of its digest and of the salt.
SHAKES = {"shake128": (hashlib.shake_128, 32), "shake256": (hashlib.shake_256, 64)}


class Key:
    def __init__(self, bits, e, folder):
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import rsa
        self.private = rsa.generate_private_key(e, bits)
        self.public = self.private.public_key()
        self.bits, self.bytes = bits, (bits + 7) // 8
        self.n, self.e = self.public.public_numbers().n, e
        pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
        self.private_pem = self.private.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain).decode()
        self.public_pem = self.public.public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo).decode()
        self.private_file, self.public_file = str(folder / f"{bits}-{e}.pem"), str(folder / f"{bits}-{e}.pub")
        pathlib.Path(self.private_file).write_text(self.private_pem)
        pathlib.Path(self.public_file).write_text(self.public_pem)


class SchemeCheck:
    """Makes cases: what they are, the request for rsalab, and whether an answer is what it must be."""

    def __init__(self, rng, folder):
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import padding
        self.rng, self.folder, self.hashes, self.padding, self.invalid = rng, folder, hashes, padding, InvalidSignature
        self.keys = [Key(bits, e, folder) for bits, e in [
            (1024, 65537), (1024, 3), (1032, 65537), (1536, 65537), (2048, 65537), (3072, 65537), (4096, 65537)]]

    def hash(self, name):
        return getattr(self.hashes, name.upper().replace("-", "_"))()

    def file(self, name, contents):
        path = self.folder / name
        path.write_bytes(contents)
        return str(path)

    def signature_scheme(self, key, signing):
        """A scheme that the key has room for: the members of a request, and `cryptography`'s padding and hash."""
        names = [name for name in HASHES if not (signing and name == "sha1")]
        while True:
            name = self.rng.choice(names)
            size = self.hash(name).digest_size
            if self.rng.random() < 0.4:
                if key.bytes < size + 19 + 11:
                    continue
                return {"scheme": "pkcs1v15", "hash": name}, (self.padding.PKCS1v15(), self.hash(name))
            mgf = name if self.rng.random() < 0.5 else self.rng.choice(names)
            most = (key.bits - 1 + 7) // 8 - size - 2
            if most < 0:
                continue
            salt = min(most, self.rng.choice([size, 0, most, self.rng.randrange(most + 1)]))
            scheme = {"scheme": "pss", "hash": name, "mgf_hash": mgf, "salt_len": salt}
            return scheme, (self.padding.PSS(self.padding.MGF1(self.hash(mgf)), salt), self.hash(name))

    def encryption_scheme(self, key, names):
        """The same for encryption, and a message that fits."""
        while True:
            if self.rng.random() < 0.3:
                scheme, theirs, most = {"scheme": "pkcs1v15"}, self.padding.PKCS1v15(), key.bytes - 11
            else:
                name, mgf = self.rng.choice(names), self.rng.choice(names)
                mgf = name if self.rng.random() < 0.5 else mgf
                most = key.bytes - 2 * self.hash(name).digest_size - 2
                label = self.rng.randbytes(self.rng.choice([0, 0, 1, 40]))
                scheme = {"scheme": "oaep", "hash": name, "mgf_hash": mgf, "label": label.hex()}
                theirs = self.padding.OAEP(self.padding.MGF1(self.hash(mgf)), self.hash(name), label or None)
            if most >= 0:
                return scheme, theirs, self.rng.randbytes(self.rng.choice([most, self.rng.randrange(most + 1)]))

    def almost_right(self, key, signature):
        """A signature that is none."""
        flipped = bytearray(signature)
        flipped[self.rng.randrange(len(flipped))] ^= 1 << self.rng.randrange(8)
        plus_n = int.from_bytes(signature, "big") + key.n
        return self.rng.choice([
            signature + b"\0", b"\0" + signature, signature[:-1], signature[1:],
            plus_n.to_bytes((plus_n.bit_length() + 7) // 8, "big"), bytes(flipped), b""])

    def verify(self, what, scheme, key, message, signature, expected):
        request = dict(scheme, op="verify", key=key.public_pem, msg=message.hex(), sig=signature.hex())
        return what, request, lambda answer: answer["result"] == expected

    def decrypt(self, what, scheme, key, ciphertext, message):
        request = dict(scheme, op="decrypt", key=key.private_pem, ct=ciphertext.hex())
        return what, request, lambda answer: answer.get("out") == message.hex()

    def with_cryptography(self):
        key = self.rng.choice(self.keys)
        message = self.rng.randbytes(self.rng.choice([0, 1, 32, self.rng.randrange(300)]))
        way = self.rng.randrange(11)
        if way == 10:
            # Padding that is wrong: both must make up the same message (draft-irtf-cfrg-rsa-guidance).
            ciphertext = self.rng.randrange(key.n).to_bytes(key.bytes, "big")
            noise = key.private.decrypt(ciphertext, self.padding.PKCS1v15())
            return self.decrypt("wrong padding, the same message from both", {"scheme": "pkcs1v15"}, key, ciphertext, noise)
        if way % 5 < 3:
            scheme, theirs = self.signature_scheme(key, way % 5 == 0)
            if way % 5 == 0:
                def check(answer):
                    try:
                        key.public.verify(bytes.fromhex(answer["out"]), message, *theirs)
                        return True
                    except (self.invalid, KeyError):
                        return False
                request = dict(scheme, op="sign", key=key.private_pem, msg=message.hex())
                return "we sign, cryptography verifies", request, check
            signature = key.private.sign(message, *theirs)
            if way % 5 == 1:
                return self.verify("cryptography signs, we verify", scheme, key, message, signature, "accept")
            return self.verify("almost right, we reject", scheme, key, message, self.almost_right(key, signature), "reject")
        scheme, theirs, message = self.encryption_scheme(key, IN_OAEP)
        if way % 5 == 3:
            request = dict(scheme, op="encrypt", key=key.public_pem, msg=message.hex())
            return ("we encrypt, cryptography decrypts", request,
                    lambda answer: key.private.decrypt(bytes.fromhex(answer["out"]), theirs) == message)
        ciphertext = key.public.encrypt(message, theirs)
        return self.decrypt("cryptography encrypts, we decrypt", scheme, key, ciphertext, message)

    def with_shake(self):
        name = self.rng.choice(list(SHAKES))
        size = SHAKES[name][1]
        key = self.rng.choice([key for key in self.keys if (key.bits - 1 + 7) // 8 >= 2 * size + 2])
        message = self.rng.randbytes(self.rng.choice([0, 1, 32, self.rng.randrange(600)]))
        scheme = {"scheme": "pss", "hash": name}
        if self.rng.random() < 0.5:
            scheme |= {"mgf_hash": name, "salt_len": size}
        way = self.rng.randrange(3)
        if way == 0:
            def check(answer):
                power = pow(int(answer["out"], 16), key.e, key.n)
                encoding = power.to_bytes((key.bits - 1 + 7) // 8, "big")
                return encoding == shake_encoding(name, message, shake_salt(name, encoding), key.bits)
            request = dict(scheme, op="sign", key=key.private_pem, msg=message.hex())
            return "SHAKE: we sign, the model verifies", request, check
        encoding = shake_encoding(name, message, self.rng.randbytes(size), key.bits)
        number = pow(int.from_bytes(encoding, "big"), key.private.private_numbers().d, key.n)
        signature = number.to_bytes(key.bytes, "big")
        if way == 1:
            return self.verify("SHAKE: the model signs, we verify", scheme, key, message, signature, "accept")
        return self.verify("SHAKE: almost right, we reject", scheme, key, message, self.almost_right(key, signature), "reject")

    def with_openssl(self):
        key, way = self.rng.choice(self.keys), self.rng.randrange(4)
        private, public = ["-inkey", key.private_file], ["-pubin", "-inkey", key.public_file]
        if way < 2:
            message = self.rng.randbytes(self.rng.randrange(100))
            scheme, (_, function) = self.signature_scheme(key, way == 0)
            digest = self.hashes.Hash(function)
            digest.update(message)
            digest = digest.finalize()
            options = openssl_options(scheme)
            if way == 0:
                def check(answer):
                    files = ["-in", self.file("digest", digest), "-sigfile", self.file("sig", bytes.fromhex(answer["out"]))]
                    return openssl("-verify", *public, *files, *options).returncode == 0
                request = dict(scheme, op="sign", key=key.private_pem, msg=message.hex())
                return "we sign, openssl verifies", request, check
            signature = run("openssl", "pkeyutl", "-sign", *private, "-in", self.file("digest", digest), *options)
            return self.verify("openssl signs, we verify", scheme, key, message, signature, "accept")
        scheme, _, message = self.encryption_scheme(key, HASHES)
        options = openssl_options(scheme)
        if way == 2:
            def check(answer):
                done = openssl("-decrypt", *private, "-in", self.file("ct", bytes.fromhex(answer["out"])), *options)
                return done.returncode == 0 and done.stdout == message
            request = dict(scheme, op="encrypt", key=key.public_pem, msg=message.hex())
            return "we encrypt, openssl decrypts", request, check
        ciphertext = run("openssl", "pkeyutl", "-encrypt", *public, "-in", self.file("message", message), *options)
        return self.decrypt("openssl encrypts, we decrypt", scheme, key, ciphertext, message)


def shake_encoding(name, message, salt, bits):
    """EMSA-PSS (RFC 8017, section 9.1.1) for a modulus of so many bits, with the mask of RFC 8702, section 3.2.1."""
    function, size = SHAKES[name]
    length = (bits - 1 + 7) // 8
    hashed = function(bytes(8) + function(message).digest(size) + salt).digest(size)
    block = bytes(length - 2 * size - 2) + b"\1" + salt
    masked = bytearray(a ^ b for a, b in zip(block, function(hashed).digest(len(block))))
    masked[0] &= 0xFF >> (8 * length - (bits - 1))
    return bytes(masked) + hashed + b"\xbc"


def shake_salt(name, encoding):
    """The salt of an encoding that may be one."""
    function, size = SHAKES[name]
    hashed, block = encoding[-size - 1:-1], encoding[:-size - 1]
    return bytes(a ^ b for a, b in zip(block, function(hashed).digest(len(block))))[-size:]


def openssl(*arguments):
    return subprocess.run(["openssl", "pkeyutl", *arguments], capture_output=True)


def openssl_options(scheme):
    """The options of a scheme, as the command names them; PKCS#1 v1.5 encrypts without a hash."""
    name = scheme["scheme"]
    pairs = {
        "pkcs1v15": [("digest", "hash"), ("rsa_padding_mode", "pkcs1")],
        "pss": [("digest", "hash"), ("rsa_padding_mode", "pss"), ("rsa_mgf1_md", "mgf_hash"), ("rsa_pss_saltlen", "salt_len")],
        "oaep": [("rsa_padding_mode", "oaep"), ("rsa_oaep_md", "hash"), ("rsa_mgf1_md", "mgf_hash"), ("rsa_oaep_label", "label")],
    }[name]
    values = [(option, member if option == "rsa_padding_mode" else scheme.get(member)) for option, member in pairs]
    return [word for option, value in values if value not in (None, "") for word in ("-pkeyopt", f"{option}:{value}")]


def check_schemes(options):
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")
    command = [options.rsalab, "vectors", "-"]
    command += ["--kernel", options.kernel] if options.kernel else []
    command += ["--batch", str(options.batch)] if options.batch else []
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        check = SchemeCheck(random.Random(seed), pathlib.Path(folder))
        for case, count in [(check.with_cryptography, options.count), (check.with_shake, options.shake),
                            (check.with_openssl, options.openssl)]:
            cases = [case() for _ in range(count)]
            lines = "".join(json.dumps(dict(request, id=place)) + "\n" for place, (_, request, _) in enumerate(cases))
            answers = [json.loads(line) for line in run(*command, text=lines.encode()).splitlines()]
            assert [answer["id"] for answer in answers] == list(range(count))
            for (what, request, is_right), answer in zip(cases, answers):
                tally.count(what, is_right(answer), (request, answer))
    tally.exit()


# ---- keys ----

GMP_REPS = 25


class Mpz(ctypes.Structure):
    _fields_ = [("alloc", ctypes.c_int), ("size", ctypes.c_int), ("limbs", ctypes.c_void_p)]


def is_prime_by_gmp(number):
    gmp = ctypes.CDLL(ctypes.util.find_library("gmp") or "libgmp.so.10")
    mpz = Mpz()
    gmp.__gmpz_init_set_str(ctypes.byref(mpz), b"%x" % number, 16)
    verdict = gmp.__gmpz_probab_prime_p(ctypes.byref(mpz), GMP_REPS)
    gmp.__gmpz_clear(ctypes.byref(mpz))
    return verdict != 0


def elements(der):
    """Tags and contents of the DER elements in a row."""
    found, at = [], 0
    while at < len(der):
        tag, length, start = der[at], der[at + 1], at + 2
        if length >= 0x80:
            start += length - 0x80
            length = int.from_bytes(der[at + 2 : start], "big")
        at = start + length
        found.append((tag, der[start:at]))
    return found


def integers(pem):
    body = b"".join(line for line in pem.splitlines() if not line.startswith(b"-----"))
    outer = elements(base64.b64decode(body, validate=True))
    assert len(outer) == 1 and outer[0][0] == 0x30
    version, algorithm, key = elements(outer[0][1])[:3]
    assert version == (2, b"\x00") and key[0] == 4
    inner = elements(elements(key[1])[0][1])
    assert all(tag == 2 for tag, _ in inner) and len(inner) == 9
    return [int.from_bytes(contents, "big") for _, contents in inner][1:], algorithm[1]


def encoded(tag, contents):
    length = len(contents)
    size = (length.bit_length() + 7) // 8
    head = bytes([length]) if length < 0x80 else bytes([0x80 + size]) + length.to_bytes(size, "big")
    return bytes([tag]) + head + contents


def check_key(job):
    with_cryptography, path, entry, bits = job
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600, path
    pem = pathlib.Path(path).read_bytes()
    (n, e, d, p, q, dp, dq, qinv), algorithm = integers(pem)
    assert n == p * q and n.bit_length() == bits and p > q, path
    assert abs(p - q) > 1 << (bits // 2 - 100), path
    assert all(r * r >= 1 << (bits - 1) and r.bit_length() == bits // 2 for r in (p, q)), path
    assert d == pow(e, -1, math.lcm(p - 1, q - 1)) and d > 1 << (bits // 2), path
    assert (dp, dq, qinv) == (d % (p - 1), d % (q - 1), pow(q, -1, p)), path
    assert is_prime_by_gmp(p) and is_prime_by_gmp(q), path
    public = [encoded(2, value.to_bytes(value.bit_length() // 8 + 1, "big")) for value in (n, e)]
    spki = encoded(0x30, encoded(0x30, algorithm) + encoded(3, b"\x00" + encoded(0x30, b"".join(public))))
    assert hashlib.sha256(spki).hexdigest() == entry["sha256"], path
    if with_cryptography:
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
        read = load_pem_private_key(pem, None).private_numbers()
        assert (read.p, read.q, read.public_numbers.n) == (p, q, n), path
    return p, q, with_cryptography


def check_keys(options):
    has_cryptography = optional("cryptography.hazmat.primitives.serialization") is not None
    with open(os.path.join(options.folder, "manifest.jsonl"), encoding="utf-8") as file:
        entries = [json.loads(line) for line in file][1:]
    assert len(entries) == options.keys, f"the manifest has {len(entries)} keys"
    assert sorted(entry["number"] for entry in entries) == list(range(1, options.keys + 1))
    names = {"manifest.jsonl"} | {entry["file"] for entry in entries}
    assert set(os.listdir(options.folder)) == names, "something else lies there"
    jobs = [(has_cryptography and place % 50 == 0, os.path.join(options.folder, entry["file"]), entry, options.key_bits)
            for place, entry in enumerate(entries)]
    primes, read = set(), 0
    with multiprocessing.Pool() as pool:
        for p, q, is_read in pool.imap_unordered(check_key, jobs, 64):
            primes |= {p, q}
            read += is_read
    assert len(primes) == 2 * options.keys, "a prime is there twice"
    print(f"{options.keys} keys of {options.key_bits} bits: {2 * options.keys} primes, all different, pass GMP's test; "
          f"{read} read by cryptography; no fault found")


# ---- samples ----

JOB = ["op", "bits", "threads", "batch", "mode", "bare", "exponent", "message_bits", "symbols", "block_symbols",
       "primes", "keys", "message_bytes"]


def check_samples(arguments):
    pandas, pyarrow = optional("pandas"), optional("pyarrow.parquet")
    if not pandas or not pyarrow:
        return
    with tempfile.TemporaryDirectory() as home:
        paths = {format: f"{home}/samples.{format}" for format in ["csv", "parquet"]}
        for path in paths.values():
            run(arguments.rsalab, "export", arguments.study, "--samples", "--out", path, "--quiet")
        run(arguments.rsalab, "report", arguments.study, "--out", f"{home}/report", "--quiet")
        report = json.loads(pathlib.Path(f"{home}/report/results.json").read_text())
        as_text = {"exponent": str, "interruption": str}
        csv, parquet = pandas.read_csv(paths["csv"], dtype=as_text), pandas.read_parquet(paths["parquet"])
        for format, path in paths.items():
            print(f"{os.path.getsize(path):9}  bytes of {format}")

    tally = Tally()
    tally.count("columns", list(csv.columns) == list(parquet.columns))
    for name in csv.columns:
        one, other = csv[name], parquet[name]
        same = (one.isna() == other.isna()).all() and (one.dropna() == other.dropna()).all()
        tally.count("columns that are the same in both formats", bool(same), name)

    counted = parquet[parquet.counted].assign(ns=lambda it: it.elapsed_ns / it.operations)
    measured = 0
    for group in report["groups"]:
        job = {"message_bits": None, **group["job"]}
        is_group = pandas.Series(True, index=counted.index)
        for name in JOB:
            asked = str(job[name]) if name == "exponent" else job[name]
            is_group &= counted[name].isna() if asked is None else counted[name] == asked
        for row in group["rows"]:
            cell = counted[is_group & (counted.engine == row["engine"]) & (counted.bare == row["is_bare"])]
            detail = {"job": job, "engine": row["engine"]}
            if not row["figures"]:
                tally.count("cells without a figure have no counted samples", cell.empty, detail)
                continue
            measured += len(cell)
            figures = row["figures"]
            tally.count("numbers of samples and of operations", bool(
                len(cell) == figures["summary"]["n"] and cell.operations.sum() == figures["operations"]), detail)
            tally.count("medians", math.isclose(cell.ns.median(), figures["ns_per_op"]["value"], rel_tol=1e-12), detail)
            if row["disturbance"]:
                continue  # the discarded beginnings of disturbed blocks count, and are not exported
            speed = cell.operations.sum() / cell.elapsed_ns.sum() * 1e9
            tally.count("speeds", math.isclose(speed, figures["ops_per_s"]["value"], rel_tol=1e-12), detail)
    tally.count("no counted sample is left over", measured == len(counted), [measured, len(counted)])
    tally.exit()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    formats, schemes, keys, samples = (commands.add_parser(name) for name in ["formats", "schemes", "keys", "samples"])
    for command in formats, schemes, samples:
        command.add_argument("--rsalab", type=os.path.abspath, default=os.path.abspath("target/release/rsalab"))
    formats.set_defaults(check=check_formats)
    formats.add_argument("--bits", default="1024,2048,3072,4096")
    schemes.set_defaults(check=check_schemes)
    schemes.add_argument("--kernel")
    for name, default in [("batch", None), ("count", 8000), ("openssl", 2000), ("shake", 1000), ("seed", None)]:
        schemes.add_argument(f"--{name}", type=int, default=default)
    samples.set_defaults(check=check_samples)
    samples.add_argument("study")
    keys.set_defaults(check=check_keys)
    keys.add_argument("folder")
    keys.add_argument("keys", type=int, metavar="count")
    keys.add_argument("key_bits", type=int, metavar="bits")
    options = parser.parse_args()
    options.check(options)


if __name__ == "__main__":
    main()
