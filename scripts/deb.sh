#!/bin/sh
# Debian packages of what was built for this machine: deb.sh [FOLDER]    (target/debian)
#   librsalab0.1              the C library
#   librsalab-dev             its header, archive, manual page, and file for pkg-config
#   openssl-provider-rsalab   rsalab.so in OpenSSL's folder of modules, and /etc/ssl/openssl-rsalab.cnf; rsalab-openssl-check
# DEBFULLNAME and DEBEMAIL name the maintainer. Needs dpkg-deb, cargo and cc. scripts/deb-test.sh installs them into a
# fresh root. The same commit and compiler give the same packages.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
. scripts/released.sh
cargo=${CARGO:-cargo}
folder=${1:-${CARGO_TARGET_DIR:-target}/debian}
target=${CARGO_TARGET_DIR:-target}/released
for program in dpkg-deb cc; do
  command -v $program >/dev/null || { echo "SKIPPED: deb.sh: there is no $program here" >&2; exit 0; }
done

field() { sed -n "s/^$1 = \"\(.*\)\"\$/\1/p" "$2" | head -n 1; }
version=$(field version Cargo.toml)
# Before version 1 a minor version may change the interface.
interface=$(echo "$version" | sed 's/^0\.\([0-9]*\)\..*/0.\1/; t; s/\..*//')
soname=librsalab.so.$interface
library=librsalab$interface
architecture=$(dpkg --print-architecture)
multiarch=$(cc -print-multiarch)
lib=usr/lib/$multiarch
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH

build() { released "$@" --release --locked --target-dir "$target"; }
build $cargo build --package rsalab-openssl-provider
build $cargo rustc --package rsalab-c --lib --crate-type staticlib
released $cargo rustc --release --locked --target-dir "$target" --package rsalab-c --lib --crate-type cdylib \
  -- -C "link-arg=-Wl,-soname,$soname"

rm -rf "$folder"
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

# begin PACKAGE CRATE: $tree, an empty one, with the licences, those of what is linked into the crate's library too, and
# the changelog.
begin() {
  package=$1 tree=$folder/$1
  docs=$tree/usr/share/doc/$package
  install -d "$tree/DEBIAN" "$docs"
  {
    echo "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/"
    echo "Upstream-Name: rsalab"
    echo "Source: $(field repository Cargo.toml)"
    echo
    echo "Files: *"
    echo "Copyright: $(git log --reverse --format=%ad --date=format:%Y | head -n 1)-$(git log -1 --format=%ad --date=format:%Y), the authors of rsalab"
    echo "License: MIT or Apache-2.0"
    echo
    echo "License: MIT"
    sed 's/^$/./; s/^/ /' LICENSE-MIT
    echo
    echo "License: Apache-2.0"
    echo " On Debian systems the text is in /usr/share/common-licenses/Apache-2.0."
    echo
    echo "Files: third-party crates that are linked into the library"
    echo "Copyright: their authors, as third-party-notices.gz in this folder says"
    echo "License: those of third-party-notices.gz"
  } > "$docs/copyright"
  chmod 644 "$docs/copyright"
  $cargo xtask notices "$2" | gzip -9n > "$docs/third-party-notices.gz"
  $cargo xtask sbom "$2" > "$docs/$2.cdx.json"
  gzip -cd "$docs/third-party-notices.gz" | grep -q "Permission is hereby granted" || { echo "deb.sh: no notices of $2" >&2; exit 1; }
  printf 'rsalab (%s) unstable; urgency=medium\n\n  * See CHANGELOG.md of the sources.\n\n -- %s  %s\n' \
    "$version" "$maintainer" "$(date -u -R -d "@$SOURCE_DATE_EPOCH")" | gzip -9n > "$docs/changelog.gz"
}
maintainer="${DEBFULLNAME:-The authors of rsalab} <${DEBEMAIL:-rsalab@localhost}>"

# finish SECTION DEPENDS SUMMARY, and the description on standard input: the package.
finish() {
  (cd "$tree" && find . -type f ! -path './DEBIAN/*' -printf '%P\n' | LC_ALL=C sort | xargs md5sum) > "$tree/DEBIAN/md5sums"
  {
    echo "Package: $package"
    echo "Source: rsalab"
    echo "Version: $version"
    echo "Architecture: $architecture"
    [ "$package" = openssl-provider-rsalab ] || echo "Multi-Arch: same"
    echo "Maintainer: $maintainer"
    echo "Installed-Size: $(du -ks --exclude=DEBIAN "$tree" | cut -f 1)"
    echo "Section: $1"
    echo "Priority: optional"
    echo "Depends: $2"
    echo "Description: $3"
    sed 's/^/ /'
  } > "$tree/DEBIAN/control"
  dpkg-deb --root-owner-group -Zxz --build "$tree" "$folder/${package}_${version}_$architecture.deb" >/dev/null
  rm -rf "$tree"
}

