#!/bin/sh
# Builds rsalab-peer-go into the folder given, with the Go on the path if it is 1.24 or later, else with one that is
# installed into the prefix.
set -eu

into=${1:-target/release}
here=$(dirname "$0")
root=$(cd "$here/../../.." && pwd)
: "${RSALAB_PREFIX:=$root/prefix}"
export RSALAB_PREFIX
mkdir -p "$into"
into=$(cd "$into" && pwd)

# No Go but the one that is chosen here, however old it finds the module.
export GOTOOLCHAIN=local
is_new_enough() {
  "$1" version 2>/dev/null | awk '{ sub("go", "", $3); split($3, v, "."); exit !(v[1] > 1 || v[2] >= 24) }'
}
go=go
if ! command -v go >/dev/null 2>&1 || ! is_new_enough go; then
  sh "$root/scripts/install-go.sh"
  go=$RSALAB_PREFIX/go/bin/go
fi

cd "$here"
export CGO_ENABLED=0
# The level of the CPU's instructions that the compiler may count on; Go's assembly asks the CPU itself.
# Where RSALAB_PORTABLE is set, others install the program: it counts on none, and leaves out what debuggers read.
flags=-checklinkname=0
if [ -n "${RSALAB_PORTABLE:-}" ]; then
  export GOAMD64=v1
  flags="$flags -s -w"
elif [ -z "${GOAMD64:-}" ] && grep -qw avx2 /proc/cpuinfo 2>/dev/null && grep -qw bmi2 /proc/cpuinfo; then
  export GOAMD64=v3
fi
# The raw operations are reached through names that the linker hides otherwise; where even that fails, all else is
# measured.
"$go" build -trimpath -ldflags="$flags" -o "$into/rsalab-peer-go" . ||
  "$go" build -trimpath -tags public_api_only -o "$into/rsalab-peer-go" .
