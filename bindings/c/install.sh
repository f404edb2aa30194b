#!/bin/sh
# Installs the library that Cargo built, with header, manual page and the file for pkg-config:
#   install.sh PREFIX FOLDER
# FOLDER has librsalab.so (or .dylib) and librsalab.a, such as target/release. The shared library gets a versioned name,
# and links with the name that programs ask for and with the one that the compiler looks for, as cargo-c makes them.
set -eu

[ $# = 2 ] || {
  echo "install.sh: PREFIX FOLDER" >&2
  exit 2
}
here=$(cd "$(dirname "$0")" && pwd)
built=$2
mkdir -p "$1/lib/pkgconfig" "$1/include" "$1/share/man/man3"
prefix=$(cd "$1" && pwd)

# Of the manifests, as cargo-c does it.
field() { sed -n "s/^$1 = \"\(.*\)\"\$/\1/p" "$2" | head -n 1; }
version=$(field version "$here/../../Cargo.toml")
description=$(field description "$here/Cargo.toml")
# As in build.rs.
interface=$(echo "$version" | sed 's/^0\.\([0-9]*\)\..*/0.\1/; t; s/\..*//')

found=
if [ -e "$built/librsalab.so" ]; then
  # Removed first: programs that run keep the file they have.
  rm -f "$prefix/lib/librsalab.so.$version"
  cp "$built/librsalab.so" "$prefix/lib/librsalab.so.$version"
  ln -sf "librsalab.so.$version" "$prefix/lib/librsalab.so.$interface"
  ln -sf "librsalab.so.$interface" "$prefix/lib/librsalab.so"
  found=1
fi
for library in librsalab.dylib librsalab.a; do
  [ ! -e "$built/$library" ] || { cp "$built/$library" "$prefix/lib/" && found=1; }
done
[ -n "$found" ] || {
  echo "install.sh: no librsalab in $built: cargo build --release -p rsalab-c" >&2
  exit 1
}
cp "$here/include/rsalab.h" "$prefix/include/"
cp "$here/man/rsalab.3" "$prefix/share/man/man3/"
sed -e "s|@PREFIX@|$prefix|" -e "s|@VERSION@|$version|" -e "s|@DESCRIPTION@|$description|" \
  "$here/rsalab.pc.in" >"$prefix/lib/pkgconfig/rsalab.pc"
