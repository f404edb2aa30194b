#!/usr/bin/env python3
"""Does `rsalab audit` find what badkeys finds, and how long do both take?

    python3 -m venv V && V/bin/pip install badkeys
    V/bin/pip download --no-deps --no-binary :all: badkeys && tar xf badkeys-*.tar.gz
    V/bin/python scripts/badkeys.py badkeys-*/tests/data [--rsalab PATH] [--keys 1000]

It runs with the interpreter that has badkeys. First each file of badkeys' own test data: its findings next to those of `rsalab audit`.
Then a list of moduli: those of as many keys of `rsalab keygen`, and some that are planted (close primes, ROCA, a small factor, limbs that
are filled in part, a chosen upper half), as badkeys takes them (`--moduli`): the findings of each, and seconds of both programs,
by the clock and of CPU time, interleaved: the median of five.

Left out: badkeys' lists (`blocklist`, which it downloads, and `sharedprimes`, the product of known primes that it brings along), and warnings
that are none here (lengths other than 2048, 3072 and 4096 bits, exponents other than 65537 that FIPS 186-5 allows).

It ends with code 1 if badkeys finds something in a key that `rsalab audit` does not find.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

BADKEYS = str(pathlib.Path(sys.executable).with_name("badkeys"))
CHECKS = "fermat,roca,rsainvalid,rsapoly,smalld,smallfactors,rsawarnings,rsabias,pattern,xzbackdoor"

# What badkeys' findings are called here; None where there is none on purpose.
NAMES = {
    "fermat": {"fermat-factorable", "square-modulus"},
    "roca": {"roca"},
    "rsainvalid": {"invalid-key", "unreadable"},
    "rsapoly": {"short-sleeve", "biased-modulus"},
    "smalld": {"wiener"},
    "smallfactors": {"small-factor"},
    "rsabias": {"biased-modulus", "repeating-modulus", "patterned-modulus", "short-sleeve"},
    "pattern": {"repeating-modulus", "patterned-modulus"},
    "xzbackdoor": {"xz-backdoor"},
    "rsawarnings/extremely_small": {"short-modulus", "invalid-key"},
    "rsawarnings/too_small": {"short-modulus"},
    "rsawarnings/exponent_3": {"small-exponent"},
    "rsawarnings/exponent_not_65537": None,
    "rsawarnings/not_multiple_of_8": None,
    "rsawarnings/unusual_keysize": None,
}


def badkeys(*arguments):
    """Keys as badkeys reports them."""
    done = subprocess.run([BADKEYS, "-j", "-a", "-c", CHECKS, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode not in (0, 4):
        return [{"where": str(arguments[-1]), "type": "crash", "results": {}, "says": done.stderr.strip().splitlines()[-1:]}]
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def named(results):
    """badkeys' findings, with their kind where that decides what they are called here."""
    for name, result in results.items():
        kind = f"{name}/{result.get('subtest')}"
        yield kind if kind in NAMES else name


def audit(rsalab, *arguments):
    """Findings of `rsalab audit` at each place: a file, or a file and a line."""
    done = subprocess.run([rsalab, "audit", "--json", *map(str, arguments)], capture_output=True, text=True)
    if done.returncode not in (0, 3):
        sys.exit(f"rsalab audit: code {done.returncode}: {done.stderr}")
    found = collections.defaultdict(set)
    for line in map(json.loads, done.stdout.splitlines()):
        for place in line.get("places", []):
            found[place["file"]].add(line["finding"])
            found[place["file"], place.get("line")].add(line["finding"])
    return found


class Tally:
    def __init__(self):
        self.counts, self.missing = collections.Counter(), []

    def compare(self, place, theirs, ours):
        """Counts what both find, and what one of them finds alone."""
        expected = {name: NAMES.get(name, {name}) for name in theirs}
        for name, names in expected.items():
            if names is None:
                self.counts["left out: " + name] += 1
            elif names & ours:
                self.counts[f"both: {name} = {', '.join(sorted(names & ours))}"] += 1
            else:
                self.counts[f"badkeys alone: {name}"] += 1
                self.missing.append((place, name, sorted(ours)))
        known = set().union(*(names or set() for names in expected.values())) if expected else set()
        for name in ours - known:
            self.counts[f"rsalab alone: {name}"] += 1

    def show(self):
        for what, count in sorted(self.counts.items()):
            print(f"{count:6}  {what}")


def options_of(path):
    """How badkeys is told what is in a file."""
    name = path.name
    if path.suffix == ".json":
        return ["--jwk"]
    if "dkim" in name:
        return ["--dkim"]
    if path.suffix == ".dnskey":
        return ["--dnssec"]
    return ["--moduli"] if "modulus" in name else []


