#!/bin/sh
# HAProxy with the provider inside asynchronous jobs, under load on 127.0.0.1 for MINUTES (30):
#   soak.sh [MINUTES]
# Four clients make full handshakes without pause, two more break theirs off in the middle, the key is replaced every
# second, and in the last fifth of the time workers are restarted. It fails if a handshake fails that no client broke
# off, or if a worker that is not restarted grows by more than 4 MiB in the second half of its life: in the first,
# HAProxy loses 1,024 paused jobs of some 24 KiB (its issue #3453), and then none is paused any more.
set -eu

minutes=${1:-30}
. "$(dirname "$0")/fixture.sh"
python=/usr/bin/python3
need haproxy openssl python3 "$python"
name=haproxy port=$(free_port)
certificate 2048 server
OPENSSL_CONF=$ours openssl req -config "$ours" -x509 -newkey rsa:2048 -nodes -keyout "$folder/other.key" -out "$folder/other.pem" \
  -subj /CN=other -addext subjectAltName=DNS:localhost -days 2 2>/dev/null
for which in server other; do cat "$folder/$which.pem" "$folder/$which.key" > "$folder/$which.both"; done
cp "$folder/server.both" "$folder/both.pem"
cat > "$folder/haproxy.cfg" <<CONFIGURATION
# ANCHOR: haproxy
global
 nbthread 2
 ssl-mode-async
 tune.ssl.cachesize 0
 stats socket $folder/admin level admin expose-fd listeners
defaults
 mode http
 timeout client 20s
 timeout connect 20s
 timeout server 20s
frontend tls
 bind 127.0.0.1:$port ssl crt $folder/both.pem no-tls-tickets
 http-request return status 200
# ANCHOR_END: haproxy
CONFIGURATION
cat > "$folder/load.py" <<'PYTHON'
"""load.py FOLDER PORT SECONDS MASTER"""
import glob, os, random, signal, socket, ssl, struct, subprocess, sys, threading, time

folder, port, seconds, master = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
begin = time.monotonic()
end = begin + seconds
restarts_from = begin + 0.8 * seconds
made, broken, failed, replaced, restarts = 0, 0, [], 0, 0
lock = threading.Lock()

def new_context(version):
    context = ssl.create_default_context()
    for which in ("server", "other"):
        context.load_verify_locations(f"{folder}/{which}.pem")
    context.minimum_version = context.maximum_version = version
    return context

versions = [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3]

def handshakes(version):
    global made
    context = new_context(version)
    while time.monotonic() < end:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=20) as plain:
                with context.wrap_socket(plain, server_hostname="localhost") as connection:
                    connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
                    assert connection.recv(1), "no answer"
        except Exception as error:
            with lock:
                failed.append(f"{time.monotonic() - begin:.1f} s: {error!r}")
        else:
            with lock:
                made += 1

def breaks(version):
    """Sends a ClientHello and resets the connection while the server answers."""
    global broken
    context = new_context(version)
    while time.monotonic() < end:
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        client = context.wrap_bio(incoming, outgoing, server_hostname="localhost")
        try:
            client.do_handshake()
        except ssl.SSLWantReadError:
            pass
        try:
            plain = socket.create_connection(("127.0.0.1", port), timeout=20)
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            plain.sendall(outgoing.read())
            time.sleep(random.uniform(0, 0.004))
            plain.close()
        except OSError:
            pass
        with lock:
            broken += 1

def command(text):
    with socket.socket(socket.AF_UNIX) as admin:
        admin.settimeout(10)
        admin.connect(f"{folder}/admin")
        admin.sendall(text.encode() + b"\n")
        answer = b""
        while part := admin.recv(4096):
            answer += part
    return answer.decode()

def worker():
    children = subprocess.run(["pgrep", "-n", "-P", str(master)], capture_output=True, text=True).stdout.split()
    return int(children[0])

def resident(process):
    with open(f"/proc/{process}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))

threads = [threading.Thread(target=handshakes, args=(version,)) for version in versions * 2]
threads += [threading.Thread(target=breaks, args=(version,)) for version in versions]
for thread in threads:
    thread.start()
first, samples = worker(), []
while time.monotonic() < end:
    time.sleep(1)
    which = ("server", "other")[replaced % 2]
    if time.monotonic() < restarts_from:
        with open(f"{folder}/{which}.both") as pair:
            text = pair.read()
        command(f"set ssl cert {folder}/both.pem <<\n{text}")
        answer = command(f"commit ssl cert {folder}/both.pem")
        assert "Success" in answer, answer
        replaced += 1
        samples.append(resident(first))
    elif restarts < 5:
        os.kill(master, signal.SIGUSR2)
        restarts += 1
        time.sleep(2)
for thread in threads:
    thread.join()

second_half = samples[len(samples) // 2 :]
print(f"{made} handshakes, {broken} broken off, {len(failed)} failed; key replaced {replaced} times, workers restarted {restarts} times")
steps = [samples[len(samples) * step // 8 - (step == 8)] for step in range(9)]
print(f"resident memory of the first worker, KiB, at eighths of its time: {steps}")
growth = max(second_half) - second_half[0]
print(f"most above the middle's: {growth} KiB")
for line in failed[:10]:
    print(line)
sys.exit(bool(failed) or growth > 4096 or made == 0 or restarts != 5)
PYTHON
# Without the witness of servers.sh: opening its file for each signature makes a process of two threads grow.
OPENSSL_CONF=$ours haproxy -W -f "$folder/haproxy.cfg" > "$folder/log" 2>&1 &
server=$!
processes=$server
sleep 1
kill -0 "$server" 2>/dev/null || { cat "$folder/log" >&2; fail "haproxy does not start"; }
OPENSSL_CONF=/dev/null "$python" "$folder/load.py" "$folder" "$port" "$(awk "BEGIN { print 60 * $minutes }")" "$server" || { tail -5 "$folder/log" >&2; fail "see above"; }
if grep -q -i "segfault\|exited with code 1[0-9][0-9]" "$folder/log"; then cat "$folder/log" >&2; fail "a worker died"; fi
echo "no handshake failed, memory does not grow any more"
