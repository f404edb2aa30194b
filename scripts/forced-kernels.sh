#!/bin/sh
# The conformance suite on every kernel that the program lists, forced.
#   forced-kernels.sh PROGRAM
# A kernel that the machine cannot run is skipped; that none but the last resort runs is a failure.
set -eu

program=$1
tried=0
for kernel in $("$program" engines --json | sed -n 's/.*"name": *"\(mont[^"]*\)".*/\1/p'); do
  # Forms on arrays are slow.
  case $kernel in
    mont64x1_*) scope="--bits 1024,2048 --count 200" ;;
    *_portable) scope="--bits 1024 --count 50" ;;
    *) scope="--bits 1024,2048 --count 200" ;;
  esac
  status=0
  # shellcheck disable=SC2086 # options
  "$program" vectors --engines own --kernel "$kernel" $scope || status=$?
  case $status in
    0) tried=$((tried + 1)) ;;
    6) echo "SKIPPED: $kernel, which this machine cannot run" ;;
    *) exit "$status" ;;
  esac
done
if [ "$tried" -lt 2 ]; then
  echo "forced-kernels: only $tried kernels tried" >&2
  exit 1
fi
