#!/bin/sh
# Fuzzing by libFuzzer, on the stable toolchain.
#
#   scripts/fuzz.sh [SECONDS [TARGET...]]   runs each target for so long (120 unless said), and adds to fuzz/totals.csv
#   scripts/fuzz.sh totals                  prints what was run so far, target by target
#   scripts/fuzz.sh keep [TARGET...]        puts a smallest corpus of each target into its crate's corpus, for `make test`
#
# An input that fails is kept in target/fuzz/TARGET.failed; put it into the folder corpus/TARGET of the target's crate
# with the repair. An input may take one second, twice in a row, and 50 MB at once; the entry points of C and of the
# provider, whose memory is their own allocator's, 512 MB in the whole process. What was learned stays in target/fuzz,
# and the next run goes on from there. RSALAB_FUZZ_OPTIONS has more options of libFuzzer, such as -max_len=256.
set -eu
cd "$(dirname "$0")/.."

cargo=${CARGO:-cargo}
folder=$PWD/target/fuzz
totals=fuzz/totals.csv
triple=$($cargo -vV | sed -n 's/^host: //p')
programs=$folder/build/$triple/release

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

# The crate of a target: a folder with its sources and its corpus.
crate_of() {
  for crate in fuzz fuzz/c fuzz/provider; do
    if grep -q "name: \"$1\"," "$crate/src/lib.rs"; then
      echo "$crate"
      return
    fi
  done
  echo "fuzz.sh: there is no target $1" >&2
  exit 2
}

if [ $# -eq 0 ]; then
  # shellcheck disable=SC2046
  set -- $(sed -n 's/^        name: "\(.*\)",$/\1/p' fuzz/src/lib.rs fuzz/c/src/lib.rs fuzz/provider/src/lib.rs)
fi
# Targets that read files write one for each input: not on a disk.
[ -d /dev/shm ] && export TMPDIR=/dev/shm
header=date,target,seconds,executions,edges,corpus,failed,cpu
[ -s "$totals" ] || echo "$header" >"$totals"
cpu=$(awk -F': *' '/^cpu family/ { family = $2 } /^model\t/ { model = $2 } /^model name/ { name = $2 }
  END { print name " family " family " model " model }' /proc/cpuinfo 2>/dev/null | tr -d ,)
failed=0
for target in "$@"; do
  crate=$(crate_of "$target")
  fuzz=$programs/$(echo "$crate" | tr / -)
  corpus=$folder/$target
  kept=$crate/corpus/$target
  mkdir -p "$corpus"
  RSALAB_FUZZ_TARGET=$target RSALAB_FUZZ_SEEDS=$corpus "$fuzz" 2>"$folder/$target.seeds.log"
  # Where they are already they are the same; coreutils 9.2 to 9.4 fail for what cp -n leaves out.
  if [ -d "$kept" ]; then cp "$kept"/* "$corpus"; fi
  export RSALAB_FUZZ_TARGET="$target"
  if [ "$command" = keep ]; then
    # The seeds are made anew each time: only what reaches more is kept, a smallest set of it, and short ones of it:
    # the repository has room for few, and the others come back with the next run.
    rm -rf "$folder/$target.smallest" "$folder/$target.short"
    mkdir "$folder/$target.smallest" "$folder/$target.short"
    RSALAB_FUZZ_SEEDS=$folder/$target.smallest "$fuzz" 2>/dev/null
    find "$corpus" -type f -size -3 ! -name 'seed-*' -exec cp {} "$folder/$target.short/" \;
    "$fuzz" -merge=1 -close_fd_mask=3 "$folder/$target.smallest" "$folder/$target.short" 2>/dev/null
    mkdir -p "$kept"
    find "$folder/$target.smallest" -type f ! -name 'seed-*' | sort | while read -r input; do
      cp "$input" "$kept/"
    done
    echo "$target: $(find "$kept" -type f | wc -l) inputs in $kept"
    continue
  fi
  case $crate in
    fuzz) memory=2048 ;;
    *) memory=512 ;;
  esac
  # A database has a page for each table and index, and cut it is none.
  case $target in
    database) longest=262144 ;;
    *) longest=8192 ;;
  esac
  log=$folder/$target.log
  code=0
  # shellcheck disable=SC2086
  "$fuzz" -max_total_time="$seconds" -timeout=20 -report_slow_units=1 -rss_limit_mb=$memory -max_len=$longest \
    -print_final_stats=1 -artifact_prefix="$folder/$target.failed-" ${RSALAB_FUZZ_OPTIONS-} "$corpus" \
    >"$log" 2>&1 || code=$?
  # An input that took a second is slow only if it does so again: other programs may have had the CPU.
  for slow in "$folder/$target".failed-slow-unit-*; do
    [ -e "$slow" ] || continue
    took=$("$fuzz" "$slow" 2>&1 | sed -n 's/^Executed .* in \([0-9]*\) ms$/\1/p')
    if [ "${took:-1000}" -lt 1000 ]; then rm "$slow"; else code=1; fi
  done
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  edges=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
  [ "$code" = 0 ] || failed=1
  echo "$(date -u +%F),$target,$seconds,${runs:-0},${edges:-0},$(find "$corpus" -type f | wc -l),$code,$cpu" >>"$totals"
  if [ "$code" = 0 ]; then word=done; else word="FAILED: see $log"; fi
  printf '%-20s %12s executions, %6s edges: %s\n' "$target" "${runs:-0}" "${edges:-0}" "$word"
done
exit "$failed"
