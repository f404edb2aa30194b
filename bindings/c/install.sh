#!/bin/sh
# Installs the library that Cargo built, with header, manual page and the file for pkg-config:
#   install.sh PREFIX FOLDER
# FOLDER has librsalab.so (or .dylib) and librsalab.a, such as target/release. Where cargo-c is installed, scripts/c-library.sh does it all
# with that, and gives the shared library a versioned name too.
set -eu

[ $# = 2 ] || {
  echo "install.sh: PREFIX FOLDER" >&2
  exit 2
}
here=$(cd "$(dirname "$0")" && pwd)
built=$2
mkdir -p "$1/lib/pkgconfig" "$1/include" "$1/share/man/man3"
prefix=$(cd "$1" && pwd)

for library in librsalab.so librsalab.dylib librsalab.a; do
  [ ! -e "$built/$library" ] || cp "$built/$library" "$prefix/lib/"
done
ls "$prefix"/lib/librsalab.* >/dev/null 2>&1 || {
  echo "install.sh: no librsalab in $built: cargo build --release -p rsalab-c" >&2
  exit 1
}
cp "$here/include/rsalab.h" "$prefix/include/"
cp "$here/man/rsalab.3" "$prefix/share/man/man3/"

# Of the manifests, as cargo-c does it.
field() { sed -n "s/^$1 = \"\(.*\)\"\$/\1/p" "$2" | head -n 1; }
version=$(field version "$here/../../Cargo.toml")
description=$(field description "$here/Cargo.toml")
sed -e "s|@PREFIX@|$prefix|" -e "s|@VERSION@|$version|" -e "s|@DESCRIPTION@|$description|" \
  "$here/rsalab.pc.in" >"$prefix/lib/pkgconfig/rsalab.pc"
