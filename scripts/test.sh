#!/bin/sh
# The tests, in three lengths:
#   test.sh check   for every save: format, lints, unit tests
#   test.sh test    for a change: documentation, all tests but the long ones
#   test.sh all     for a release: what is long or rarely breaks as well, and every peer; `make peers` has built them
# What is skipped says so. The seconds of each step are printed in the end.
#
# Every step but those of `all` takes Cargo's default members (Cargo.toml): another choice of packages means other
# features of shared crates, and compiles them again.
set -eu
. scripts/engines.sh

cargo=${CARGO:-cargo}

seconds=$(mktemp)
current=
finish() {
  code=$?
  printf '\n%8s  step\n' seconds
  cat "$seconds"
  rm -f "$seconds"
  [ "$code" = 0 ] || echo "FAILED: $current" >&2
}
trap finish EXIT
trap 'exit 130' INT TERM

# Runs a command as a step with a name.
step() {
  current=$1
  shift
  began=$(date +%s)
  "$@"
  printf '%8d  %s\n' $(($(date +%s) - began)) "$current" >>"$seconds"
}

# Packages for lints and documentation: default members, and peers that add no dependency. Others have lints in
# `all`: a dependency of theirs, or one more feature of a shared crate, would be compiled for this step alone (PyO3 asks
# `syn` for one, and with it every derive macro and what is derived is compiled once more).
light="--workspace --features rsalab-arith/faults,rsalab-arith/timing \
  --exclude rsalab-tracking --exclude rsalab-peer-openssl --exclude rsalab-peer-aws-lc \
  --exclude rsalab-peer-gmp --exclude rsalab-peer-rustls --exclude rsalab-python"

documentation() { RUSTDOCFLAGS="-D warnings" $cargo doc --quiet --locked $light --no-deps; }

# A workspace of its own, because of the version of a dependency.
blind_rsa() {
  command=$1
  shift
  $cargo "$command" --locked --manifest-path peers/blind-rsa/Cargo.toml --target-dir target "$@"
}

# Every worker is there but those for which the system lacks something.
workers() {
  absent_workers target/release | (
    failed=0
    while read -r engine packages; do
      if [ -n "$packages" ]; then
        echo "SKIPPED: the engine $engine, for which the system lacks $packages" >&2
      else
        echo "the engine $engine could not be built, though the system has what it needs: make peers says why" >&2
        failed=1
      fi
    done
    exit $failed
  )
}

# Keys, signatures and ciphertexts exchanged with other programs, in the environment that scripts/python.sh makes.
exchange() {
  python=${CARGO_TARGET_DIR:-target}/python/venv/bin/python
  if ! command -v openssl >/dev/null || ! "$python" -c 'import cryptography' 2>/dev/null; then
    echo "SKIPPED: keys and schemes against other programs, which needs openssl and Python's cryptography" >&2
    return
  fi
  "$python" scripts/check.py formats
  "$python" scripts/check.py schemes --count 500 --openssl 200 --shake 100
}

length=${1:-test}
case $length in
  check)
    step "format" $cargo fmt --all --check
    step "tidy" $cargo xtask tidy
    step "clippy" $cargo clippy --quiet --locked --all-targets -- -D warnings
    step "unit tests" $cargo xtask test --locked --lib --bins
    exit
    ;;
  test | all) ;;
  *)
    echo "test.sh: check, test or all" >&2
    exit 2
    ;;
esac

step "format" $cargo fmt --all --check
step "format of blind-rsa" $cargo fmt --manifest-path peers/blind-rsa/Cargo.toml --check
step "tidy" $cargo xtask tidy
step "clippy" $cargo clippy --quiet --locked $light --all-targets -- -D warnings
step "documentation" documentation
step "book" sh scripts/book.sh
if [ "$length" = all ]; then
  step "browser" sh scripts/install-browser.sh
  # Forms of kernels on arrays go through all tests where the kernels themselves run, too.
  export RSALAB_ALL_KERNELS=1
fi
step "tests" $cargo xtask test --doctests --locked
[ "$length" = all ] || exit 0

step "workers" workers
step "licences and advisories" sh scripts/deny.sh "$PWD/target/tools"
step "book, with mdBook" sh scripts/book.sh --install

