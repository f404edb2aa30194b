#!/bin/sh
# Servers of this machine with the provider, on 127.0.0.1: full handshakes of TLS 1.2 and 1.3, before and after their
# configuration is loaded again.
#   servers.sh [nginx|apache|python]...
# tests/witness.c, loaded into each, counts who made its signatures; all must be ours.
set -eu

. "$(dirname "$0")/fixture.sh"
python=/usr/bin/python3
need openssl python3 pgrep "$python"
certificate 2048 server

cat > "$folder/client.py" <<'PYTHON'
"""client.py PORT CERTIFICATE COUNT: so many full handshakes of each version, four at a time; the certificate is verified."""
import socket, ssl, sys
from concurrent.futures import ThreadPoolExecutor

port, certificate, count = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])

def handshake(version):
    context = ssl.create_default_context(cafile=certificate)
    context.minimum_version = context.maximum_version = version
    with socket.create_connection(("127.0.0.1", port), timeout=20) as plain:
        with context.wrap_socket(plain, server_hostname="localhost") as connection:
            assert not connection.session_reused
            connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
            assert connection.recv(1), "no answer"

with ThreadPoolExecutor(4) as pool:
    versions = [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3] * count
    print(f"{len(list(pool.map(handshake, versions)))} handshakes", flush=True)
PYTHON

handshakes() { # COUNT of each version
  OPENSSL_CONF=/dev/null timeout 120 "$python" "$folder/client.py" "$port" "$folder/server.pem" "$1" || { tail -20 "$folder/log" >&2; fail "$name: a handshake failed"; }
}

# start COMMAND...: in the background, with the provider and the witness, and waits until it listens.
start() {
  OPENSSL_CONF=$ours LD_PRELOAD=$witness RSALAB_WITNESS=$folder/seen "$@" > "$folder/log" 2>&1 &
  server=$!
  processes="$processes $server"
  tries=0
  until OPENSSL_CONF=/dev/null openssl s_client -connect "127.0.0.1:$port" < /dev/null > /dev/null 2>&1; do
    tries=$((tries + 1))
    [ "$tries" -lt 50 ] && kill -0 "$server" 2>/dev/null || { tail -20 "$folder/log" >&2; fail "$name does not start"; }
    sleep 0.2
  done
}

# reload SIGNAL: the server loads its configuration again, after which none of its processes is one from before.
reload() {
  pgrep -P "$server" | sort > "$folder/before"
  [ -s "$folder/before" ] || fail "$name has no processes of its own"
  kill "-$1" "$server"
  tries=0
  until pgrep -P "$server" | sort > "$folder/after" && [ -s "$folder/after" ] &&
    [ -z "$(comm -12 "$folder/before" "$folder/after")" ]; do
    tries=$((tries + 1))
    [ "$tries" -lt 200 ] || { tail -20 "$folder/log" >&2; fail "$name does not load its configuration again"; }
    sleep 0.2
  done
  ! grep emerg "$folder/log" >&2 || fail "$name refuses its configuration"
}

nginx_server() {
  cat > "$folder/nginx.conf" <<CONFIGURATION
# ANCHOR: nginx
worker_processes 2;
events {}
http {
  server {
    listen 127.0.0.1:$port ssl reuseport;
    ssl_certificate $folder/server.pem;
    ssl_certificate_key $folder/server.key;
    ssl_protocols TLSv1.2 TLSv1.3;
    ssl_session_cache off;
    ssl_session_tickets off;
    return 200;
  }
# ANCHOR_END: nginx
  access_log off;
}
daemon off;
pid $folder/nginx.pid;
error_log $folder/log;
CONFIGURATION
  start nginx -c "$folder/nginx.conf"
  handshakes 100
  reload HUP
  handshakes 100
  stop
  # Two before, and one after at least.
  witnessed 400 3
}

apache_server() {
  modules=/usr/lib/apache2/modules
  [ -f "$modules/mod_mpm_event.so" ] || { echo "SKIPPED: $me: Apache has no event module here" >&2; return 0; }
  cat > "$folder/apache.conf" <<CONFIGURATION
LoadModule mpm_event_module $modules/mod_mpm_event.so
LoadModule authz_core_module $modules/mod_authz_core.so
LoadModule ssl_module $modules/mod_ssl.so
ServerRoot $folder
PidFile $folder/apache.pid
ErrorLog $folder/log
User www-data
Group www-data
ServerName localhost
Listen 127.0.0.1:$port
SSLSessionCache none
SSLSessionTickets off
SSLEngine on
SSLCertificateFile $folder/server.pem
SSLCertificateKeyFile $folder/server.key
CONFIGURATION
  start apache2 -f "$folder/apache.conf" -DFOREGROUND
  handshakes 100
  reload USR1
  handshakes 100
  stop
  # One before, and one after at least.
  witnessed 400 2
}

python_server() {
  cat > "$folder/server.py" <<'PYTHON'
import socket, ssl, sys, threading

def load():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2], sys.argv[3])
    context.num_tickets = 0
    context.options |= ssl.OP_NO_TICKET
    return context

def serve(plain, context):
    try:
        with context.wrap_socket(plain, server_side=True) as connection:
            connection.recv(1000)
            connection.sendall(b"HTTP/1.0 200 OK\r\n\r\n")
    except (OSError, ssl.SSLError) as error:
        print(error, flush=True)

listener = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=100)
while True:
    plain, _ = listener.accept()
    # The key is loaded for each connection: what a server does once in a while, done often.
    threading.Thread(target=serve, args=(plain, load()), daemon=True).start()
PYTHON
  start "$python" "$folder/server.py" "$port" "$folder/server.pem" "$folder/server.key"
  handshakes 200
  stop
  witnessed 400
}

[ $# -gt 0 ] || set -- nginx apache python
for name in "$@"; do
  case $name in
    nginx) program=nginx ;;
    apache) program=apache2 ;;
    python) program=$python ;;
    *) fail "$name: nginx, apache or python" ;;
  esac
  if ! command -v "$program" > /dev/null; then
    echo "SKIPPED: $me: there is no $program here" >&2
    continue
  fi
  rm -rf "$folder/seen"
  # Its own port: what ended may keep the other for a while.
  port=$(free_port)
  witness
  echo "$name:"
  "${name}_server"
done