# libc PROGRAM: the C library that it needs, by the newest version of a symbol of it.
libc() {
  newest=$(objdump -T "$1" | sed -n 's/.*(\{0,1\}GLIBC_\([0-9.]*\))\{0,1\} .*/\1/p' | sort -uV | tail -n 1)
  echo "libc6 (>= ${newest:?no version of libc}), libgcc-s1 (>= 4.2)"
}

begin "$library" rsalab-c
install -D -m 644 "$target/release/librsalab.so" "$tree/$lib/librsalab.so.$version"
ln -s "librsalab.so.$version" "$tree/$lib/$soname"
echo "activate-noawait ldconfig" > "$tree/DEBIAN/triggers"
echo "librsalab $interface $library (>= $version)" > "$tree/DEBIAN/shlibs"
finish libs "$(libc "$target/release/librsalab.so")" "RSA in batches over the lanes of the CPU: library" <<DESCRIPTION
Keys, signatures, encryption, key generation and blind signatures, many at
once in the vector registers of the CPU; and a batcher, which answers together
what many threads ask for one by one.
DESCRIPTION

begin librsalab-dev rsalab-c
install -D -m 644 bindings/c/include/rsalab.h "$tree/usr/include/rsalab.h"
install -D -m 644 "$target/release/librsalab.a" "$tree/$lib/librsalab.a"
ln -s "$soname" "$tree/$lib/librsalab.so"
install -d "$tree/usr/share/man/man3" "$tree/$lib/pkgconfig"
gzip -9n < bindings/c/man/rsalab.3 > "$tree/usr/share/man/man3/rsalab.3.gz"
sed -e 's|@PREFIX@|/usr|' -e "s|@VERSION@|$version|" -e "s|@DESCRIPTION@|$(field description bindings/c/Cargo.toml)|" \
  -e "s|^libdir=.*|libdir=\${prefix}/lib/$multiarch|" bindings/c/rsalab.pc.in > "$tree/$lib/pkgconfig/rsalab.pc"
install -D -m 644 bindings/c/examples/sign.c "$docs/examples/sign.c"
finish libdevel "$library (= $version)" "RSA in batches over the lanes of the CPU: development files" <<DESCRIPTION
Header, static library, manual page, file for pkg-config and an example of
librsalab.
DESCRIPTION

begin openssl-provider-rsalab rsalab-openssl-provider
install -D -m 644 "$target/release/librsalab_provider.so" "$tree/$lib/ossl-modules/rsalab.so"
install -d "$tree/etc/ssl"
sed "s|/usr/lib/rsalab/rsalab.so|/$lib/ossl-modules/rsalab.so|" integrations/openssl-provider/openssl.cnf > "$tree/etc/ssl/openssl-rsalab.cnf"
install -D -m 755 integrations/openssl-provider/rsalab-openssl-check "$tree/usr/bin/rsalab-openssl-check"
install -d "$docs/examples"
sed "s|/usr/lib/rsalab/rsalab.so|/$lib/ossl-modules/rsalab.so|" integrations/openssl-provider/system.cnf > "$docs/examples/openssl-rsalab-system.cnf"
echo /etc/ssl/openssl-rsalab.cnf > "$tree/DEBIAN/conffiles"
finish libs "$(libc "$target/release/librsalab_provider.so"), libssl3 (>= 3.0) | libssl3t64" "OpenSSL provider: RSA in batches over the lanes of the CPU" <<DESCRIPTION
RSA keys, signatures and encryption for programs on OpenSSL 3, without a change
to them: start one with OPENSSL_CONF=/etc/ssl/openssl-rsalab.cnf. Operations in
asynchronous jobs, such as those of HAProxy with ssl-mode-async, are computed
together.
.
Nothing uses it until it is asked for.
DESCRIPTION

ls -l "$folder" >&2
if command -v lintian >/dev/null; then
  # Packages that are no upload to Debian close no bug of it; and without DEBEMAIL they are a trial, and nobody answers
  # for them.
  not_here=initial-upload-closes-no-bugs
  [ -n "${DEBEMAIL:-}" ] || not_here=$not_here,bogus-mail-host,bogus-mail-host-in-debian-changelog
  lintian --allow-root --suppress-tags "$not_here" --fail-on error "$folder"/*.deb
else
  echo "SKIPPED: deb.sh: the packages are not checked: there is no lintian here" >&2
fi
