#!/bin/sh
# Builds the program and every peer that this machine can build, in one run of Cargo, while the engines in other languages are fetched
# and built beside it. A peer that cannot be built is listed as absent in the study; only the program itself is required.
set -u

cargo=${CARGO:-cargo}
packages="openssl gmp libcrypto ipp aws-lc cryptopp rustcrypto"
external="java jca c-openmp go"

# Downloads and other compilers hardly use the cores that Cargo uses.
(
  sh scripts/bring-ipp.sh ||
    echo "peers: Intel's libraries could not be installed; ippcp and crypto_mb will be listed as absent" >&2
  for engine in $external; do
    sh "peers/external/$engine/build.sh" target/release ||
      echo "peers: the engine $engine could not be built and will be listed as absent" >&2
  done
) &

arguments="--package rsalab"
for peer in $packages; do arguments="$arguments --package rsalab-peer-$peer"; done
# shellcheck disable=SC2086 # a list of arguments
$cargo build --release --locked --keep-going $arguments ||
  echo "peers: what Cargo could not build, see above, will be listed as absent" >&2
wait
[ -x target/release/rsalab ]
