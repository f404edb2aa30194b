#!/bin/sh
# Checks and measures the RSA kernels on a machine with NVIDIA's driver and nothing else installed, in less than eight minutes.
#   scripts/gpu.sh build                   where there is a Rust toolchain: makes target/gpu/gpu_report
#   scripts/gpu.sh run [OPTION...]         where there is a device: checks, rates, speeds, clock and power, to $OUT/gpu.json
# Options of run:
#   --cgbn FOLDER     builds and measures CGBN, whose sources are there, in the same run: needs nvcc and GMP's header
#   --quick           a rehearsal: few operations, short measurements, small batches
#   others            go to gpu_report, as --bits 2048 --seconds 5 --checks 100000 --device opencl0
# The first part takes what it needs for checks: a million operations a size. A line of JSON comes as soon as it is known, so that a run
# that is cut off has left what it had.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
program=$root/target/gpu/gpu_report
out=${OUT:-$root/results/gpu}
limit=${GPU_SECONDS:-450}

say() { echo "gpu: $*" >&2; }

build() {
  cargo build --release --manifest-path "$root/Cargo.toml" --package rsalab-gpu --example gpu_report
  mkdir -p "$root/target/gpu"
  cp "$root/target/release/examples/gpu_report" "$program"
}

measure_cgbn() {
  if ! command -v nvcc >/dev/null 2>&1; then
    say "CGBN is left out: there is no nvcc"
    return
  fi
  say "building CGBN of $1"
  if nvcc -O3 -arch=native -I "$1/include" -o "$out/gpu-cgbn" "$root/scripts/gpu-cgbn.cu" -lgmp >&2; then
    "$out/gpu-cgbn" "$2" "$3" >>"$out/gpu.jsonl" || say "CGBN ended with $?"
    rm -f "$out/gpu-cgbn"
  else
    say "CGBN is left out: it does not build"
  fi
}

run() {
  cgbn= cgbn_batch=131072 cgbn_seconds=2 defaults="--kernels words,doubles,portable"
  while [ $# -gt 0 ]; do
    case $1 in
      --cgbn) cgbn=$2; shift 2 ;;
      --quick) defaults="--seconds 0.2 --checks 64 --batch 16"; cgbn_batch=1024 cgbn_seconds=0.2; shift ;;
      *) break ;;
    esac
  done
  if [ ! -x "$program" ]; then
    if ! command -v cargo >/dev/null 2>&1; then
      say "there is no $program: run scripts/gpu.sh build where there is a Rust toolchain, and bring it along"
      exit 6
    fi
    build
  fi
  mkdir -p "$out"
  : >"$out/gpu.jsonl"
  if command -v nvidia-smi >/dev/null 2>&1; then nvidia-smi -q >"$out/nvidia-smi.txt" 2>&1 || true; fi
  status=0
  # shellcheck disable=SC2086
  timeout "$limit" "$program" $defaults "$@" >"$out/gpu.jsonl" || status=$?
  case $status in
    0) ;;
    124) say "cut off after $limit seconds" ;;
    *) say "gpu_report ended with $status" ;;
  esac
  if [ -n "$cgbn" ]; then measure_cgbn "$cgbn" "$cgbn_batch" "$cgbn_seconds"; fi
  { printf '[\n'; sed '$!s/$/,/' "$out/gpu.jsonl"; printf ']\n'; } >"$out/gpu.json"
  cat "$out/gpu.json"
  exit $status
}

case ${1:-} in
  build) build ;;
  run) shift; run "$@" ;;
  *) sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
