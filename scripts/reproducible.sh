#!/bin/sh
# Builds the program twice, from clones of the last commit in two folders with two target folders, and compares the
# bytes.
#   scripts/reproducible.sh [PACKAGE...]        rsalab unless said; also rsalab-openssl-provider, rsalab-c
# They are built as releases are (released.sh), for no prefix. The same compiler, linker and C compiler are needed: the
# versions are printed.
set -eu
cd "$(dirname "$0")/.."
cargo=${CARGO:-cargo}
[ $# -gt 0 ] || set -- rsalab
packages=
for package; do packages="$packages --package $package"; done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
rustc -vV | sed -n 's/^\(release\|host\|commit-hash\)/rustc &/p'
cc --version | head -n 1
for place in one another/and/deeper; do
  git clone --quiet --no-hardlinks "$PWD" "$work/$place"
  (
    cd "$work/$place"
    . scripts/released.sh
    export CARGO_TARGET_DIR="$PWD/target" RSALAB_PREFIX=''
    # shellcheck disable=SC2086
    released $cargo build --quiet --release --locked $packages
    cd target/release
    find . -maxdepth 1 -type f \( -perm -u+x -o -name '*.so' \) ! -name '*.d' | sort | xargs -r sha256sum
  ) >"$work/$(basename "$place").sums"
  # Two sums of nothing are equal.
  if [ "$(wc -l <"$work/$(basename "$place").sums")" -lt $# ]; then
    echo "reproducible: FAILED: not every package of $* has a program or a library to compare" >&2
    exit 1
  fi
done
cat "$work/one.sums"
if cmp -s "$work/one.sums" "$work/deeper.sums"; then
  echo "reproducible: the same bytes from two folders"
else
  echo "reproducible: FAILED: the folders have made different bytes:" >&2
  diff "$work/one.sums" "$work/deeper.sums" >&2
  exit 1
fi