def check_test_data(rsalab, folder, tally):
    ours = audit(rsalab, folder)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        keys = badkeys(*options_of(path), path)
        kinds = {key["type"] for key in keys}
        theirs = set().union(*(named(key["results"]) for key in keys)) if keys else set()
        mine = ours.get(str(path), set())
        tally.compare(str(path), theirs, mine)
        print(f"{path.relative_to(folder)!s:45} {', '.join(sorted(kinds)):14} {', '.join(sorted(theirs)) or '-':40} {', '.join(sorted(mine)) or '-'}")


def is_prime(number):
    return number > 3 and all(pow(base, number - 1, number) == 1 for base in (2, 3, 5))


def next_prime(number):
    number |= 1
    while not is_prime(number):
        number += 2
    return number


def planted(rng):
    """Moduli of 2048 bits with a fault, three of each kind, with what badkeys should call it."""
    top = 3 << 1022

    def number(bits):
        return rng.getrandbits(bits)

    for _ in range(3):
        p = next_prime(number(1024) | top)
        yield "fermat", p * next_prime(p + 2 * number(64) + 2)
        product = 1
        for prime in (prime for prime in range(2, 702) if all(prime % other for other in range(2, prime))):
            product *= prime
        pair = []
        while len(pair) < 2:
            candidate = (rng.randrange(top // product, (1 << 1024) // product)) * product + pow(65537, number(60), product)
            if is_prime(candidate):
                pair.append(candidate)
        yield "roca", pair[0] * pair[1]
        yield "smallfactors", 3 * 65521 * next_prime(number(2030) | 3 << 2028)
        limbs = [sum((number(8) | 1) << 32 * at for at in range(32)) | 1 << 1020 for _ in range(2)]
        sleeve = [next_prime(number) for number in limbs]
        yield "rsapoly", sleeve[0] * sleeve[1]
        p = next_prime(number(1024) | top)
        text = int.from_bytes(b"a name, and " * 9, "big")
        q = next_prime((text << (2047 - text.bit_length())) // p)
        yield "vanity", p * q


def seconds(*command):
    """Seconds by the clock, and of CPU time."""

    def now():
        times = os.times()
        return times.elapsed, times.children_user + times.children_system

    before = now()
    subprocess.run(command, capture_output=True)
    return tuple(after - before for before, after in zip(before, now()))


def check_moduli(rsalab, count, tally):
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    rng = random.Random(44)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        subprocess.run([rsalab, "keygen", "--bits", "2048", "--count", str(count), "--out", folder / "keys"], check=True, capture_output=True)
        keys = [path.read_bytes() for path in sorted((folder / "keys").rglob("*.pem"))]
        moduli = [load_pem_private_key(key, None).public_key().public_numbers().n for key in keys]
        faults = list(planted(rng))
        moduli += [n for _, n in faults]
        rng.shuffle(moduli)
        file = folder / "moduli.txt"
        file.write_text("".join(f"{n:x}\n" for n in moduli))
        theirs = {key["where"]: set(named(key["results"])) for key in badkeys("--moduli", file)}
        ours = audit(rsalab, file)
        for line, n in enumerate(moduli, 1):
            tally.compare(f"line {line}", theirs[f"modulus {n:02x}"], ours.get((str(file), line), set()))
        print(f"{len(moduli)} moduli of {count} keys of ours and {len(faults)} planted ones:")
        commands = {
            "badkeys": [BADKEYS, "-m", "-c", CHECKS, str(file)],
            "rsalab audit, 1 thread": [rsalab, "audit", "--threads", "1", str(file)],
            "rsalab audit": [rsalab, "audit", str(file)],
        }
        times = collections.defaultdict(list)
        for _ in range(5):
            for name, command in commands.items():
                times[name].append(seconds(*command))
        for what, place in (("by the clock", 0), ("of CPU time", 1)):
            base = [taken[place] for taken in times["badkeys"]]
            for name, both in times.items():
                taken = [taken[place] for taken in both]
                ratios = sorted(theirs / own for theirs, own in zip(base, taken))
                print(f"{statistics.median(taken):8.3f} s  {what}: {name} ({min(taken):.3f} to {max(taken):.3f}), badkeys takes "
                      f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}) times as long")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="badkeys' tests/data")
    parser.add_argument("--rsalab", default="target/release/rsalab")
    parser.add_argument("--keys", type=int, default=1000)
    options = parser.parse_args()
    tally = Tally()
    check_test_data(options.rsalab, options.folder, tally)
    check_moduli(options.rsalab, options.keys, tally)
    tally.show()
    for place, name, ours in tally.missing:
        print(f"{place}: badkeys finds {name}, rsalab audit {ours}", file=sys.stderr)
    sys.exit(bool(tally.missing))


if __name__ == "__main__":
    main()
