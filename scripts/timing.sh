#!/bin/sh
# Does time depend on a secret? Statistics of the kernels that run here, of decryptions from end to end, and valgrind over
# those it knows the instructions of.
# Takes a quarter of an hour; not part of `make test`. Pinned to the last CPU, which is to have nothing else to do.
set -eu

cargo=${CARGO:-cargo}
last=$(($(nproc) - 1))

$cargo test --release --locked --package rsalab-arith --features timing --lib --no-run
taskset -c "$last" $cargo test --release --locked --package rsalab-arith --features timing --lib -- \
  --include-ignored --nocapture --test-threads=1 timing::

track() {
  valgrind --quiet --error-exitcode=9 target/release/rsalab-tracking "$@"
}
if command -v valgrind >/dev/null 2>&1 && command -v clang >/dev/null 2>&1; then
  $cargo clippy --release --locked --package rsalab-tracking -- -D warnings
  $cargo build --release --locked --package rsalab-tracking
  if track leak >/dev/null 2>&1; then
    echo "timing: valgrind does not report a leak that is there" >&2
    exit 1
  fi
  track
  echo "timing: no branch and no address depends on a secret, but for what is declassified (crates/arith/src/declassify.rs)"
else
  echo "SKIPPED: the tracking of secrets, which needs: apt-get install valgrind clang libclang-dev" >&2
fi

# From end to end: ciphertexts with bad padding of each kind, through the library, the program and the provider.
if command -v python3 >/dev/null 2>&1; then
  $cargo build --release --locked --package rsalab --package rsalab-c --package rsalab-openssl-provider
  taskset -c "$last" python3 scripts/padding_oracle.py --rounds 4000 --plant 3000
  taskset -c "$last" python3 scripts/padding_oracle.py --rounds 20000
else
  echo "SKIPPED: padding from end to end, which needs python3" >&2
fi
