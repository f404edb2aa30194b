#!/bin/sh
# The conformance suite on every kernel that the program lists, forced.
#   forced-kernels.sh PROGRAM
# A kernel that the machine cannot run is skipped, unless the CPU has its instructions; that none but portable ones runs
# is a failure.
set -eu

program=$1
# What Linux says the first CPU has, on x86-64 or AArch64.
features=" $(sed -nE '/^(flags|Features)/{s/^[^:]*: *//p;q}' /proc/cpuinfo 2>/dev/null || true) "

# Whether the CPU has what the kernel $1 needs (crates/arith/src/kernel/table.rs).
has_what_it_needs() {
  case $1 in
    *_ifma512 | *_ifma) needs="avx512f avx512vl avx512dq avx512bw avx512ifma bmi2" ;;
    *_avx512f) needs="avx512f avx2 fma" ;;
    *_avx2fma) needs="avx2 fma" ;;
    *_adx) needs="bmi2 adx avx2" ;;
    *_neon) needs=asimd ;;
    *_portable) needs= ;;
    *)
      echo "forced-kernels: say here what $1 needs" >&2
      exit 1
      ;;
  esac
  for need in $needs; do
    case $features in
      *" $need "*) ;;
      *) return 1 ;;
    esac
  done
}

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
    0)
      case $kernel in
        *_portable) ;;
        *) tried=$((tried + 1)) ;;
      esac
      ;;
    6)
      if has_what_it_needs "$kernel"; then
        echo "forced-kernels: $kernel does not run, but /proc/cpuinfo lists what it needs" >&2
        exit 1
      fi
      echo "SKIPPED: $kernel, which this machine cannot run"
      ;;
    *) exit "$status" ;;
  esac
done
if [ "$tried" = 0 ]; then
  echo "forced-kernels: no kernel but the portable ones was tried" >&2
  exit 1
fi
