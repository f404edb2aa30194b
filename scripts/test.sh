#!/bin/sh
# Every test: first what needs no peer, then each of the peers named that could be built here. What is skipped says so.
set -eu

cargo=${CARGO:-cargo}
sh scripts/bring-browser.sh
$cargo test --locked

# What the peers openssl, aws-lc and libcrypto share; it needs none of them.
$cargo clippy --release --locked --package rsalab-peer-evp --all-targets -- -D warnings
$cargo test --release --locked --package rsalab-peer-evp

for peer in "$@"; do
  # The package ipp makes two workers.
  case $peer in ipp) worker=ippcp ;; *) worker=$peer ;; esac
  if [ -x "target/release/rsalab-peer-$worker" ]; then
    # In the release profile, so that the C library that was built for the study is not built once more.
    $cargo clippy --release --locked --package "rsalab-peer-$peer" --all-targets -- -D warnings
    $cargo test --release --locked --package "rsalab-peer-$peer"
  else
    echo "SKIPPED: the tests of the peer $peer, which could not be built here" >&2
  fi
done
