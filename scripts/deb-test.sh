#!/bin/sh
# Installs the packages that deb.sh made, and uses them as users do: deb-test.sh [FOLDER]    (target/debian)
# Twice: unpacked into a folder, for which no rights are needed; and with dpkg in a fresh Debian of this machine's
# release, made by debootstrap, which takes root and a mirror (RSALAB_MIRROR, else the one that debootstrap knows). What
# is not possible here is said.
set -eu

cd "$(dirname "$0")/.."
packages=${1:-${CARGO_TARGET_DIR:-target}/debian}
packages=$(cd "$packages" && pwd)
ls "$packages"/*.deb >/dev/null
fail() { echo "deb-test.sh: $*" >&2; exit 1; }
skip() { echo "SKIPPED: deb-test.sh: $*" >&2; }
multiarch=$(cc -print-multiarch)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

# The same in both: everything as an administrator and a programmer would type it. $1: what comes before paths.
cat > "$folder/use.sh" <<'USE'
set -eu
under=$1
export OPENSSL_CONF=$under/etc/ssl/openssl-rsalab.cnf
openssl list -providers > providers
cat providers
grep -q '^  rsalab' providers
"$under/usr/bin/rsalab-openssl-check"
openssl genpkey -propquery provider=rsalab -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out key.pem 2>/dev/null
echo "a message" > message
openssl dgst -sha256 -sign key.pem -out signature message
OPENSSL_CONF=/dev/null openssl pkey -in key.pem -pubout -out public.pem
OPENSSL_CONF=/dev/null openssl dgst -sha256 -verify public.pem -signature signature message
cc -o sign "$under/usr/share/doc/librsalab-dev/examples/sign.c" $(pkg-config --cflags --libs rsalab)
pkg-config --modversion rsalab
./sign key.pem message
OPENSSL_CONF=/dev/null openssl dgst -sha256 -verify public.pem -signature message.sig message
USE

echo "unpacked into a folder:"
if command -v openssl >/dev/null && command -v pkg-config >/dev/null && command -v cc >/dev/null; then
  tree=$folder/tree
  mkdir "$tree" "$folder/work"
  for package in "$packages"/*.deb; do dpkg-deb --extract "$package" "$tree"; done
  # The one file that names a path of the system.
  sed -i "s|/usr/lib/|$tree/usr/lib/|" "$tree/etc/ssl/openssl-rsalab.cnf"
  (
    cd "$folder/work"
    export PKG_CONFIG_SYSROOT_DIR="$tree" PKG_CONFIG_PATH="$tree/usr/lib/$multiarch/pkgconfig" LD_LIBRARY_PATH="$tree/usr/lib/$multiarch"
    sh "$folder/use.sh" "$tree"
  ) || fail "the packages do not work in a folder"
  for package in "$tree"/usr/share/doc/*rsalab*; do
    gzip -cd "$package/third-party-notices.gz" | grep -q '^subtle .*BSD-3-Clause' || fail "$package has no notices of third-party software"
  done
  objdump -p "$folder/work/sign" | grep -q "NEEDED *librsalab\.so\.[0-9]" || fail "the example does not ask for a versioned library"
else
  skip "openssl, pkg-config or cc is missing here"
fi

echo "installed into a fresh root:"
if ! command -v debootstrap >/dev/null; then
  skip "there is no debootstrap here"
elif [ "$(id -u)" != 0 ]; then
  skip "debootstrap takes root"
else
  . /etc/os-release
  new=$folder/root
  if ! debootstrap --variant=minbase --include=openssl,gcc,libc6-dev,pkgconf "${VERSION_CODENAME:?}" "$new" ${RSALAB_MIRROR:+"$RSALAB_MIRROR"} > "$folder/log" 2>&1; then
    tail -3 "$folder/log" >&2
    skip "debootstrap makes no root here"
    exit 0
  fi
  mkdir "$new/packages" "$new/work"
  cp "$packages"/*.deb "$folder/use.sh" "$new/packages/"
  inside() { chroot "$new" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"; }
  inside sh -c 'dpkg --install /packages/*.deb' || fail "dpkg does not install the packages"
  inside sh -c 'cd /work && sh /packages/use.sh ""' || fail "the packages do not work in a fresh root"
  inside dpkg --verify librsalab-dev openssl-provider-rsalab || fail "what was installed is not what was packed"
  # Nothing is left but the configuration, which purging takes too.
  inside sh -c 'dpkg --purge openssl-provider-rsalab librsalab-dev $(dpkg-query -W -f "\${Package}\n" "librsalab0*" "librsalab[1-9]*" 2>/dev/null)' || fail "dpkg does not purge the packages"
  left=$(cd "$new" && find etc usr -name '*rsalab*')
  [ -z "$left" ] || fail "after the purge there is still: $left"
fi
echo "the packages work"
