#!/bin/sh
# Runs rsalab in parts through Slurm and compares with the whole: three nodes on this machine, one of which is killed.
#   scripts/slurm-test.sh PROGRAM [KEYS [MODULI [PAIRS]]]
# With PAIRS so many studies are measured through Slurm, each beside one without it, which needs a machine at rest: at
# most one pair of twenty may differ. Needs root, for Slurm's daemons start tasks as their users: Debian's slurmd,
# slurmctld and munge are installed where they are missing. Everything else is in a temporary folder, and stopped at the
# end.
set -eu

program=$(realpath "$1")
plan=$(realpath "$(dirname "$0")/parts.toml")
moduli_script=$(realpath "$(dirname "$0")/moduli.sh")
keys=${2:-20000}
moduli=${3:-20000}
pairs=${4:-0}
same_plan=$(realpath "$(dirname "$0")/agreement.toml")
say() { echo "slurm-test: $*"; }
fail() { say "FAILED: $*" >&2; exit 1; }
if [ "$(id -u)" != 0 ]; then echo "SKIPPED: Slurm's daemons need root"; exit 0; fi
if ! command -v slurmctld >/dev/null || ! command -v slurmd >/dev/null || ! command -v munged >/dev/null; then
  apt-get update -qq >/dev/null 2>&1 || true
  apt-get install -y -qq --no-install-recommends slurmd slurmctld slurm-client munge >/dev/null 2>&1 ||
    { echo "SKIPPED: slurmd, slurmctld and munge cannot be installed"; exit 0; }
fi

