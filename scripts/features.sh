#!/bin/sh
# Each feature of rsalab-rsa compiles alone, and without any: a build of all of them would not show what one forgot.
set -eu
cargo=${CARGO:-cargo}
features=$(sed -n '/^\[features\]/,/^\[[^f]/s/^\([a-z0-9-]*\) = .*/\1/p' crates/rsa/Cargo.toml)
for feature in "" $features; do
  echo "rsalab-rsa with ${feature:-no feature}" >&2
  $cargo clippy --quiet --locked --package rsalab-rsa --no-default-features --features "$feature" -- -D warnings
done
