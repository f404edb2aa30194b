#!/bin/sh
# Builds the wheel `rsalab`, with the program and every worker that this machine can build: wheel.sh [FOLDER]
# (target/wheel)
#
# The programs run on other machines than this one: they count on no instruction that not every CPU of its kind has,
# link the archives of libraries that a system may lack (RSALAB_PORTABLE), and know no folder of this machine
# (RSALAB_PREFIX is empty; released.sh). So they have a target folder of their own, target/portable. What cannot be
# built is not in the wheel, and said.
#
# The C library that they ask for is that of the system which they are built on, where it matters: build on the oldest
# one. The Python package of bindings/python goes into the same wheel, where that is there and can be built.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
. scripts/engines.sh
. scripts/released.sh
cargo=${CARGO:-cargo}
into=${1:-target/wheel}
build=target/portable
field() { sed -n "s/^$1 = \"\(.*\)\"\$/\1/p" "$2" | head -n 1; }
say() { echo "wheel.sh: $*" >&2; }

rm -rf "$into"
mkdir -p "$into/programs" "$build"
into=$(cd "$into" && pwd)
build=$(cd "$build" && pwd)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
export RSALAB_PORTABLE=1

# The extension module is for every Python from the one on that its feature names, and is built without one.
python=bindings/python
abi=
if [ -f $python/Cargo.toml ]; then
  abi=$(sed -n 's/^pyo3 = .*abi3-py3\([0-9]*\).*/cp3\1-abi3/p' Cargo.toml $python/Cargo.toml)
  if [ -z "$abi" ]; then
    say "no line of pyo3 in Cargo.toml or $python/Cargo.toml says which stable ABI of Python the module is for"
    exit 1
  fi
fi
# What an earlier run built is no sign that it can be built now. Cargo puts back what has not changed.
rm -f "$build/release/rsalab" "$build/release"/rsalab-peer-* "$build/release/lib_rsalab.so"

# Engines in other languages, at the same time, as in peers.sh.
(
  for script in $(engine_scripts); do
    sh "$script" "$into/programs" >&2 || say "$script failed"
  done
  # The article's application is not a worker.
  rm -f "$into/programs/rsa_speed_test.jar"
) &
# shellcheck disable=SC2046 # a list of arguments
released env RSALAB_PREFIX='' PYO3_NO_PYTHON=1 $cargo build --release --locked --keep-going --target-dir "$build" --package rsalab \
  ${abi:+--package rsalab-python} \
  $(engine_packages | sed 's/^/--package /') || say "what Cargo could not build, see above, is not in the wheel"
wait

release=$build/release
cp "$release/rsalab" "$into/programs/"
for package in $(engine_packages); do
  for engine in $(engines_of_package "$package"); do
    [ ! -x "$release/rsalab-peer-$engine" ] || cp "$release/rsalab-peer-$engine" "$into/programs/"
  done
done
for engine in $(sed -n 's/^name = "\(.*\)"$/\1/p' "$engines_table"); do
  case $engine in own | textbook | gpu) continue ;; esac
  [ -e "$into/programs/rsalab-peer-$engine" ] || say "SKIPPED: the engine $engine is not in the wheel: it could not be built here"
done

module=
if [ -n "$abi" ] && [ -f "$release/lib_rsalab.so" ]; then
  module=$into/module
  mkdir "$module"
  (cd $python/python && find . -type f ! -path '*/__pycache__/*' ! -name '*.so' -exec cp --parents {} "$module" \;)
  cp "$release/lib_rsalab.so" "$module/rsalab/_rsalab.abi3.so"
else
  say "SKIPPED: the Python package is not in the wheel"
fi
$cargo xtask bom --programs "$into/programs" --out "$into/bom" ${module:+--also rsalab/_rsalab.abi3.so=rsalab-python}
{
  printf -- '--%s\n%s\n' programs "$into/programs" bom "$into/bom" version "$(field version Cargo.toml)" date "$SOURCE_DATE_EPOCH" \
    summary "$(field description crates/cli/Cargo.toml)" repository "$(field repository Cargo.toml)" \
    intel "$(sed -n 's/^version=//p' scripts/install-ipp.sh)"
  [ -z "$module" ] || printf -- '--%s\n%s\n' module "$module" abi "$abi" project packaging/wheel/pyproject.toml
} > "$into/arguments"
python3 packaging/wheel/wheel.py "@$into/arguments" --out "$into"
