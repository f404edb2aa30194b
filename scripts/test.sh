#!/bin/sh
# Every test: first what needs no peer, then each of the peers named that could be built here. What is skipped says so.
set -eu

cargo=${CARGO:-cargo}
# What a test that passes has to say is kept back unless asked for, and with it every line that says what was skipped.
aloud="-- --show-output"
sh scripts/bring-browser.sh
$cargo test --locked $aloud

# The machine code that ships is not the one that tests with assertions run.
$cargo test --release --locked --package rsalab-arith --test machine_code $aloud

# What the peers openssl, aws-lc and libcrypto share; it needs none of them.
$cargo clippy --release --locked --package rsalab-peer-evp --all-targets -- -D warnings
$cargo test --release --locked --package rsalab-peer-evp $aloud

for peer in "$@"; do
  # The package ipp makes two workers.
  case $peer in ipp) worker=ippcp ;; *) worker=$peer ;; esac
  if [ -x "target/release/rsalab-peer-$worker" ]; then
    # In the release profile, so that the C library that was built for the study is not built once more.
    $cargo clippy --release --locked --package "rsalab-peer-$peer" --all-targets -- -D warnings
    $cargo test --release --locked --package "rsalab-peer-$peer" $aloud
  else
    echo "SKIPPED: the tests of the peer $peer, which could not be built here" >&2
  fi
done
