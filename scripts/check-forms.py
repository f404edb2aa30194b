#!/usr/bin/env python3
"""Are the keys that rsalab writes read by other programs, and theirs by rsalab, number for number?

Each format of `rsalab key convert` goes to two programs at least, and comes back from one that writes it: the `openssl` command and
Python's `cryptography` for DER and PEM, with a password or without; `ssh-keygen` and `cryptography` for OpenSSH's form; `jwcrypto` and
`joserfc` for JSON Web Keys. A program that is not there is named, and its rows are left out.

    scripts/check-forms.py [--rsalab PATH] [--bits 1024,2048,3072,4096]
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from cryptography.hazmat.primitives import serialization as forms

PASSWORD = b"open, sesame"


def optional(name):
    try:
        return __import__(name, fromlist=["_"])
    except ImportError:
        print(f"SKIPPED: there is no Python module {name}")
        return None


JWCRYPTO, JOSERFC = optional("jwcrypto.jwk"), optional("joserfc.jwk")
SSH_KEYGEN = shutil.which("ssh-keygen")
if not SSH_KEYGEN:
    print("SKIPPED: there is no ssh-keygen")


def run(*command):
    done = subprocess.run(command, capture_output=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr.decode()}")
    return done.stdout


def numbers(key):
    """All numbers of a private key of `cryptography`, in the order of PKCS#1."""
    private = key.private_numbers()
    public = private.public_numbers
    return (public.n, public.e, private.d, private.p, private.q, private.dmp1, private.dmq1, private.iqmp)


def pem_of(key):
    return key.private_bytes(forms.Encoding.PEM, forms.PrivateFormat.PKCS8, forms.NoEncryption())


class Lab:
    def __init__(self, program, folder):
        self.program, self.folder, self.rows = program, folder, []

    def path(self, name):
        return str(self.folder / name)

    def rsalab(self, *arguments):
        return run(self.program, "--quiet", *arguments)

    def row(self, what, is_right):
        self.rows.append((what, is_right))

    def back(self, name, whole, what):
        """A file of another program's, read by rsalab and written as PKCS#8."""
        again = self.rsalab("key", "convert", self.path(name), "--format", "pkcs8-der", "--out", "-",
                            *(["--password-file", self.path("password")] if "locked" in name else []))
        self.row(f"{what}, back", again == whole)


