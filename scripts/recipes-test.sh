#!/bin/sh
# The recipes of docs/src/how-to/many-machines.md that need other programs: GNU parallel's is run as it stands there,
# with fewer keys, and a part that fails once; Kubernetes' job is compared with Kubernetes' schema, and its command is
# run.
#   scripts/recipes-test.sh PROGRAM
set -eu
cd "$(dirname "$0")/.."
PATH=$(dirname "$(realpath "$1")"):$PATH
page=$PWD/docs/src/how-to/many-machines.md
target=${CARGO_TARGET_DIR:-$PWD/target}
python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
say() { echo "recipes-test: $*"; }
fail() { say "FAILED: $*" >&2; exit 1; }

# The first block of a language below a heading.
block() {
  awk -v heading="## $1" -v fence="\`\`\`$2" '
    $0 == heading { under = 1; next }
    under && /^## / { exit }
    inside && /^```/ { exit }
    inside { print }
    under && $0 == fence { inside = 1 }' "$page"
}
keys_of() { tar -xOf "$1" manifest.jsonl | sed 1d | wc -l; }

if ! command -v parallel >/dev/null; then
  apt-get install -y -qq --no-install-recommends parallel >/dev/null 2>&1 || true
fi
if command -v parallel >/dev/null && parallel --version </dev/null 2>/dev/null | grep -q '^GNU parallel'; then
  mkdir "$work/parallel" "$work/bin"
  # Each command but the merge fails once, in the middle: parallel's retries go on with what is there.
  cat >"$work/bin/rsalab" <<'EOF'
#!/bin/sh
case $* in
  *--shard*)
    shard=$(printf '%s' "$*" | sed 's/.*--shard \([0-9]*\).*/\1/')
    if mkdir "failed-$shard" 2>/dev/null; then
      timeout -s KILL 0.12 "$RSALAB_REAL" "$@"
      exit 1
    fi
    ;;
esac
exec "$RSALAB_REAL" "$@"
EOF
  chmod +x "$work/bin/rsalab"
  block "With GNU parallel" sh | sed 's/--count 20000/--count 400/' >"$work/recipe.sh"
  grep -q -- '--count 400' "$work/recipe.sh" || fail "the page has no recipe for GNU parallel"
  (cd "$work/parallel" && RSALAB_REAL=$(command -v rsalab) PATH=$work/bin:$PATH sh -eu "$work/recipe.sh")
  [ "$(keys_of "$work/parallel/keys.tar")" = 400 ] || fail "GNU parallel: there are not 400 keys"
  [ "$(ls -d "$work"/parallel/failed-* | wc -l)" = 8 ] || fail "GNU parallel: not every part failed once"
  say "GNU parallel: 400 keys in 8 parts, each of which was killed once"
else
  echo "SKIPPED: the recipe for GNU parallel: it cannot be installed here" >&2
fi

requirement='kubernetes-validate==1.37.0'
venv=$target/python/kubernetes
block "On Kubernetes" yaml >"$work/job.yaml"
grep -q 'completionMode: Indexed' "$work/job.yaml" || fail "the page has no job for Kubernetes"
if [ "$(cat "$venv/requirement" 2>/dev/null)" != "$requirement" ]; then
  rm -rf "$venv"
  if $python -m venv "$venv" && "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "$requirement"; then
    echo "$requirement" >"$venv/requirement"
  else
    rm -rf "$venv"
    echo "SKIPPED: Kubernetes' schema: $requirement cannot be installed here" >&2
  fi
fi
if [ -e "$venv/requirement" ]; then
  "$venv/bin/kubernetes-validate" --strict --quiet "$work/job.yaml" || fail "the job does not keep to Kubernetes' schema"
  sed 's/completions: 8/completions: eight/' "$work/job.yaml" >"$work/wrong.yaml"
  if "$venv/bin/kubernetes-validate" --strict --quiet "$work/wrong.yaml" >/dev/null 2>&1; then
    fail "the schema lets everything pass"
  fi
  say "Kubernetes: the job keeps to the schema of $requirement"
fi
# The command of the job, as each of its pods would run it.
mkdir "$work/keys"
awk '/^ *- \|$/ { inside = 1; next } inside && /resources:/ { exit } inside { print }' "$work/job.yaml" |
  sed -e 's/--count 20000/--count 80/' -e "s|/keys/|$work/keys/|" >"$work/command.sh"
for index in 0 1 2 3 4 5 6 7; do JOB_COMPLETION_INDEX=$index sh -eu "$work/command.sh"; done
rsalab merge "$work"/keys/*.tar --out "$work/keys.tar"
[ "$(keys_of "$work/keys.tar")" = 80 ] || fail "Kubernetes: there are not 80 keys"
say "Kubernetes: the command of the job makes 80 keys in 8 parts"
