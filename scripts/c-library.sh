#!/bin/sh
# Builds and installs the C library: c-library.sh PREFIX. With cargo-c where it is installed (cargo install cargo-c --locked), else with Cargo alone: the
# shared library has no versioned name then.
set -eu

prefix=${1:?c-library.sh: the prefix to install into, such as /usr/local}
cargo=${CARGO:-cargo}
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$prefix"
prefix=$(cd "$prefix" && pwd)
cd "$root"

if command -v cargo-cinstall >/dev/null 2>&1; then
  exec $cargo cinstall --release --locked --package rsalab-c --prefix "$prefix" --libdir lib
fi
echo "c-library: no cargo-c here, so the shared library gets no versioned name" >&2
$cargo build --release --locked --package rsalab-c
sh bindings/c/install.sh "$prefix" "${CARGO_TARGET_DIR:-target}/release"
