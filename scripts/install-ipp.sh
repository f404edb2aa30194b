#!/bin/sh
# Installs Intel's ippcp and crypto_mb into the project's prefix, from the Python package index through pip: prebuilt
# libraries of a pinned version, each checked against its SHA-256. Nothing of them is part of this project, nor passed
# on by it.
set -eu

version=2026.2.0
root=$(cd "$(dirname "$0")/.." && pwd)
into=${RSALAB_PREFIX:-$root/prefix}/ipp
libraries="libippcp.so.13 libcrypto_mb.so.13 libsvml.so libirng.so libimf.so libintlc.so.5"

if [ "$(uname -s) $(uname -m)" != "Linux x86_64" ]; then
  echo "install-ipp: Intel publishes these libraries for x86-64 only, and this script knows those for Linux" >&2
  exit 1
fi
if [ "$(cat "$into/version" 2>/dev/null)" = "$version" ]; then
  exit 0
fi
if ! python3 -m pip --version >/dev/null 2>&1; then
  echo "install-ipp: needs pip: apt-get install -y --no-install-recommends python3-pip" >&2
  exit 1
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
cat >"$work/requirements.txt" <<WHEELS
ipp-crypto==$version --hash=sha256:3a5c87403b085c09329ee40ceac07fb2a51d448bf19fd1ef2b289bc583276189
intel-cmplr-lib-rt==$version --hash=sha256:9f713083073a820d2496a6da8e8d4f3482aba6640f74521d25ea48dcebe72748
WHEELS
echo "install-ipp: fetching ipp-crypto and intel-cmplr-lib-rt $version (60 MB) through pip" >&2
python3 -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes --only-binary :all: \
  --platform manylinux_2_28_x86_64 --dest "$work" --requirement "$work/requirements.txt" >&2
for wheel in "$work"/*.whl; do
  python3 -m zipfile -e "$wheel" "$work/unpacked"
done

rm -rf "$into"
mkdir -p "$into/lib"
for library in $libraries; do
  mv "$work"/unpacked/*.data/data/lib/"$library" "$into/lib/"
done
for package in ipp_crypto intel_cmplr_lib_rt; do
  mv "$work/unpacked/$package-$version.dist-info/LICENSE.txt" "$into/LICENSE-$package.txt"
done
# Last: what is half there is fetched again.
echo "$version" >"$into/version"
cat >&2 <<WORDS
install-ipp: in $into/lib are now
  ippcp and crypto_mb (Intel Cryptography Primitives Library), under the Apache licence 2.0;
  Intel's compiler run-time libraries that crypto_mb needs, under the Intel End User License Agreement for Developer Tools.
  Both licences are beside them. By keeping the files you accept them.
WORDS
