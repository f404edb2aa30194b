#!/bin/sh
# Does time depend on a secret? Statistics of the kernels that run here and of decryptions from end to end, valgrind
# over those it knows the instructions of, and traces of all. Takes two hours and a half (RSALAB_SAMPLES=20000,
# RSALAB_KERNELS=NAME,NAME for less); not part of `make test`. Pinned to the last CPU, which is to have nothing else to
# do.
set -eu

cargo=${CARGO:-cargo}
last=$(($(nproc) - 1))

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# The tests whose names begin with timing::, of what the arguments for Cargo name.
timings() {
  $cargo test --release --locked "$@" --no-run
  rm -f "$work/passed"
  {
    taskset -c "$last" $cargo test --release --locked "$@" -- \
      --include-ignored --nocapture --test-threads=1 timing:: && touch "$work/passed"
  } | tee "$work/log"
  [ -e "$work/passed" ] || exit 1
  # A filter that matches no test is no failure of the test program.
  grep -q '^test result: ok\. [1-9]' "$work/log" || {
    echo "timing: there are no tests of the name timing:: ($*)" >&2
    exit 1
  }
}

timings --package rsalab-arith --features timing --lib
# Whether asynchronous jobs of several keys are faster together than alone.
timings --package rsalab-openssl-provider --test provider

# A tool must report what is planted, with code 9, and find nothing else; code 3 says that it cannot look. Arguments:
# the package's feature, and the command.
look() {
  feature=$1
  shift
  $cargo clippy --release --locked --package rsalab-tracking --features "$feature" -- -D warnings
  $cargo build --release --locked --package rsalab-tracking --features "$feature"
  code=0
  "$@" leak >"$work/leak" 2>&1 || code=$?
  if [ "$code" = 3 ]; then
    echo "SKIPPED: $feature: $(cat "$work/leak")" >&2
    return
  fi
  if [ "$code" != 9 ]; then
    cat "$work/leak" >&2
    echo "timing: with $feature a leak that is there is not reported (code $code)" >&2
    exit 1
  fi
  "$@"
  echo "timing: $feature: nothing depends on a secret, but for what is declassified (crates/arith/src/declassify.rs)"
}
if command -v valgrind >/dev/null 2>&1 && command -v clang >/dev/null 2>&1; then
  look valgrind valgrind --quiet --error-exitcode=9 target/release/rsalab-tracking
else
  echo "SKIPPED: the tracking of secrets, which needs: apt-get install valgrind clang libclang-dev" >&2
fi
if [ "$(uname -sm)" = "Linux x86_64" ]; then
  look traces target/release/rsalab-traces
else
  echo "SKIPPED: traces of instructions, which are of x86-64 on Linux" >&2
fi

# From end to end: ciphertexts with bad padding of each kind, through the library, the program and the provider.
if command -v python3 >/dev/null 2>&1; then
  $cargo build --release --locked --package rsalab --package rsalab-c --package rsalab-openssl-provider
  taskset -c "$last" python3 scripts/padding_oracle.py --rounds 4000 --plant 3000
  taskset -c "$last" python3 scripts/padding_oracle.py --rounds 20000
else
  echo "SKIPPED: padding from end to end, which needs python3" >&2
fi
