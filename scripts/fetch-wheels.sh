#!/bin/sh
# Fetches wheels from the Python package index through pip and unpacks them:
#   fetch-wheels.sh FOLDER <REQUIREMENTS
# REQUIREMENTS has a pinned version and its SHA-256 on each line. What the wheels hold, for Linux on x86-64, is in
# FOLDER/unpacked then.
set -eu

[ $# = 1 ] || { echo "usage: fetch-wheels.sh FOLDER <REQUIREMENTS" >&2; exit 2; }
folder=$1
if ! python3 -m pip --version >/dev/null 2>&1; then
  echo "fetch-wheels: needs pip: apt-get install -y --no-install-recommends python3-pip" >&2
  exit 1
fi
cat >"$folder/requirements.txt"
python3 -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes --only-binary :all: \
  --platform manylinux2014_x86_64 --platform manylinux2010_x86_64 --platform manylinux1_x86_64 \
  --dest "$folder" --requirement "$folder/requirements.txt" >&2
for wheel in "$folder"/*.whl; do
  python3 -m zipfile -e "$wheel" "$folder/unpacked"
done
