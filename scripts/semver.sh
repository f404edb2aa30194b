#!/bin/sh
# Does a change of a library's interface match its version number? Compares the crates that others may depend on with an
# earlier commit: the one named, else the last release, else the commit before this one.
set -eu

cargo=${CARGO:-cargo}
tools=$(pwd)/target/tools
PATH="$tools/bin:$PATH"
baseline=${1:-$(git describe --tags --abbrev=0 --match 'v*' 2>/dev/null || git rev-parse HEAD^)}

if ! command -v cargo-semver-checks >/dev/null 2>&1; then
  echo "semver: building cargo-semver-checks into target/tools, once; it takes minutes" >&2
  # Its own release profile optimises for minutes what runs for seconds.
  CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_PROFILE_RELEASE_OPT_LEVEL=0 \
    $cargo install --quiet --locked --root "$tools" cargo-semver-checks@0.51.0
fi
echo "semver: compared with $baseline" >&2
for package in rsalab-arith rsalab-rsa; do
  $cargo semver-checks --package "$package" --baseline-rev "$baseline"
done
