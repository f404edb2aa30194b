#!/bin/sh
# Makes PTX of CGBN's modular powers, for a machine that has NVIDIA's driver and no compiler:
#   make-cgbn-ptx.sh CGBN OUT
# CGBN is a folder with its sources (https://github.com/NVlabs/CGBN). clang compiles them, with the headers of NVIDIA's
# CUDA 11 from the Python package index, of pinned versions, each checked against its SHA-256. By using them you accept
# NVIDIA's licence for its toolkit. Nothing of them is part of this project.
set -eu

[ $# = 2 ] || { echo "usage: make-cgbn-ptx.sh CGBN OUT" >&2; exit 2; }
cgbn=$1 out=$2
here=$(cd "$(dirname "$0")" && pwd)
fail() { echo "make-cgbn-ptx: $*" >&2; exit 1; }
[ -f "$cgbn/include/cgbn/cgbn.h" ] || fail "$cgbn has no include/cgbn/cgbn.h"
# Later versions know later toolkits; 15 is the first that this was tried with.
for clang in clang++ clang++-19 clang++-18 clang++-17 clang++-16 clang++-15 ''; do
  version=$("$clang" -dumpversion 2>/dev/null | cut -d . -f 1)
  [ "${version:-0}" -ge 15 ] && break
done
[ -n "$clang" ] || fail "needs clang 15 or later: apt-get install -y --no-install-recommends clang-15"
echo '#include <gmp.h>' | "$clang" -E -x c++ - >/dev/null 2>&1 || fail "needs GMP's header: apt-get install -y --no-install-recommends libgmp-dev"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
echo "make-cgbn-ptx: fetching headers of CUDA 11 (20 MB) through pip" >&2
"$here/fetch-wheels.sh" "$work" <<WHEELS
nvidia-cuda-nvcc-cu11==11.8.89 --hash=sha256:f8e1e995166c884f2f5bf94975d7abb89175363b8712f7f81cd38d0df1b2cd85
nvidia-cuda-runtime-cu11==11.7.99 --hash=sha256:cc768314ae58d2641f07eac350f40f99dcb35719c4faff4bc458a7cd2b119e31
WHEELS

# As clang looks for a toolkit.
cuda=$work/cuda
mkdir -p "$cuda/bin" "$cuda/lib64"
cp -r "$work/unpacked/nvidia/cuda_runtime/include" "$work/unpacked/nvidia/cuda_nvcc/nvvm" "$cuda/"
cp -r "$work/unpacked/nvidia/cuda_nvcc/include/crt" "$cuda/include/"
# CGBN includes the one and uses nothing of it, clang the other; both ask for 60 MB more.
mkdir "$work/empty"
echo 'namespace cooperative_groups {}' >"$work/empty/cooperative_groups.h"
: >"$work/empty/curand_mtgp32_kernel.h"
# NVIDIA's compiler takes a single % in front of a register's name. Some templates that nobody uses do not compile.
cp -r "$cgbn/include" "$work/include"
sed -i 's/%\([a-z]\)/%%\1/g' "$work/include/cgbn/arith/asm.cu"
"$clang" -x cuda --cuda-path="$cuda" --cuda-gpu-arch=sm_70 --cuda-device-only -S -O3 -std=c++14 -w -Wno-unknown-cuda-version \
  -fdelayed-template-parsing -D__CUDACC_VER_MAJOR__=11 -D__CUDACC_VER_MINOR__=8 -isystem "$work/empty" -I "$work/include" \
  -o "$work/cgbn.ptx" "$here/gpu-cgbn.cu"
mkdir -p "$(dirname "$out")"
mv "$work/cgbn.ptx" "$out"
echo "make-cgbn-ptx: $out has $(grep -c '\.entry' "$out") kernels" >&2
