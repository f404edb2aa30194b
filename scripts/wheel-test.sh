#!/bin/sh
# Installs the wheel that wheel.sh made, and uses it as people do: wheel-test.sh [FOLDER]    (target/wheel)
# Into a fresh environment of this machine's Python, with pip and, where it is there, with uv; and into a fresh Debian
# of this machine's release that has Python and no compiler, made by debootstrap, which takes root and a mirror
# (RSALAB_MIRROR, else the one that debootstrap knows). What is not possible here is said.
set -eu

cd "$(dirname "$0")/.."
made=${1:-target/wheel}
wheel=$(ls "$made"/rsalab-*.whl)
fail() { echo "wheel-test.sh: $*" >&2; exit 1; }
skip() { echo "SKIPPED: wheel-test.sh: $*" >&2; }
folder=$(mktemp -d)
mounted=
finish() {
  for point in $mounted; do umount "$point" || umount --lazy "$point"; done
  rm -rf --one-file-system "$folder"
}
trap finish EXIT
trap 'exit 130' INT TERM

python3 packaging/wheel/wheel.py --check "$wheel"

# What it carries, packed again at another time, is the same.
cmp "$wheel" "$(python3 packaging/wheel/wheel.py "@$made/arguments" --out "$folder/again")" || fail "packed again, the wheel is another"

# What people type, in a folder of their own: $1 is the folder of the programs of the environment, $2 `package` if the
# wheel must have the Python package.
cat > "$folder/use.sh" <<'USE'
set -eu
PATH=$1:$PATH
rsalab engines --json > engines.json
python3 - <<'ENGINES'
import json
engines = json.load(open("engines.json"))["engines"]
present = {engine["name"] for engine in engines if engine["present"]}
print("present:", *sorted(present))
for engine in engines:
    if not engine["present"]:
        print("absent:", engine["name"], "-", engine["reason"])
carried = {"own", "textbook", "openssl", "libcrypto", "gmp", "aws-lc", "cryptopp", "rustcrypto", "go", "c-openmp"}
assert carried <= present, f"missing: {carried - present}"
ENGINES
rsalab study smoke --out smoke > study.txt 2>&1 || { cat study.txt >&2; exit 1; }
test -s smoke/report.html
python3 - <<'RESULTS'
import csv
rows = list(csv.DictReader(open("smoke/results.csv", newline="")))
measured = {row["engine"].split(":")[0] for row in rows if row["state"] == "done"}
failed = [row for row in rows if row["state"] == "failed"]
print("measured:", *sorted(measured))
assert not failed, failed
assert len(measured) >= 10, "fewer than ten engines in the study"
RESULTS
rsalab keygen --out key.pem --public-out public.pem
echo "a message" > message
rsalab sign --key key.pem message
rsalab verify --key public.pem message
# The Python package, where the wheel has it, finds the program that lies next to it, and pytest the fixtures.
cat > own.py <<'PYTHON'
from importlib.metadata import entry_points
from rsalab import generate_many, write_jwk_set
from rsalab.engine import Engine
from rsalab.study import Study, program

class PythonPow(Engine):
    operations = ("private",)
    def prepare(self, job, key):
        self.key = key
    def run(self, item):
        return pow(int.from_bytes(item), self.key.d, self.key.n).to_bytes(len(item))

assert [point.value for point in entry_points(group="pytest11", name="rsalab_pytest")] == ["rsalab_pytest"]
write_jwk_set("keys.json", generate_many(2, [2048, 3072]))
engines = ["own", PythonPow, "gmp"]
grid = {"operations": ["private"], "engines": engines, "bits": [512]}
study = Study.run({"measure": {"budget_s": 0.2}, "grid": [grid]}, "python", progress=False)
states = {cell["engine"]: cell["state"] for cell in study.cells}
assert states == {"own": "done", "python-pow": "done", "gmp": "done"}, states
assert len(study.figures) == 1 and study.is_complete
print("measured from Python:", *states, "- by", program())
PYTHON
if python3 -c 'import importlib.util, sys; sys.exit(importlib.util.find_spec("rsalab") is None)'; then
  (unset RSALAB_PROGRAM; python3 own.py) > own.txt || { cat own.txt; exit 1; }
  grep -F "by $(cd "$1" && pwd -P)/rsalab" own.txt
