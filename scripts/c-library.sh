#!/bin/sh
# Builds and installs the C library: c-library.sh PREFIX. With cargo-c where it is installed (cargo install cargo-c
# --locked), else with Cargo alone.
set -eu

prefix=${1:?c-library.sh: the prefix to install into, such as /usr/local}
cargo=${CARGO:-cargo}
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$prefix"
prefix=$(cd "$prefix" && pwd)
cd "$root"

if command -v cargo-cinstall >/dev/null 2>&1; then
  $cargo cinstall --release --locked --package rsalab-c --prefix "$prefix" --libdir lib
else
  $cargo build --release --locked --package rsalab-c
  sh bindings/c/install.sh "$prefix" "${CARGO_TARGET_DIR:-target}/release"
fi
# The dynamic linker reads a list of names, which ldconfig writes.
echo "c-library: now ldconfig, as root; for a prefix that is not in /etc/ld.so.conf, with its folder: ldconfig $prefix/lib" >&2
