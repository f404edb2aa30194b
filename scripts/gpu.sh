#!/bin/sh
# Checks and measures the RSA kernels on a machine with NVIDIA's driver and nothing else installed, in less than eight
# minutes.
#   scripts/gpu.sh build [--cgbn FOLDER]   where there is a Rust toolchain: makes target/gpu/gpu_report; and with clang
#                                          and CGBN's sources in FOLDER its kernels, target/gpu/cgbn.ptx
#   scripts/gpu.sh run [OPTION...]         where there is a device and target/gpu: checks, rates, speeds, clock and
#                                          power, and CGBN if it was built, to $OUT/gpu.json
# Options of run:
#   --quick           a rehearsal: few operations, short measurements, small batches
#   others            go to gpu_report, as --bits 2048 --seconds 5 --checks 100000 --device opencl0 --kernels portable
# A line of JSON comes as soon as it is known, so that a run that is cut off has left what it had. A part that fails is
# a line "failed"; the others go on, and the exit code is 1. A run ends after GPU_SECONDS, 450 unless others are set.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
program=$root/target/gpu/gpu_report
cgbn=$root/target/gpu/cgbn.ptx
out=${OUT:-$root/results/gpu}
limit=${GPU_SECONDS:-450}

say() { echo "gpu: $*" >&2; }

build() {
  cargo build --release --manifest-path "$root/Cargo.toml" --package rsalab-gpu --example gpu_report
  mkdir -p "$root/target/gpu"
  cp "$root/target/release/examples/gpu_report" "$program"
  if [ "${1:-}" = --cgbn ]; then "$root/scripts/make-cgbn-ptx.sh" "$2" "$cgbn"; fi
}

run() {
  # A million checked operations a size and two seconds a measurement: 354 s by the times of an H200 in
  # docs/results/h200, of which 43 and 33 s are its driver's compiler, 71 s keys and 39 s CGBN. What the host does in
  # between, and what the driver takes to compile CGBN's kernels, is not in there. The portable kernels, of which no
  # such times are known, are asked for by --kernels.
  defaults="--kernels words,doubles --seconds 2"
  if [ "${1:-}" = --quick ]; then
    defaults="--seconds 0.2 --checks 64 --batch 16"
    shift
  fi
  if [ -f "$cgbn" ]; then set -- --cgbn "$cgbn" "$@"; fi
  if [ ! -x "$program" ]; then
    if ! command -v cargo >/dev/null 2>&1; then
      say "there is no $program: run scripts/gpu.sh build where there is a Rust toolchain, and bring it along"
      exit 6
    fi
    build
  fi
  mkdir -p "$out"
  : >"$out/gpu.jsonl"
  if command -v nvidia-smi >/dev/null 2>&1; then timeout 20 nvidia-smi -q >"$out/nvidia-smi.txt" 2>&1 || true; fi
  status=0
  # shellcheck disable=SC2086
  timeout "$limit" "$program" $defaults "$@" >"$out/gpu.jsonl" || status=$?
  case $status in
    0) ;;
    1) say "some parts failed: their lines in $out/gpu.json say why" ;;
    124) say "cut off after $limit seconds" ;;
    *) say "gpu_report ended with $status" ;;
  esac
  { printf '[\n'; sed '$!s/$/,/' "$out/gpu.jsonl"; printf ']\n'; } >"$out/gpu.json"
  cat "$out/gpu.json"
  exit $status
}

case ${1:-} in
  build) shift; build "$@" ;;
  run) shift; run "$@" ;;
  *) sed -n '2,12s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