# Long tests are marked `#[ignore]`. Those of timing need a quiet machine: `make timing`.
step "long tests" $cargo xtask test --locked -- --ignored --skip timing::
# The kernels for devices at every size, on what OpenCL offers here, and by NVIDIA's assembler.
step "devices: every size" env RSALAB_CONFORMANCE=full $cargo xtask test --locked -- on_a_device ptxas::
# The machine code that ships, and the arithmetic with assertions: the tests above run neither.
step "machine code that ships" $cargo xtask test --profile profiling --locked --package rsalab-arith --test machine_code
step "arithmetic with assertions" \
  $cargo xtask test --profile assertions --locked --package rsalab-arith --package rsalab-digests \
  --package rsalab-product --lib --test library
# Bits flipped in the memory of private operations: no wrong result is released.
step "faults: tests" $cargo xtask test --release --locked --package rsalab-arith --features faults,hazmat --test faults
step "faults" $cargo run --quiet --release --locked --package rsalab-arith --features faults,hazmat \
  --example faults -- \
  --faults 2000
# Each feature of rsalab-rsa alone.
step "features of rsalab-rsa" sh scripts/features.sh
# Threads and tasks in many orders, under a scheduler in the place of the system's.
step "orders of threads" $cargo xtask test --locked --package rsalab-batch --features shuttle --test orders
step "blind-rsa: clippy" blind_rsa clippy --quiet --all-targets -- -D warnings
step "blind-rsa: tests" blind_rsa test -- --show-output
step "blind-rsa: long tests" blind_rsa test --release -- --ignored --show-output

# The Python package, in a virtual environment.
step "Python: clippy" $cargo clippy --release --locked --package rsalab-python --all-targets -- -D warnings
step "Python" sh scripts/python.sh
step "keys and schemes against others" exchange
# Parts of keys, of a study and of an audit, on three nodes of which one is lost.
step "Ray: three nodes" sh scripts/ray-test.sh 6000 2000
step "Slurm: three nodes" sh scripts/slurm-test.sh target/release/rsalab 20000 20000
step "recipes for many machines" sh scripts/recipes-test.sh target/release/rsalab
# The OpenSSL provider under programs that are installed here.
provider=integrations/openssl-provider/scripts
step "provider: build" $cargo build --release --locked --package rsalab-openssl-provider
step "provider: bind" sh $provider/bind.sh 500 1
step "provider: servers" sh $provider/servers.sh
step "provider: pyca" sh $provider/pyca.sh
step "provider: client" $cargo build --release --locked --package rsalab-rustls --example handshakes
step "provider: haproxy" sh $provider/haproxy.sh --bits 2048 --threads 2 --clients "1 32" --seconds 1 --rounds 1
step "provider: versions" sh $provider/openssl-versions.sh
# The Debian packages, in a folder and in a fresh Debian.
step "Debian packages" sh scripts/deb.sh
if command -v dpkg-deb >/dev/null; then step "Debian, installed" sh scripts/deb-test.sh; fi
# The wheel: packed, and installed in a fresh environment and a fresh Debian.
step "wheel" sh scripts/wheel.sh
step "wheel, installed" sh scripts/wheel-test.sh
# Under a TLS library that awaits signatures.
step "s2n-tls" sh scripts/s2n-tls.sh

for package in $(engine_packages); do
  for engine in $(engines_of_package "$package"); do
    # The step `workers` has seen that the system lacks something for it.
    if [ ! -x "target/release/rsalab-peer-$engine" ]; then
      echo "SKIPPED: the tests of $package, which cannot be built here" >&2
      continue 2
    fi
  done
  # In the release profile, so that a C library that was built for studies is not built once more.
  step "$package: clippy" $cargo clippy --release --locked --package "$package" --all-targets -- -D warnings
  # Every size with 1,000 random inputs: some ten minutes for all peers.
  step "$package: tests" env RSALAB_CONFORMANCE=full $cargo xtask test --release --locked --package "$package"
  # Those of other packages are among the long tests above.
  if [ "$package" = rsalab-peer-gmp ]; then
    step "$package: millions of operations" $cargo xtask test --release --locked --package "$package" -- --ignored
  fi
done
