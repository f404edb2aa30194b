#!/bin/sh
# The provider's tests under versions of OpenSSL that the system may lack, built with shared libraries from the sources
# that the crate `openssl-src` carries:
#   openssl-versions.sh [VERSION]...
# VERSION is one of that crate's. Builds are kept in Cargo's target folder. It needs a C compiler, perl and make. No
# test may be skipped.
set -eu

here=$(cd "$(dirname "$0")/.." && pwd)
root=$(cd "$here/../.." && pwd)
cargo=${CARGO:-cargo}
builds=${CARGO_TARGET_DIR:-$root/target}/openssl-versions
me=$(basename "$0")
skip() { echo "SKIPPED: $me: $*" >&2; exit 0; }
fail() { echo "$me: $*" >&2; exit 1; }
for program in cc perl make; do
  command -v "$program" > /dev/null || skip "there is no $program here"
done

# build VERSION FOLDER
build() {
  mkdir -p "$2/crate" "$2/openssl"
  : > "$2/crate/lib.rs"
  # A workspace of its own, which depends on the crate so that Cargo downloads it.
  cat > "$2/crate/Cargo.toml" <<MANIFEST
[package]
name = "sources"
version = "0.0.0"
edition = "2024"
[lib]
path = "lib.rs"
[dependencies]
openssl-src = "=$1"
[workspace]
MANIFEST
  manifest=$($cargo metadata --quiet --format-version 1 --manifest-path "$2/crate/Cargo.toml" |
    grep -o '"manifest_path":"[^"]*/openssl-src-[^"/]*/Cargo.toml"' | head -1 | cut -d '"' -f 4)
  [ -n "$manifest" ] || fail "Cargo finds no openssl-src $1"
  # What is tested here is what it does, not how fast: the compiler's first level of optimisation is enough. The crates
  # leave out what OpenSSL makes shared libraries with, so these are linked from the archives.
  major=${1#*+} major=${major%%.*} libraries=../libraries
  # Each step by `&&`: on the left of `||` the shell goes on after a command that fails.
  (cd "$2/openssl" &&
    CFLAGS="-O1 -fPIC" perl "$(dirname "$manifest")/openssl/Configure" no-shared no-makedepend no-tests no-docs no-engine \
      no-legacy &&
    make build_generated && make libcrypto.a libssl.a apps/openssl && mkdir -p "$libraries" &&
    cc -shared -o "$libraries/libcrypto.so.$major" -Wl,-soname,"libcrypto.so.$major" -Wl,--whole-archive libcrypto.a \
      -Wl,--no-whole-archive -ldl -lpthread &&
    cc -shared -o "$libraries/libssl.so.$major" -Wl,-soname,"libssl.so.$major" -Wl,--whole-archive libssl.a \
      -Wl,--no-whole-archive -L"$libraries" "-l:libcrypto.so.$major" &&
    cc -o "$libraries/openssl" apps/openssl-bin-*.o apps/lib/openssl-bin-*.o apps/libapps.a -L"$libraries" \
      "-l:libssl.so.$major" "-l:libcrypto.so.$major") > "$2/log" 2>&1 ||
    { tail -20 "$2/log" >&2; fail "OpenSSL of openssl-src $1 cannot be built here"; }
  touch "$2/built"
}

[ $# -gt 0 ] || set -- 300.5.5+3.5.5 300.6.1+3.6.3 400.0.2+4.0.3
for version; do
  folder=$builds/$version
  [ -f "$folder/built" ] || build "$version" "$folder"
  export LD_LIBRARY_PATH="$folder/libraries" RSALAB_OPENSSL="$folder/libraries/openssl"
  # The program and the library that it loads: another one would be tested in the place of the one asked for.
  said=$(OPENSSL_CONF=/dev/null "$RSALAB_OPENSSL" version) || said="none that runs"
  echo "$said"
  case $said in
    "OpenSSL ${version#*+} "*"(Library: OpenSSL ${version#*+} "*) ;;
    *) fail "there is not OpenSSL ${version#*+}, but the above: remove $folder, and it is built again" ;;
  esac
  (cd "$root" && $cargo test --quiet --locked --no-fail-fast --package rsalab-openssl-provider -- --show-output) > "$folder/tests" 2>&1 ||
    { cat "$folder/tests"; fail "tests fail with OpenSSL of openssl-src $version"; }
  # Node.js brings what it needs of OpenSSL, so it says nothing about this version.
  ! grep SKIPPED "$folder/tests" | grep -v Node.js || fail "tests were skipped"
  awk '/^test result: ok/ { passed += $4 } END { print passed " tests pass"; exit !passed }' "$folder/tests"
done
