#!/bin/sh
# Tests rsalab.ray on three nodes of Ray on this machine; Ray comes from the Python package index.
#   scripts/ray-test.sh [KEYS [MODULI]]
# The Python package is the one that scripts/python.sh has built; the program is RSALAB_PROGRAM's, or target/release's.
set -eu
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
target=${CARGO_TARGET_DIR:-$PWD/target}
venv=$target/python/ray
requirement='ray==2.60.0'

if [ ! -e "$target/python/package/rsalab/_rsalab.abi3.so" ]; then
  echo "SKIPPED: rsalab.ray: scripts/python.sh has not built the package" >&2
  exit 0
fi
if [ "$(cat "$venv/requirement" 2>/dev/null)" != "$requirement" ]; then
  rm -rf "$venv"
  if ! { $python -m venv "$venv" && "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "$requirement" nanoarrow; }; then
    rm -rf "$venv"
    echo "SKIPPED: rsalab.ray: $requirement cannot be installed here" >&2
    exit 0
  fi
  echo "$requirement" >"$venv/requirement"
fi
export RSALAB_PROGRAM="${RSALAB_PROGRAM:-$target/release/rsalab}"
export PYTHONPATH="$target/python/package" PYTHONDONTWRITEBYTECODE=1
# Nothing of this machine is told to anybody.
export RAY_USAGE_STATS_ENABLED=0
exec "$venv/bin/python" bindings/python/tests/ray_cluster.py "$@"