work=$(mktemp -d)
chmod 755 "$work"
# The processes of tasks on a node, by their environment: others' Slurm may run on this machine, too.
tasks_on() {
  for folder in /proc/[0-9]*; do
    tr '\0' '\n' 2>/dev/null <"$folder/environ" |
      awk -v conf="SLURM_CONF=$work/slurm.conf" -v node="SLURMD_NODENAME=$1" -v pid="${folder#/proc/}" '
        $0 == conf { is_ours = 1 }
        $0 == node { is_there = 1 }
        END { if (is_ours && is_there) print pid }'
  done
}
# Kills the tasks on a node; their steps first, which would report that they have failed.
kill_tasks() {
  tasks=$(tasks_on "$1")
  for pid in $tasks; do
    parent=$(sed -n 's/^PPid:[^0-9]*//p' "/proc/$pid/status" 2>/dev/null || true)
    case $(tr '\0' ' ' 2>/dev/null <"/proc/${parent:-0}/cmdline" || true) in
      *slurmstepd*) kill -9 "$parent" 2>/dev/null || true ;;
    esac
  done
  for pid in $tasks; do kill -9 "$pid" 2>/dev/null || true; done
}
cleanup() {
  # One that was killed on purpose is no reason to leave the others.
  for pid in "$work"/*.pid; do [ -f "$pid" ] && kill -9 "$(cat "$pid")" 2>/dev/null || true; done
  for name in n1 n2 n3; do kill_tasks "$name"; done
  rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

# An authentication of our own: munge's key and socket are nobody else's.
mkdir -p "$work/munge" "$work/state" "$work/spool1" "$work/spool2" "$work/spool3" "$work/run"
chmod 711 "$work/munge"
dd if=/dev/urandom of="$work/munge/key" bs=1 count=1024 2>/dev/null
chmod 400 "$work/munge/key"
munged --force --key-file="$work/munge/key" --socket="$work/munge/socket" --pid-file="$work/munged.pid" \
  --log-file="$work/munge/log" --seed-file="$work/munge/seed" 2>/dev/null
host=$(hostname -s)
cpus=$(nproc)
memory=$(awk '/MemTotal/ {print int($2 / 1024 / 3)}' /proc/meminfo)
cat >"$work/slurm.conf" <<CONF
ClusterName=rsalab
SlurmctldHost=$host(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket=$work/munge/socket
CredType=cred/munge
SlurmUser=root
SlurmctldPort=26817
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd-%n.pid
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool-%n
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
ReturnToService=1
SlurmdTimeout=20
InactiveLimit=0
MinJobAge=600
SchedulerType=sched/backfill
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
PreemptMode=OFF
NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=26821 CPUs=$cpus RealMemory=$memory
NodeName=n2 NodeHostname=$host NodeAddr=127.0.0.1 Port=26822 CPUs=$cpus RealMemory=$memory
NodeName=n3 NodeHostname=$host NodeAddr=127.0.0.1 Port=26823 CPUs=$cpus RealMemory=$memory
PartitionName=all Nodes=n[1-3] Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
CONF
export SLURM_CONF="$work/slurm.conf"
slurmctld -f "$SLURM_CONF"
node() { slurmd -f "$SLURM_CONF" -N "$1"; }
for name in n1 n2 n3; do node "$name"; done

# Waits for a condition, a command, for so many seconds.
until_true() {
  seconds=$1
  shift
  while ! "$@" >/dev/null 2>&1; do
    seconds=$((seconds - 1))
    if [ "$seconds" -le 0 ]; then
      squeue -a || true
      sinfo || true
      tail -n 20 "$work"/*.log || true
      tail -n 5 "$work"/*/logs/* 2>/dev/null || true
      fail "waited in vain for: $*"
    fi
    sleep 1
  done
}
idle() { [ "$(sinfo -h -N -t idle -o %N | wc -l)" -eq "$1" ]; }
until_true 60 idle 3
say "three nodes are up: $(sinfo -V)"
submitted() { sh "$1/submit.sh"; }
ended() { [ -z "$(squeue -h -j "$1" 2>/dev/null)" ]; }
running() { squeue -h -t R -j "$1" -o %N | grep -q "$2"; }
# Waits until a job runs on a node that is to be killed.
until_running() {
  until_true 120 seen "$1" "$2"
  running "$1" "$2" || fail "job $1 ended before a node could be killed: give it more to do"
}
seen() { running "$1" "$2" || ended "$1"; }
# Kills a node: its daemon, and its tasks, which are gone too when a machine has died.
kill_node() {
  say "killing $1"
  kill -9 "$(cat "$work/slurmd-$1.pid")"
  kill_tasks "$1"
  scontrol update nodename="$1" state=down reason=killed
}

cd "$work"
# Keys: a node is killed in the middle, and what ran there is requeued.
begun=$(date +%s)
"$program" slurm keygen --parts 12 --time 60 --out "$work/keys" -- --count "$keys"
line=$(submitted "$work/keys")
say "$line"
parts=$(echo "$line" | sed 's/parts: job \([0-9]*\);.*/\1/')
merge=$(echo "$line" | sed 's/.*merge: job //')
until_running "$parts" n2
sleep 3
running "$parts" n2 || fail "no task ran on n2"
[ -n "$(tasks_on n2)" ] || fail "no process says by its environment that it is a task on n2"
kill_node n2
until_true 1800 ended "$merge"
test -f "$work/keys/keys.tar" || fail "there are no merged keys: $(tail -n 3 "$work"/keys/logs/*)"
distinct=$(tar xOf "$work/keys/keys.tar" manifest.jsonl | tail -n +2 | grep -o '"sha256":"[0-9a-f]*"' | sort -u | wc -l)
numbers=$(tar xOf "$work/keys/keys.tar" manifest.jsonl | tail -n +2 | grep -o '"number":[0-9]*' | sort -u | wc -l)
if [ "$distinct" != "$keys" ] || [ "$numbers" != "$keys" ]; then fail "$distinct distinct keys, $numbers numbers"; fi
requeued=$(grep -l 'are there already\|is complete' "$work"/keys/logs/*.log 2>/dev/null | wc -l)
# One task at least ran on the node that was killed.
if [ "$requeued" -lt 1 ]; then fail "no task says that it went on with a part of keys"; fi
say "keys: $distinct distinct ones of $keys, in $(($(date +%s) - begun)) s; tasks that went on with a part: $requeued"

# A study of 60 cells, a node killed in the middle.
rm -f "$work/slurmd-n2.pid"
node n2
scontrol update nodename=n2 state=resume
until_true 60 idle 3
begun=$(date +%s)
"$program" slurm study --parts 10 --time 60 --shared-nodes --out "$work/study" -- "$plan"
line=$(submitted "$work/study")
say "$line"
parts=$(echo "$line" | sed 's/parts: job \([0-9]*\);.*/\1/')
merge=$(echo "$line" | sed 's/.*merge: job //')
until_running "$parts" n3
sleep 2
kill_node n3
until_true 1800 ended "$merge"
test -f "$work/study/whole/results.csv" || fail "there is no merged study: $(tail -n 3 "$work"/study/logs/*)"
cells=$(tail -n +2 "$work/study/whole/results.csv" | wc -l)
done_cells=$(tail -n +2 "$work/study/whole/results.csv" | grep -c ',done,' || true)
if [ "$cells" != 60 ] || [ "$done_cells" != 60 ]; then fail "$cells cells, $done_cells of them done"; fi
say "study: $cells cells, each once, all done, in $(($(date +%s) - begun)) s"

# An audit in four parts, a node killed in the middle: the findings are those of one audit.
rm -f "$work/slurmd-n3.pid"
node n3
scontrol update nodename=n3 state=resume
until_true 60 idle 3
sh "$moduli_script" "$moduli" >"$work/moduli"
begun=$(date +%s)
"$program" slurm audit --parts 4 --time 60 --out "$work/audit" -- "$work/moduli" --memory 500M
line=$(submitted "$work/audit")
say "$line"
parts=$(echo "$line" | sed 's/parts: job \([0-9]*\);.*/\1/')
merge=$(echo "$line" | sed 's/.*merge: job //')
until_running "$parts" n1
kill_node n1
until_true 7200 ended "$merge"
test -f "$work/audit/findings.jsonl" || fail "there are no merged findings: $(tail -n 3 "$work"/audit/logs/*)"
took=$(($(date +%s) - begun))
"$program" audit "$work/moduli" --json --fail-on never --quiet >"$work/one.jsonl"
cmp "$work/audit/findings.jsonl" "$work/one.jsonl" || fail "the parts have found something else than one audit"
grep -q '"finding":"shared-prime"' "$work/one.jsonl" || fail "the shared prime was not found"
say "audit: $moduli moduli in 4 parts, $(wc -l <"$work/one.jsonl") lines as of one audit, in $took s"

# Measurements through Slurm and without it, in turn: 'compare' exits with 4 where a cell has changed.
if [ "$pairs" -gt 0 ]; then
  rm -f "$work/slurmd-n1.pid"
  node n1
  scontrol update nodename=n1 state=resume
  until_true 60 idle 3
  differ=0
  for pair in $(seq "$pairs"); do
    seed=$(printf '%064x' "$pair")
    plain() { "$program" study "$same_plan" --seed "$seed" --quiet --out "$work/plain-$pair" >/dev/null; }
    # The first of a pair is now the one, now the other.
    if [ $((pair % 2)) = 0 ]; then plain; fi
    "$program" slurm study --parts 1 --time 60 --out "$work/slurm-$pair" -- "$same_plan" --seed "$seed" >/dev/null
    line=$(submitted "$work/slurm-$pair")
    until_true 600 ended "$(echo "$line" | sed 's/.*merge: job //')"
    if [ $((pair % 2)) = 1 ]; then plain; fi
    if ! "$program" compare "$work/plain-$pair" "$work/slurm-$pair/whole" >"$work/compared"; then
      differ=$((differ + 1))
      say "pair $pair differs:"
      cat "$work/compared"
    fi
  done
  say "through Slurm and without it: $((pairs - differ)) of $pairs pairs have no cell that differs"
  if [ $((differ * 20)) -gt "$pairs" ]; then fail "more than one of twenty differ"; fi
fi
say "ok"
