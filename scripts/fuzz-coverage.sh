#!/bin/sh
# Line coverage of each parser by what `make test` gives to the fuzz targets: their seeds, and what is kept of corpora.
#
#   scripts/fuzz-coverage.sh          prints a table, a line for each parser of fuzz/parsers.txt
#   scripts/fuzz-coverage.sh files    prints its files, too
#   scripts/fuzz-coverage.sh missed   prints the lines that were not reached
#
# Takes LLVM's tools of the toolchain: rustup component add llvm-tools.
set -eu
cd "$(dirname "$0")/.."

cargo=${CARGO:-cargo}
folder=$PWD/target/fuzz-coverage
what=${1:-parsers}
triple=$($cargo -vV | sed -n 's/^host: //p')
tools=$(rustc --print sysroot)/lib/rustlib/$triple/bin
if [ ! -x "$tools/llvm-cov" ]; then
  echo "fuzz-coverage.sh: LLVM's tools are missing: rustup component add llvm-tools" >&2
  exit 6
fi

# Programs of tests, instrumented; the target is named so that build scripts and macros are compiled without.
rm -rf "$folder/profiles"
mkdir -p "$folder/profiles"
RUSTFLAGS="-Cinstrument-coverage" $cargo test --quiet --locked --no-run --message-format=json \
  --target "$triple" --target-dir "$folder/build" --test corpus \
  -p rsalab-fuzz -p rsalab-fuzz-c -p rsalab-fuzz-provider |
  sed -n 's/.*#\(rsalab-fuzz[a-z-]*\)@.*"executable":"\([^"]*\)".*/\1 \2/p' >"$folder/programs"

program_of() {
  case $1 in
    c-*) package=rsalab-fuzz-c ;;
    provider-*) package=rsalab-fuzz-provider ;;
    *) package=rsalab-fuzz ;;
  esac
  sed -n "s/^$package //p" "$folder/programs"
}

printf '| %s | %s | %s | %s |\n|---|---|---|---|\n' parser targets lines covered
grep -v '^#' fuzz/parsers.txt | while IFS='|' read -r parser targets files; do
  profiles=
  for target in $targets; do
    program=$(program_of "$target")
    profile=$folder/profiles/$target.raw
    if [ ! -e "$profile" ]; then
      RSALAB_FUZZ_TARGET=$target LLVM_PROFILE_FILE=$profile "$program" --quiet targets_return_on_seeds >"$folder/log" 2>&1 || {
        cat "$folder/log" >&2
        exit 1
      }
    fi
    profiles="$profiles $profile"
  done
  # shellcheck disable=SC2086
  "$tools/llvm-profdata" merge -sparse -o "$folder/merged" $profiles
  # shellcheck disable=SC2086
  "$tools/llvm-cov" report --instr-profile="$folder/merged" "$program" $files >"$folder/report"
  # Columns 8 and 9 are lines, and those that were not reached.
  awk -v parser="$parser" -v targets="$targets" '$1 == "TOTAL" {
      printf "| %s | %s | %d | %.1f %% |\n", parser, targets, $8, 100 * ($8 - $9) / $8 }' "$folder/report"
  case $what in
    files)
      awk 'NF > 9 && $8 ~ /^[0-9]+$/ && $1 != "TOTAL" {
          printf "|   %s | | %d | %.1f %% |\n", $1, $8, 100 * ($8 - $9) / $8 }' "$folder/report"
      ;;
    missed)
      # shellcheck disable=SC2086
      "$tools/llvm-cov" show --instr-profile="$folder/merged" "$program" $files |
        awk '/^\/.*:$/ { file = $0 } /^ *[0-9]+\| +0\|/ { print file $0 }' | sed "s#^$PWD/##"
      ;;
  esac
done
