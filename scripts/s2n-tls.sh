#!/bin/sh
# The example of s2n-tls with awaited signatures: builds AWS-LC (minutes, once), and runs handshakes on 127.0.0.1.
set -eu

cargo=${CARGO:-cargo}
CARGO_TARGET_DIR=$(pwd)/target/s2n-tls
export CARGO_TARGET_DIR
cd "$(dirname "$0")/../examples/s2n-tls"
$cargo fmt --check
$cargo clippy --quiet --locked --all-targets -- -D warnings
$cargo test --locked -- --show-output
