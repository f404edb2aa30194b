# How releases are built, for the other scripts, which read this file with `.` from the root of the repository.

# released COMMAND...: Cargo, or a script that calls it, with no folder of this machine in what it builds. Names of
# folders get into a binary by panics' places and generated code, and by C's: `remapped-rustc.sh` and the flag for C
# compilers put names of their own in their place. The flag is in the variable that build scripts of crates read:
# `configure` scripts take CFLAGS for all flags, and would build without optimisation.
#
# Cargo takes what another compiler built for stale, so give it a target folder of its own.
released() (
  host=$(rustc -vV | sed -n 's/^host: //p' | tr - _)
  home=${CARGO_HOME:-$HOME/.cargo}
  export RSALAB_SOURCES="$PWD" RUSTC_WRAPPER="$PWD/scripts/remapped-rustc.sh" CARGO_INCREMENTAL=0
  export "CFLAGS_$host=-ffile-prefix-map=$PWD=/rsalab -ffile-prefix-map=$home=/cargo ${CFLAGS:-}"
  "$@"
)
