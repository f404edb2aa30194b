#!/bin/sh
# Handshakes of HAProxy on 127.0.0.1, with OpenSSL's own RSA and with the provider inside asynchronous jobs, in turns:
#   haproxy.sh [BITS [SECONDS [ROUNDS]]]
# HAProxy runs on one CPU, clients (openssl s_time, a new TLS 1.3 session each time) on another. A line a run; the last column is handshakes for each second of
# CPU time of HAProxy. Needs haproxy, openssl, taskset, and the provider built in release mode.
set -eu

bits=${1:-2048} seconds=${2:-4} rounds=${3:-2}
here=$(cd "$(dirname "$0")/.." && pwd)
built=${CARGO_TARGET_DIR:-$here/../../target}/release/librsalab_provider.so
[ -f "$built" ] || { echo "haproxy.sh: build the provider first: cargo build --release -p rsalab-openssl-provider" >&2; exit 1; }
for program in haproxy openssl taskset; do
  command -v $program >/dev/null || { echo "haproxy.sh: there is no $program here" >&2; exit 1; }
done

folder=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM
cp "$built" "$folder/rsalab.so"
sed "s|/usr/lib/rsalab/rsalab.so|$folder/rsalab.so|" "$here/openssl.cnf" > "$folder/openssl.cnf"
OPENSSL_CONF=$folder/openssl.cnf openssl req -config "$folder/openssl.cnf" -x509 -newkey "rsa:$bits" -nodes \
  -keyout "$folder/key.pem" -subj /CN=localhost -days 2 -out "$folder/chain.pem" 2>/dev/null
cat "$folder/chain.pem" "$folder/key.pem" > "$folder/both.pem"
port=8443

# measure NAME OPENSSL_CONF OPTION CLIENTS
measure() {
  cat > "$folder/haproxy.cfg" <<CONFIGURATION
global
 nbthread 1
 $3
 tune.ssl.cachesize 0
defaults
 mode http
 timeout client 10s
 timeout connect 10s
 timeout server 10s
frontend tls
 bind 127.0.0.1:$port ssl crt $folder/both.pem no-tls-tickets
 http-request return status 200
CONFIGURATION
  OPENSSL_CONF=$2 taskset -c 0 haproxy -f "$folder/haproxy.cfg" > "$folder/log" 2>&1 &
  server=$!
  sleep 1
  before=$(awk '{ print $14 + $15 }' "/proc/$server/stat")
  pids=
  for client in $(seq "$4"); do
    OPENSSL_CONF=/dev/null taskset -c 1 timeout $((seconds + 10)) openssl s_time -connect 127.0.0.1:$port -new -time "$seconds" -tls1_3 \
      > "$folder/client-$client" 2>&1 &
    pids="$pids $!"
  done
  # A client whose time ends within a handshake says that it failed: what counts is what was made.
  for pid in $pids; do wait "$pid" || true; done
  after=$(awk '{ print $14 + $15 }' "/proc/$server/stat")
  kill "$server"
  wait "$server" || true
  server=
  cat "$folder"/client-* | awk -v name="$1" -v clients="$4" -v ticks="$((after - before))" -v hz="$(getconf CLK_TCK)" '
    /connections in .* real/ { made += $1 }
    END { if (!made) exit 1; printf "%-8s %3d clients %7d handshakes %6.2f s of CPU time %7.0f a second of it\n", name, clients, made, ticks / hz, made * hz / ticks }'
  rm -f "$folder"/client-*
}

for number in 1 8 32 128; do
  for _ in $(seq "$rounds"); do
    measure default /dev/null "" "$number"
    measure rsalab "$folder/openssl.cnf" ssl-mode-async "$number"
  done
done
