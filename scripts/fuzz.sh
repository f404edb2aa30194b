#!/bin/sh
# Fuzzing by libFuzzer, on the stable toolchain.
#
#   scripts/fuzz.sh [SECONDS [TARGET...]]   runs each target for so long (120 unless said), and adds to fuzz/totals.csv
#   scripts/fuzz.sh totals                  prints what was run so far, target by target
#   scripts/fuzz.sh keep [TARGET...]        puts a smallest corpus of each target into fuzz/corpus, for `make test`
#
# An input that fails is kept in target/fuzz/TARGET.failed; put it into fuzz/corpus/TARGET with the repair. An input may
# take one second, twice in a row, and 50 MB at once. What was learned stays in target/fuzz, and the next run goes on from
# there.
set -eu
cd "$(dirname "$0")/.."

cargo=${CARGO:-cargo}
folder=$PWD/target/fuzz
totals=fuzz/totals.csv
triple=$($cargo -vV | sed -n 's/^host: //p')
fuzz=$folder/build/$triple/release/fuzz

if [ "${1-}" = totals ]; then
  awk -F, 'NR > 1 { runs[$2] += $4; seconds[$2] += $3; total += $4 }
    END { for (name in runs) printf "%-20s %14.0f executions in %8.0f s\n", name, runs[name], seconds[name]
          printf "%-20s %14.0f executions\n", "all", total }' "$totals" | sort
  exit
fi
command=run
seconds=120
case ${1-} in
  keep) command=keep; shift ;;
  [0-9]*) seconds=$1; shift ;;
esac

# Instructions that count, and that show comparisons: LLVM's sanitizer coverage, which libFuzzer reads.
coverage="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-pc-table"
coverage="$coverage -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-trace-compares"
# A target is named so that build scripts and macros are compiled without.
RUSTFLAGS="$coverage" $cargo build --quiet --release --locked --manifest-path fuzz/runner/Cargo.toml \
  --target "$triple" --target-dir "$folder/build"

if [ $# -eq 0 ]; then
  # shellcheck disable=SC2046
  set -- $(sed -n 's/^        name: "\(.*\)",$/\1/p' fuzz/src/lib.rs)
fi
[ -s "$totals" ] || echo "date,target,seconds,executions,edges,corpus,failed" >"$totals"
failed=0
for target in "$@"; do
  corpus=$folder/$target
  mkdir -p "$corpus"
  RSALAB_FUZZ_TARGET=$target RSALAB_FUZZ_SEEDS=$corpus "$fuzz" 2>"$folder/$target.seeds.log"
  if [ -d "fuzz/corpus/$target" ]; then cp -n "fuzz/corpus/$target"/* "$corpus"; fi
  export RSALAB_FUZZ_TARGET="$target"
  if [ "$command" = keep ]; then
    rm -rf "$folder/$target.smallest"
    mkdir "$folder/$target.smallest"
    "$fuzz" -merge=1 -close_fd_mask=3 "$folder/$target.smallest" "$corpus" 2>/dev/null
    mkdir -p "fuzz/corpus/$target"
    # Short ones: the repository has room for few, and the others come back with the next run.
    find "$folder/$target.smallest" -type f -size -3 | sort | head -n 40 | while read -r input; do
      cp "$input" "fuzz/corpus/$target/"
    done
    echo "$target: $(find "fuzz/corpus/$target" -type f | wc -l) inputs in fuzz/corpus"
    continue
  fi
  log=$folder/$target.log
  code=0
  "$fuzz" -max_total_time="$seconds" -timeout=20 -report_slow_units=1 -rss_limit_mb=2048 \
    -malloc_limit_mb=50 -max_len=8192 -print_final_stats=1 -artifact_prefix="$folder/$target.failed-" "$corpus" >"$log" 2>&1 || code=$?
  # An input that took a second is slow only if it does so again: other programs may have had the CPU.
  for slow in "$folder/$target".failed-slow-unit-*; do
    [ -e "$slow" ] || continue
    took=$("$fuzz" "$slow" 2>&1 | sed -n 's/^Executed .* in \([0-9]*\) ms$/\1/p')
    if [ "${took:-1000}" -lt 1000 ]; then rm "$slow"; else code=1; fi
  done
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  edges=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
  [ "$code" = 0 ] || failed=1
  echo "$(date -u +%F),$target,$seconds,${runs:-0},${edges:-0},$(find "$corpus" -type f | wc -l),$code" >>"$totals"
  if [ "$code" = 0 ]; then word=done; else word="FAILED: see $log"; fi
  printf '%-20s %12s executions, %6s edges: %s\n' "$target" "${runs:-0}" "${edges:-0}" "$word"
done
exit "$failed"
