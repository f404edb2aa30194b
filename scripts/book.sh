#!/bin/sh
# Builds the documentation site into target/site: the book, and the reports of published studies that its pages link to,
# which the program (`make build`) makes from docs/results.
#   book.sh [--install]   with --install mdBook is compiled into target/tools where it is missing
set -eu
cd "$(dirname "$0")/.."

version=0.5.4
tools=$PWD/target/tools
mdbook=$(command -v mdbook || true)
[ -n "$mdbook" ] || [ ! -x "$tools/bin/mdbook" ] || mdbook=$tools/bin/mdbook
if [ -z "$mdbook" ] && [ "${1:-}" = --install ]; then
  # Not among what the repository's own packages are built of.
  env -u CARGO_TARGET_DIR ${CARGO:-cargo} install --locked --quiet --root "$tools" --version "$version" \
    --no-default-features --features search mdbook
  mdbook=$tools/bin/mdbook
fi
if [ -z "$mdbook" ]; then
  echo "SKIPPED: the documentation site, which needs mdBook: sh scripts/book.sh --install" >&2
  exit 0
fi
rm -rf target/site
# A page that is missing, or listed twice, is an error of mdBook's; links and headings are checked by
# `cargo xtask tidy`.
"$mdbook" build docs
rsalab=target/release/rsalab
if [ -x "$rsalab" ]; then
  for results in docs/results/*/results.json.gz; do
    study=$(basename "$(dirname "$results")")
    "$rsalab" report "$results" --out "target/site/results/$study" >/dev/null
  done
else
  echo "SKIPPED: the reports of published studies, which need the program: make build" >&2
fi
echo "$PWD/target/site/book/index.html"
