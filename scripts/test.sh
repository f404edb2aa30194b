#!/bin/sh
# The tests, in three lengths:
#   test.sh check   for every save: format, lints, unit tests
#   test.sh test    for a change: documentation, all tests but the long ones, the peers that need no C library built
#   test.sh all     for a release: the long tests and every peer as well; `make peers` has built them
# What is skipped says so.
set -eu
. scripts/engines.sh

cargo=${CARGO:-cargo}
# Peers that build a C library, and those whose tests need one that the system may lack.
built="openssl aws-lc gmp"
linked="ipp cryptopp c-openmp"
# What a test that passes prints is kept back unless asked for, and with it every line that says what was skipped.
show="-- --show-output"

# Packages are chosen once for all steps: another choice means other features of shared crates, and compiles them again.
without() {
  printf -- '--workspace --exclude rsalab-tracking '
  for peer in "$@"; do printf -- '--exclude rsalab-peer-%s ' "$peer"; done
}

# With the packages for clippy.
check() {
  $cargo fmt --all --check
  $cargo xtask tidy
  $cargo clippy --quiet --locked "$@" --all-targets -- -D warnings
}

case ${1:-test} in
  check)
    check
    $cargo test --quiet --locked --lib --bins
    ;;
  test | all)
    # shellcheck disable=SC2046 # a list of arguments
    check $(without $built)
    RUSTDOCFLAGS="-D warnings" $cargo doc --quiet --locked --no-deps
    sh scripts/install-browser.sh
    sh scripts/book.sh
    # shellcheck disable=SC2046 # a list of arguments
    $cargo test --locked $(without $built $linked) $show
    # Threads and tasks in many orders, under a scheduler in the place of the system's.
    $cargo test --locked --package rsalab-batch --features shuttle --test orders $show
    # A workspace of its own, because of the version of a dependency.
    $cargo fmt --manifest-path peers/blind-rsa/Cargo.toml --check
    $cargo clippy --quiet --locked --manifest-path peers/blind-rsa/Cargo.toml --target-dir target --all-targets -- -D warnings
    $cargo test --locked --manifest-path peers/blind-rsa/Cargo.toml --target-dir target $show
    # The machine code that ships is not the one that tests with assertions run.
    $cargo test --profile profiling --locked --package rsalab-arith --test machine_code $show
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

$cargo test --release --locked --manifest-path peers/blind-rsa/Cargo.toml --target-dir target -- --ignored --show-output
# The OpenSSL provider under programs that are installed here.
$cargo build --release --locked --package rsalab-openssl-provider
sh integrations/openssl-provider/scripts/bind.sh 500 1
sh integrations/openssl-provider/scripts/servers.sh
sh integrations/openssl-provider/scripts/pyca.sh
$cargo build --release --locked --package rsalab-rustls --example handshakes
sh integrations/openssl-provider/scripts/haproxy.sh --bits 2048 --threads 2 --clients "1 32" --seconds 1 --rounds 1
sh integrations/openssl-provider/scripts/openssl-versions.sh
# The Debian packages, in a folder and in a fresh Debian.
sh scripts/deb.sh
if command -v dpkg-deb >/dev/null; then sh scripts/deb-test.sh; fi
# Under a TLS library that awaits signatures.
sh scripts/s2n-tls.sh

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
