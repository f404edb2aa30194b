"""Does memory stay flat? Calls for so many minutes, with a line a minute: memory.py [MINUTES]    (60)

Each round signs a batch of digests, verifies it, and has a few calls fail, as a service does that runs for months. The
exit code is 1 if the resident memory at the end is more than 1 MiB above that after the first minute. Linux only.
"""

from __future__ import annotations

import contextlib
import re
import sys
import time
from pathlib import Path

import rsalab
from rsalab import insecure

ITEMS = 16
MOST_GROWTH_KB = 1024


def resident_kb() -> int:
    found = re.search(r"^VmRSS:\s+(\d+) kB$", Path("/proc/self/status").read_text(), re.MULTILINE)
    assert found is not None
    return int(found[1])


def main() -> None:
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    key = insecure.key(1024)
    keys = [insecure.key(1024, number) for number in range(4)]
    calls = signatures = 0
    began = time.monotonic()
    at_first: int | None = None
    minute = 0
    while time.monotonic() - began < 60 * minutes:
        digests = [calls.to_bytes(32)] * ITEMS
        signed = rsalab.sign_many(key, digests, "pkcs1v15", prehashed=True, threads=1)
        # Buffers that are copied, several keys, threads.
        mixed = rsalab.sign_many(keys * 4, map(bytearray, digests), prehashed=True, threads=2)
        assert all(rsalab.verify_many(key, digests, signed, "pkcs1v15", prehashed=True, threads=1))
        assert not any(rsalab.verify_many(key, digests, mixed[1:] + [b""], prehashed=True, threads=1)[:3])
        with contextlib.suppress(rsalab.LengthError):
            rsalab.sign_many(key, [b"no digest"] * ITEMS, prehashed=True)
        with contextlib.suppress(rsalab.InvalidSignature):
            key.public_key().verify(b"no signature", b"a message")
        calls += 2
        signatures += 2 * ITEMS
        if time.monotonic() - began >= 60 * minute:
            now = resident_kb()
            print(f"{minute:4d} min  VmRSS {now:7d} kB  {calls:10,d} calls  {signatures:12,d} signatures", flush=True)
            if minute == 1:
                at_first = now
            minute += 1
    now = resident_kb()
    print(f" end      VmRSS {now:7d} kB  {calls:10,d} calls  {signatures:12,d} signatures")
    if at_first is not None and now - at_first > MOST_GROWTH_KB:
        sys.exit(f"the memory grew by {now - at_first} kB since the first minute")


if __name__ == "__main__":
    main()
