#!/bin/sh
# Builds the program and every peer that this machine can build, in one run of Cargo, while the engines in other
# languages are fetched and built at the same time. A peer that cannot be built is listed as absent in the study, and
# named here; only the program itself is required.
set -u
. scripts/engines.sh

cargo=${CARGO:-cargo}
release=target/release

# What an earlier run built is no sign that it can be built now. Cargo puts back what has not changed.
rm -f $release/rsalab
for package in $(engine_packages); do
  for engine in $(engines_of_package "$package"); do rm -f "$release/rsalab-peer-$engine"; done
done

# Downloads and other compilers leave most of the cores to Cargo.
(
  sh scripts/install-ipp.sh ||
    echo "peers: Intel's libraries could not be installed; ippcp and crypto_mb will be listed as absent" >&2
  for script in $(engine_scripts); do
    sh "$script" $release && continue
    echo "peers: $script failed, see above" >&2
    for engine in $(engines_of_script "$script"); do rm -f "$release/rsalab-peer-$engine"; done
  done
) &

# shellcheck disable=SC2046 # a list of arguments
$cargo build --release --locked --keep-going --package rsalab $(engine_packages | sed 's/^/--package /') ||
  echo "peers: Cargo could not build everything, see above" >&2
wait
absent_workers $release | while read -r engine packages; do
  if [ -n "$packages" ]; then
    echo "peers: $engine will be listed as absent: the system lacks $packages" >&2
  else
    echo "peers: $engine will be listed as absent: its build failed, see above" >&2
  fi
done
if [ ! -x $release/rsalab ]; then
  echo "peers: the program itself could not be built" >&2
  exit 1
fi
