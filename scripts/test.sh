#!/bin/sh
# The tests, in three lengths:
#   test.sh check   for every save: format, lints, unit tests
#   test.sh test    for a change: documentation, all tests but the long ones, the peers that need no C library built
#   test.sh all     for a release: the long tests and every peer as well; `make peers` has built them
# What is skipped says so.
set -eu
. scripts/engines.sh

cargo=${CARGO:-cargo}
# Peers whose tests need no C library to be built.
light="evp libcrypto rustcrypto"
# What a test that passes prints is kept back unless asked for, and with it every line that says what was skipped.
show="-- --show-output"

check() {
  $cargo fmt --all --check
  $cargo xtask tidy
  $cargo clippy --quiet --locked --all-targets -- -D warnings
}

packages() { for peer in "$@"; do printf -- '--package rsalab-peer-%s ' "$peer"; done; }

case ${1:-test} in
  check)
    check
    $cargo test --quiet --locked --lib --bins
    ;;
  test | all)
    check
    RUSTDOCFLAGS="-D warnings" $cargo doc --quiet --locked --no-deps
    sh scripts/install-browser.sh
    sh scripts/book.sh
    $cargo test --locked $show
    # The machine code that ships is not the one that tests with assertions run.
    $cargo test --profile profiling --locked --package rsalab-arith --test machine_code $show
    # shellcheck disable=SC2046 # a list of arguments
    $cargo clippy --quiet --locked $(packages $light ipp cryptopp c-openmp) --all-targets -- -D warnings
    $cargo test --locked $(packages $light) $show
    ;;
  *)
    echo "test.sh: check, test or all" >&2
    exit 2
    ;;
esac
[ "${1:-test}" = all ] || exit 0

sh scripts/book.sh --install

# Long tests are marked `#[ignore]`; those of timing need a quiet machine and have `make timing`.
$cargo test --locked -- --ignored --show-output --skip timing::

for package in $(engine_packages); do
  for engine in $(engines_of_package "$package"); do
    if [ ! -x "target/release/rsalab-peer-$engine" ]; then
      echo "SKIPPED: the tests of $package, which could not be built here" >&2
      continue 2
    fi
  done
  # In the release profile, so that a C library that was built for studies is not built once more.
  $cargo clippy --release --locked --package "$package" --all-targets -- -D warnings
  $cargo test --release --locked --package "$package" $show
done
