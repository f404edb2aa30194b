#!/bin/sh
# Full TLS 1.3 handshakes of HAProxy on 127.0.0.1, with OpenSSL's own RSA and with the provider inside asynchronous
# jobs, in turns:
#   haproxy.sh [--json] [--bits "2048 4096"] [--threads "1 2"] [--clients "1 8 32 128"] [--seconds 4] [--rounds 3]
#   [--server-cpus LIST] [--client-cpus LIST]
# HAProxy runs on the first CPUs, as many as it has threads; the clients (integrations/rustls/examples/handshakes.rs) on
# the others, or on all where there are no others. The table has the medians over rounds. `busy` is HAProxy's CPU time
# over the time that its CPUs had: far below 100 %, the clients were the slower side, and only CPU times compare. It
# fails if a handshake does, or if the provider did not sign for each of its own. Needs haproxy, openssl, cc, python3,
# taskset, and the provider and the clients built in release mode.
set -eu

json= bits="2048 4096" threads="1 2" clients="1 8 32 128" seconds=4 rounds=3 server_cpus= client_cpus=
while [ $# -gt 0 ]; do
  case $1 in
    --json) json=1; shift; continue ;;
    --bits | --threads | --clients | --seconds | --rounds | --server-cpus | --client-cpus) [ $# -gt 1 ] || { echo "haproxy.sh: $1 needs a value" >&2; exit 2; } ;;
    *) echo "haproxy.sh: there is no option $1; its head says which there are" >&2; exit 2 ;;
  esac
  case $1 in
    --bits) bits=$2 ;;
    --threads) threads=$2 ;;
    --clients) clients=$2 ;;
    --seconds) seconds=$2 ;;
    --rounds) rounds=$2 ;;
    --server-cpus) server_cpus=$2 ;;
    --client-cpus) client_cpus=$2 ;;
  esac
  shift 2
done
. "$(dirname "$0")/fixture.sh"
need haproxy openssl cc python3 taskset
handshakes=$target/release/examples/handshakes
[ -x "$handshakes" ] || fail "build the clients first: cargo build --release -p rsalab-rustls --example handshakes"
cc -shared -fPIC -O2 -Wall -Wextra -Werror -o "$folder/histogram.so" "$here/scripts/histogram.c" -l:libcrypto.so.3 -lpthread
port=$(free_port) cpus=$(getconf _NPROCESSORS_ONLN)

# place THREADS: $on and $from, the CPUs of HAProxy and of the clients.
place() {
  on=${server_cpus:-0-$(($1 - 1))}
  if [ "$cpus" -gt "$1" ]; then from=$1-$((cpus - 1)); else from=0-$((cpus - 1)); fi
  from=${client_cpus:-$from}
}

# Signatures a second, one at a time, on HAProxy's first CPU: by the default provider, or ours.
sign_rate() {
  OPENSSL_CONF=$2 taskset -c "${on%%[-,]*}" openssl speed -mr -seconds "$seconds" "rsa$1" 2>/dev/null | awk -F: '/^\+F2/ { print $4 }'
}

# Ticks of CPU time of the programs that have ended.
times_of_children() { awk '{ print $16 + $17 }' "/proc/$$/stat"; }

# measure PROVIDER OPENSSL_CONF OPTION BITS THREADS CLIENTS
measure() {
  cat > "$folder/haproxy.cfg" <<CONFIGURATION
global
 nbthread $5
 $3
 tune.ssl.cachesize 0
defaults
 mode http
 timeout client 60s
 timeout connect 60s
 timeout server 60s
frontend tls
 bind 127.0.0.1:$port ssl crt $folder/$4.both no-tls-tickets
 http-request return status 200
CONFIGURATION
  rm -f "$folder/ask" "$folder/ask.out"
  mkfifo "$folder/ask"
  OPENSSL_CONF=$2 LD_PRELOAD=$folder/histogram.so RSALAB_HISTOGRAM=$folder/ask taskset -c "$on" haproxy -db -f "$folder/haproxy.cfg" > "$folder/log" 2>&1 &
  processes=$!
  sleep 1
  kill -0 "$processes" 2>/dev/null || { cat "$folder/log" >&2; fail "haproxy does not start"; }
  before=$(awk '{ print $14 + $15 }' "/proc/$processes/stat")
  client=$(times_of_children)
  taskset -c "$from" "$handshakes" "$port" "$6" "$seconds" > "$folder/line" || { cat "$folder/log" >&2; fail "no handshakes"; }
  line="$(cat "$folder/line") $(($(times_of_children) - client))"
  after=$(awk '{ print $14 + $15 }' "/proc/$processes/stat")
  echo now > "$folder/ask"
  for _ in $(seq 50); do [ ! -s "$folder/ask.out" ] || break; sleep 0.1; done
  echo "$4 $5 $6 $1 $line $((after - before)) $(cat "$folder/ask.out" 2>/dev/null)" >> "$folder/runs"
  echo "haproxy.sh: RSA-$4, $5 threads, $6 clients, $1: $line" >&2
  stop
}

for size in $bits; do
  certificate "$size" "$size"
  cat "$folder/$size.pem" "$folder/$size.key" > "$folder/$size.both"
  for number in $threads; do
    place "$number"
    echo "$size $number $(sign_rate "$size" /dev/null) $(sign_rate "$size" "$ours")" >> "$folder/signing"
    for count in $clients; do
      for _ in $(seq "$rounds"); do
        measure default /dev/null "" "$size" "$number" "$count"
        measure rsalab "$ours" ssl-mode-async "$size" "$number" "$count"
      done
    done
  done
done
haproxy -v | head -n 1 > "$folder/version"
openssl version >> "$folder/version"
python3 "$here/scripts/handshakes.py" "$folder" "$(getconf CLK_TCK)" "${json:-0}"
