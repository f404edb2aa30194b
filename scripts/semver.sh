#!/bin/sh
# Does a change of a library's interface match its version number? Compares the crates that others may depend on, those
# whose manifests name a page of their documentation, with an earlier commit: the one named, else the last release, else
# the commit before this one.
set -eu

cargo=${CARGO:-cargo}
tools=$(pwd)/target/tools
PATH="$tools/bin:$PATH"
baseline=${1:-$(git describe --tags --abbrev=0 --match 'v*' 2>/dev/null || git rev-parse HEAD^)}

if ! command -v cargo-semver-checks >/dev/null 2>&1; then
  echo "semver: building cargo-semver-checks into target/tools, once; it takes minutes" >&2
  # Its own release profile optimises for minutes what runs for seconds.
  CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_PROFILE_RELEASE_OPT_LEVEL=0 \
    env -u CARGO_TARGET_DIR $cargo install --quiet --locked --root "$tools" cargo-semver-checks@0.51.0
fi
git rev-parse --quiet --verify "$baseline^{commit}" >/dev/null || {
  echo "semver: there is no commit $baseline" >&2
  exit 1
}
echo "semver: compared with $baseline" >&2
for manifest in $(grep -l '^documentation = ' crates/*/Cargo.toml integrations/*/Cargo.toml); do
  package=$(sed -n 's/^name = "\(.*\)"$/\1/p' "$manifest" | head -n 1)
  if git cat-file -e "$baseline:$manifest" 2>/dev/null; then
    $cargo semver-checks --package "$package" --baseline-rev "$baseline"
  else
    echo "semver: $package is new: $baseline has none" >&2
  fi
done
