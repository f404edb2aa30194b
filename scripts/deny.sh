#!/bin/sh
# Runs cargo-deny, building it once into the folder given where it is not installed.
set -eu

tools=$1
PATH="$tools/bin:$PATH"
if ! command -v cargo-deny >/dev/null 2>&1; then
  echo "deny: building cargo-deny into target/tools, once" >&2
  # Its own release profile optimises for minutes what runs for a second. Not among what the repository's own packages
  # are built of.
  CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_PROFILE_RELEASE_OPT_LEVEL=0 \
    env -u CARGO_TARGET_DIR cargo install --quiet --locked --root "$tools" --no-default-features cargo-deny@0.20.2
fi
cargo deny --workspace check licenses bans sources

# The advisory database lies in a git repository that not every network reaches. Only what fetches it may fail: an
# advisory's own text speaks of networks, too.
log=$(mktemp)
trap 'rm -f "$log"' EXIT
trap 'exit 130' INT TERM
if cargo deny --workspace fetch db >"$log" 2>&1; then
  cargo deny --workspace check --disable-fetch advisories
else
  tail -n 3 "$log" >&2
  echo "SKIPPED: advisories, since the advisory database cannot be fetched from here" >&2
fi