elif [ "$2" = package ]; then
  echo "the wheel has no Python package" >&2
  exit 1
else
  echo "SKIPPED: the wheel has no Python package, since there are no sources of one" >&2
fi
USE
package=none
[ ! -f bindings/python/Cargo.toml ] || package=package

echo "in an environment of its own, by pip:"
if python3 -c 'import ensurepip, venv' 2>/dev/null; then
  python3 -m venv "$folder/environment"
  mkdir "$folder/work"
  began=$(date +%s.%N)
  "$folder/environment/bin/pip" install --quiet --disable-pip-version-check --no-index "$wheel" || fail "pip does not install the wheel"
  (cd "$folder/work" && env -u RSALAB_PREFIX sh "$folder/use.sh" "$folder/environment/bin" "$package") || fail "the wheel does not work in an environment"
  awk "BEGIN { printf \"%.1f s from pip install to the last command\n\", $(date +%s.%N) - $began }"
  others=$(find "$folder/environment/bin" -name 'rsalab*' ! -name rsalab)
  [ -z "$others" ] || fail "the path has other programs than rsalab: $others"
  "$folder/environment/bin/pip" uninstall --quiet --yes rsalab
  left=$(find "$folder/environment" -name '*rsalab*' -type f)
  [ -z "$left" ] || fail "after pip uninstall there is still: $left"
else
  skip "this Python has no venv"
fi

echo "by uvx:"
if command -v uvx >/dev/null; then
  uvx --offline --from "$wheel" rsalab engines > "$folder/engines" || fail "uvx does not run the wheel"
  grep -q "^ *gmp " "$folder/engines" || fail "uvx does not install the workers"
else
  skip "there is no uvx here"
fi

echo "in a fresh Debian with Python only:"
new=$folder/root
inside() { chroot "$new" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "$@"; }
if ! command -v debootstrap >/dev/null; then
  skip "there is no debootstrap here"
elif [ "$(id -u)" != 0 ]; then
  skip "debootstrap takes root"
elif . /etc/os-release &&
  ! debootstrap --variant=minbase --include=python3,python3-venv "${VERSION_CODENAME:?}" "$new" ${RSALAB_MIRROR:+"$RSALAB_MIRROR"} > "$folder/log" 2>&1; then
  tail -3 "$folder/log" >&2
  skip "debootstrap makes no root here"
# A program learns from there where it lies.
elif ! mount --bind /proc "$new/proc"; then
  skip "nothing may be mounted here"
else
  mounted=$new/proc
  mkdir "$new/wheel" "$new/work"
  cp "$wheel" "$folder/use.sh" "$new/wheel/"
  for tool in cc gcc c++ make cargo go java; do
    ! inside sh -c "command -v $tool" >/dev/null || fail "the fresh root has $tool"
  done
  inside python3 -m venv /environment
  began=$(date +%s.%N)
  inside /environment/bin/pip install --quiet --no-index "/wheel/$(basename "$wheel")" || fail "pip does not install the wheel in a fresh root"
  inside sh -c 'cd /work && /environment/bin/rsalab study smoke --out first > /dev/null 2>&1 && test -s first/report.html' || fail "no study in a fresh root"
  awk "BEGIN { printf \"%.1f s from pip install to the report of study smoke\n\", $(date +%s.%N) - $began }"
  inside sh -c 'cd /work && sh /wheel/use.sh /environment/bin "$1"' sh "$package" || fail "the wheel does not work in a fresh root"
fi
echo "the wheel works"
