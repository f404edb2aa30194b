#!/bin/sh
# rustc for releases, as RUSTC_WRAPPER (released.sh): the folders of this build get fixed names, so that panics' places
# and generated code are the same wherever it is built. As RUSTFLAGS the folders' names would enter the hashes that
# Cargo gives crates, and through these the names of symbols.
#   RSALAB_SOURCES   the folder of the repository: /rsalab
#   CARGO_HOME       Cargo's folder, with the crates: /cargo
rustc=$1
shift
exec "$rustc" "$@" --remap-path-prefix="$RSALAB_SOURCES=/rsalab" --remap-path-prefix="${CARGO_HOME:-$HOME/.cargo}=/cargo"
