#!/bin/sh
# Installs NVIDIA's assembler and disassembler (ptxas, nvdisasm) into the project's prefix, from the Python package
# index through pip: prebuilt programs of pinned versions, each checked against its SHA-256. They assemble the kernels
# for NVIDIA's devices in tests, on a machine that needs no device. Nothing of them is part of this project, nor passed
# on by it.
set -eu

# The last assembler that knows sm_70. The disassembler knows sm_75 and later.
assembler=12.9.86
disassembler=13.5.37
root=$(cd "$(dirname "$0")/.." && pwd)
into=${RSALAB_PREFIX:-$root/prefix}/ptxas

if [ "$(uname -s) $(uname -m)" != "Linux x86_64" ]; then
  echo "install-ptxas: this script knows the programs for Linux on x86-64 only" >&2
  exit 1
fi
if [ "$(cat "$into/version" 2>/dev/null)" = "$assembler $disassembler" ]; then
  exit 0
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
echo "install-ptxas: fetching ptxas $assembler and nvdisasm $disassembler (46 MB) through pip" >&2
"$root/scripts/fetch-wheels.sh" "$work" <<WHEELS
nvidia-cuda-nvcc-cu12==$assembler --hash=sha256:5d6a0d32fdc7ea39917c20065614ae93add6f577d840233237ff08e9a38f58f0
nvidia-cuda-nvdisasm==$disassembler --hash=sha256:d3fdbdd49fa53e2e4aacd3db8259d052bd2b049ececdcb69e92e083c6728e7ca
WHEELS

rm -rf "$into"
mkdir -p "$into"
mv "$work/unpacked/nvidia/cuda_nvcc/bin/ptxas" "$work/unpacked/nvidia/cu13/bin/nvdisasm" "$into/"
chmod +x "$into/ptxas" "$into/nvdisasm"
for licence in "$work"/unpacked/*.dist-info; do
  name=$(basename "$licence" .dist-info)
  find "$licence" -iname 'license*' -type f | head -n 1 | while read -r text; do mv "$text" "$into/LICENSE-$name.txt"; done
done
# Last: what is half there is fetched again.
echo "$assembler $disassembler" >"$into/version"
cat >&2 <<WORDS
install-ptxas: ptxas and nvdisasm are now in $into, under NVIDIA's licence for its toolkit, which is there too.
By keeping the files you accept it.
WORDS
