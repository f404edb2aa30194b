# Sourced by the scripts beside it: finds the provider that was built, and makes a folder with it and its openssl.cnf.
# After it: $here (the crate), $folder (gone at the end), $ours (openssl.cnf with our provider), $module (rsalab.so),
# skip, need, stop, certificate.

here=$(cd "$(dirname "$0")/.." && pwd)
target=${CARGO_TARGET_DIR:-$here/../../target}
built=$target/release/librsalab_provider.so
me=$(basename "$0")
PATH=$PATH:/usr/sbin:/sbin

skip() { echo "SKIPPED: $me: $*" >&2; exit 0; }
fail() { echo "$me: $*" >&2; exit 1; }
need() {
  for program in "$@"; do
    command -v "$program" >/dev/null || skip "there is no $program here"
  done
}

[ -f "$built" ] || fail "build the provider first: cargo build --release -p rsalab-openssl-provider"

folder=$(mktemp -d)
# Servers drop their rights, and must still find what is theirs.
chmod 755 "$folder"
# The processes to end, and what else is to be done at the end.
processes=
stop() {
  for process in $processes; do kill "$process" 2>/dev/null || true; done
  for process in $processes; do wait "$process" 2>/dev/null || true; done
  processes=
}
trap 'stop; rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

module=$folder/rsalab.so
cp "$built" "$module"
ours=$folder/openssl.cnf
sed "s|/usr/lib/rsalab/rsalab.so|$module|" "$here/openssl.cnf" > "$ours"

# certificate BITS NAME: $folder/NAME.pem and NAME.key, signed with themselves, for localhost.
certificate() {
  OPENSSL_CONF=$ours openssl req -config "$ours" -x509 -newkey "rsa:$1" -nodes -keyout "$folder/$2.key" -out "$folder/$2.pem" \
    -subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -days 2 2>/dev/null
}

# free_port: a port of 127.0.0.1 that nobody listens on. A fixed one may be another run's, and HAProxy would share it
# (SO_REUSEPORT): each would get the other's clients.
free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# witness: compiles tests/witness.c and makes the folder where it writes.
witness() {
  need cc
  witness=$folder/witness.so
  cc -shared -fPIC -O2 -Wall -Werror -o "$witness" "$here/tests/witness.c" -l:libcrypto.so.3 -ldl
  mkdir -p "$folder/seen"
  chmod 777 "$folder/seen"
}

# witnessed COUNT [PROCESSES]: that all signatures so far were made by the provider, at least COUNT of them, in at least
# so many processes.
witnessed() {
  cat "$folder"/seen/* 2>/dev/null | awk -v wanted="$1" -v processes="${2:-1}" '
    $1 == "rsalab" { made += $2; seen += $2 > 0 }
    $1 == "others" { others += $2 }
    $1 == "batches" { for (n = 2; n <= NF; n++) { split($n, pair, ":"); counted += pair[1] * pair[2] } }
    END {
      printf "signatures: %d by rsalab in %d processes (its own count: %d), %d by others\n", made, seen, counted, others
      exit !(made >= wanted && seen >= processes && others == 0 && counted >= made)
    }' || fail "the provider did not sign all"
}
