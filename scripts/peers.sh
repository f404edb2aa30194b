#!/bin/sh
# Builds the program and every peer that this machine can build, in one run of Cargo, while the engines in other
# languages are fetched and built at the same time. A peer that cannot be built is listed as absent in the study; only
# the program itself is required.
set -u
. scripts/engines.sh

cargo=${CARGO:-cargo}

# Downloads and other compilers leave most of the cores to Cargo.
(
  sh scripts/install-ipp.sh ||
    echo "peers: Intel's libraries could not be installed; ippcp and crypto_mb will be listed as absent" >&2
  for script in $(engine_scripts); do
    sh "$script" target/release || echo "peers: $script failed; its engine will be listed as absent" >&2
  done
) &

# shellcheck disable=SC2046 # a list of arguments
$cargo build --release --locked --keep-going --package rsalab $(engine_packages | sed 's/^/--package /') ||
  echo "peers: what Cargo could not build, see above, will be listed as absent" >&2
wait
[ -x target/release/rsalab ]
