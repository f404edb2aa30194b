#!/bin/sh
# Builds the Python package into target/python/package and tests it in a virtual environment beside it: mypy, stubtest,
# pyright, pytest. Arguments go to pytest. Python 3.11 or later, from PYTHON or as python3. Studies are run with the
# program that RSALAB_PROGRAM names, or with one that is built.
set -eu
cd "$(dirname "$0")/.."

cargo=${CARGO:-cargo}
python=${PYTHON:-python3}
target=${CARGO_TARGET_DIR:-$PWD/target}
folder=$target/python
sources=bindings/python

# Needs no Python: .cargo/config.toml says so to PyO3.
$cargo build --release --locked --package rsalab-python
rm -rf "$folder/package"
mkdir -p "$folder/package"
cp -R $sources/python/. "$folder/package"
find "$folder/package" -name __pycache__ -prune -exec rm -r {} +
for library in "$target/release/lib_rsalab.so" "$target/release/lib_rsalab.dylib"; do
  if [ -e "$library" ]; then cp "$library" "$folder/package/rsalab/_rsalab.abi3.so"; fi
done
if [ -z "${RSALAB_PROGRAM:-}" ]; then
  $cargo build --release --locked --package rsalab
  export RSALAB_PROGRAM="$target/release/rsalab"
fi
export PYTHONPATH="$folder/package" MYPYPATH="$folder/package" PYTHONDONTWRITEBYTECODE=1

if ! $python -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
  echo "SKIPPED: the Python package's tests: $python is not there, older than 3.11, or has no venv" >&2
  exit 0
fi

# What needs nothing but Python.
$python - <<'EOF'
import rsalab

key = rsalab.generate(1024)
assert rsalab.verify_many(key, [b"a", b"b"], rsalab.sign_many(key, [b"a", b"b"])) == [True, True]
print(f"rsalab {rsalab.__version__} for Python, on {rsalab.kernel}")
EOF

requirements=$sources/tests/requirements.txt
if ! cmp -s "$requirements" "$folder/venv/requirements.txt"; then
  rm -rf "$folder/venv"
  $python -m venv "$folder/venv"
  if ! "$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check --requirement "$requirements"; then
    rm -rf "$folder/venv"
    echo "SKIPPED: the Python package's tests: what they need ($requirements) cannot be installed here" >&2
    exit 0
  fi
  cp "$requirements" "$folder/venv/requirements.txt"
fi

cache=$folder/cache
"$folder/venv/bin/python" -m mypy --strict --cache-dir "$cache/mypy" "$folder/package" $sources/tests $sources/benches
"$folder/venv/bin/python" -m mypy.stubtest rsalab
# It is a program for Node, which it fetches when it is first used.
if "$folder/venv/bin/python" -m pyright --version >/dev/null 2>&1; then
  "$folder/venv/bin/python" -m pyright --project $sources --pythonpath "$folder/venv/bin/python"
else
  echo "SKIPPED: the Python package's types for pyright, which cannot be installed here" >&2
fi
# What the notebooks show is kept, as pages.
export RSALAB_NOTEBOOKS="${RSALAB_NOTEBOOKS:-$folder/notebooks}"
"$folder/venv/bin/python" -m pytest -q -rs -o "cache_dir=$cache/pytest" $sources/tests "$@"