def check(lab, bits):
    for old in lab.folder.iterdir():
        old.unlink()
    (lab.folder / "password").write_bytes(PASSWORD + b"\n")
    lab.rsalab("keygen", "--bits", str(bits), "--insecure-size", "--out", lab.path("key"))
    whole = lab.rsalab("key", "convert", lab.path("key"), "--format", "pkcs8-der", "--out", "-")
    key = forms.load_der_private_key(whole, None)
    expected = numbers(key)
    for form in ["pkcs8-pem", "pkcs8-der", "pkcs1-pem", "pkcs1-der", "pkcs8-encrypted", "jwk", "openssh"]:
        lab.rsalab("key", "convert", lab.path("key"), "--format", form, "--out", lab.path(form),
                   *(["--new-password-file", lab.path("password")] if form == "pkcs8-encrypted" else []))
        lab.rsalab("key", "public", lab.path("key"), "--format", form, "--out", lab.path(form + ".pub"))
    read = {form: (lab.folder / form).read_bytes() for form in ["pkcs8-pem", "pkcs1-pem", "pkcs8-encrypted", "openssh"]}
    public = key.public_key().public_numbers()

    for form in ["pkcs8-pem", "pkcs1-pem"]:
        lab.row(f"{form} by cryptography", numbers(forms.load_pem_private_key(read[form], None)) == expected)
    for form in ["pkcs8-der", "pkcs1-der"]:
        der = (lab.folder / form).read_bytes()
        lab.row(f"{form} by cryptography", numbers(forms.load_der_private_key(der, None)) == expected)
    locked = forms.load_pem_private_key(read["pkcs8-encrypted"], PASSWORD)
    lab.row("pkcs8-encrypted by cryptography", numbers(locked) == expected)
    for form in ["pkcs8-pem", "pkcs8-der", "pkcs1-pem", "pkcs1-der", "pkcs8-encrypted"]:
        password = ["-passin", "file:" + lab.path("password")] if form == "pkcs8-encrypted" else []
        der = run("openssl", "pkcs8", "-topk8", "-nocrypt", "-in", lab.path(form), "-outform", "der", *password,
                  *(["-inform", "der"] if form.endswith("der") else []))
        lab.row(f"{form} by openssl", der == whole)
        checked = run("openssl", "rsa", "-check", "-noout", "-in", lab.path(form), *password,
                      *(["-inform", "der"] if form.endswith("der") else []))
        lab.row(f"{form} checked by openssl", b"RSA key ok" in checked)
    for form, encoding in [("pkcs8-pem", "pem"), ("pkcs8-der", "der"), ("pkcs1-pem", "pem"), ("pkcs1-der", "der")]:
        load = forms.load_pem_public_key if encoding == "pem" else forms.load_der_public_key
        lab.row(f"public {form} by cryptography", load((lab.folder / (form + ".pub")).read_bytes()).public_numbers() == public)
        structure = "-pubin" if form.startswith("pkcs8") else "-RSAPublicKey_in"
        modulus = run("openssl", "rsa", structure, "-inform", encoding, "-in", lab.path(form + ".pub"), "-modulus", "-noout")
        lab.row(f"public {form} by openssl", int(modulus.split(b"=")[1], 16) == public.n)

    plain = forms.NoEncryption()
    best = forms.BestAvailableEncryption(PASSWORD)
    for name, encoding, form, lock in [
        ("theirs-pkcs8.pem", forms.Encoding.PEM, forms.PrivateFormat.PKCS8, plain),
        ("theirs-pkcs8.der", forms.Encoding.DER, forms.PrivateFormat.PKCS8, plain),
        ("theirs-pkcs1.pem", forms.Encoding.PEM, forms.PrivateFormat.TraditionalOpenSSL, plain),
        ("theirs-pkcs1.der", forms.Encoding.DER, forms.PrivateFormat.TraditionalOpenSSL, plain),
        ("theirs-locked.pem", forms.Encoding.PEM, forms.PrivateFormat.PKCS8, best),
        ("theirs-locked.der", forms.Encoding.DER, forms.PrivateFormat.PKCS8, best),
        ("theirs-openssh", forms.Encoding.PEM, forms.PrivateFormat.OpenSSH, plain),
    ]:
        (lab.folder / name).write_bytes(key.private_bytes(encoding, form, lock))
        lab.back(name, whole, f"{name} of cryptography")

    ssh = forms.load_ssh_private_key(read["openssh"], None)
    lab.row("openssh by cryptography", numbers(ssh) == expected)
    line = (lab.folder / "openssh.pub").read_bytes()
    lab.row("public openssh by cryptography", forms.load_ssh_public_key(line).public_numbers() == public)
    if SSH_KEYGEN:
        os.chmod(lab.path("openssh"), 0o600)
        told = run(SSH_KEYGEN, "-y", "-P", "", "-f", lab.path("openssh")).split()[:2]
        lab.row("openssh by ssh-keygen", told == line.split()[:2])
        shutil.copy(lab.path("openssh"), lab.path("theirs-ssh"))
        run(SSH_KEYGEN, "-p", "-P", "", "-N", "", "-f", lab.path("theirs-ssh"))
        lab.back("theirs-ssh", whole, "openssh of ssh-keygen")

    text = (lab.folder / "jwk").read_text()
    half = (lab.folder / "jwk.pub").read_text()
    if JWCRYPTO:
        theirs = JWCRYPTO.JWK.from_json(text)
        lab.row("jwk by jwcrypto", numbers(forms.load_pem_private_key(theirs.export_to_pem(True, None), None)) == expected)
        lab.row("jwk thumbprint by jwcrypto", theirs.thumbprint() == json.loads(text)["kid"])
        lab.row("public jwk by jwcrypto", theirs.thumbprint() == JWCRYPTO.JWK.from_json(half).thumbprint())
        (lab.folder / "theirs-jwcrypto").write_text(JWCRYPTO.JWK.from_pem(pem_of(key)).export_private())
        lab.back("theirs-jwcrypto", whole, "jwk of jwcrypto")
    if JOSERFC:
        theirs = JOSERFC.RSAKey.import_key(json.loads(text))
        lab.row("jwk by joserfc", numbers(theirs.private_key) == expected)
        lab.row("public jwk by joserfc", JOSERFC.RSAKey.import_key(json.loads(half)).public_key.public_numbers() == public)
        (lab.folder / "theirs-joserfc").write_text(json.dumps(theirs.as_dict(private=True)))
        lab.back("theirs-joserfc", whole, "jwk of joserfc")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rsalab", default="target/release/rsalab")
    parser.add_argument("--bits", default="1024,2048,3072,4096")
    options = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for bits in map(int, options.bits.split(",")):
            lab = Lab(os.path.abspath(options.rsalab), pathlib.Path(folder))
            check(lab, bits)
            bad = [what for what, is_right in lab.rows if not is_right]
            wrong += len(bad)
            print(f"{bits} bits: {len(lab.rows)} readings, {len(bad)} wrong {bad or ''}")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
