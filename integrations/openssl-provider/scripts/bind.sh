#!/bin/sh
# Signs a zone with BIND's dnssec-signzone, with OpenSSL's own RSA, with the provider, and with one whose threads share
# passes, in turns:
#   bind.sh [NAMES [ROUNDS]]
# A zone of NAMES names (20,000), RSASHA256 with keys of 2048 bits, 16 threads. A line a run: signatures a second, by
# the time of the whole run, and for each second of CPU time. The zones must be the same, octet by octet (PKCS#1 v1.5
# has one signature for each message), and dnssec-verify must accept them.
set -eu

names=${1:-20000} rounds=${2:-3}
. "$(dirname "$0")/fixture.sh"
need dnssec-keygen dnssec-signzone dnssec-verify

cd "$folder"
shared=$folder/shared.cnf
# ANCHOR: shared
sed 's/^# share-wait/share-wait/' "$ours" > "$shared"
# ANCHOR_END: shared
! cmp -s "$ours" "$shared" || fail "openssl.cnf has no share-wait"
awk -v names="$names" 'BEGIN {
  print "$TTL 3600\n@ SOA ns hostmaster 1 7200 3600 1209600 3600\n@ NS ns\nns A 192.0.2.1"
  for (n = 0; n < names; n++) printf "name%d A 192.0.2.%d\n", n, n % 250 + 2
}' > zone
OPENSSL_CONF=/dev/null dnssec-keygen -q -K "$folder" -a RSASHA256 -b 2048 -f KSK example.test > ksk
OPENSSL_CONF=$ours dnssec-keygen -q -K "$folder" -a RSASHA256 -b 2048 example.test > zsk
cat "$(cat ksk).key" "$(cat zsk).key" >> zone

# ANCHOR: sign
sign() { # OPENSSL_CONF OUTPUT
  OPENSSL_CONF=$1 dnssec-signzone -n 16 -P -t -o example.test -s 20260101000000 -e 20360101000000 -f "$2" zone
}
# ANCHOR_END: sign

# measure NAME OPENSSL_CONF
measure() {
  rm -f "$1.zone" dsset-*
  # The shell's own times: what it printed before and after is what its children used.
  ( sign "$2" "$1.zone" > "$1.log" 2>&1 || { cat "$1.log" >&2; exit 1; }; times > "$1.times" )
  awk -v name="$1" '
    function seconds(text,  parts) { split(text, parts, /[ms]/); return parts[1] * 60 + parts[2] }
    /Signatures generated/ { made = $3 }
    /Runtime in seconds/ { real = $4 }
    FILENAME ~ /times$/ && FNR == 2 { cpu = seconds($1) + seconds($2) }
    END {
      if (made < 1 || !real || !cpu) { print name ": no figures" > "/dev/stderr"; exit 1 }
      printf "%-8s %7d signatures in %7.3f s: %7.0f a second, %7.0f a second of CPU time\n", name, made, real, made / real, made / cpu
    }' "$1.log" "$1.times" > "$1.figures"
  # Not by a pipe from awk, which would lose that there are none.
  tee -a results < "$1.figures"
}

for _ in $(seq "$rounds"); do
  measure default /dev/null
  measure rsalab "$ours"
  measure shared "$shared"
  # The order of records within the file is that of the threads' ends.
  for which in default rsalab shared; do
    grep -c RRSIG "$which.zone" >/dev/null || fail "$which.zone has no signatures"
    named-compilezone -q -s full -o "$which.canonical" example.test "$which.zone" 2>/dev/null || sort "$which.zone" > "$which.canonical"
  done
  cmp default.canonical rsalab.canonical || fail "the two zones differ"
  cmp default.canonical shared.canonical || fail "the zone of shared passes differs"
  # Checked with OpenSSL's own RSA, and with ours.
  OPENSSL_CONF=/dev/null dnssec-verify -q -o example.test rsalab.zone || fail "dnssec-verify refuses the zone"
  OPENSSL_CONF=$ours dnssec-verify -q -o example.test default.zone || fail "dnssec-verify with the provider refuses the zone"
done
# That those runs were ours, and not OpenSSL's twice.
witness
OPENSSL_CONF=$shared LD_PRELOAD=$witness RSALAB_WITNESS=$folder/seen \
  dnssec-signzone -n 16 -P -o example.test -s 20260101000000 -e 20360101000000 -f witnessed.zone zone >/dev/null 2>&1 || fail "signing did not work"
witnessed "$names"
awk '{ real[$1] += $5; cpu[$1] += $2 / $10 }
  function compare(name) {
    printf "%s is %.2f times as fast as default by the clock, %.2f times by CPU time\n", name, real["default"] / real[name], cpu["default"] / cpu[name]
  }
  END { compare("rsalab"); compare("shared") }' results
echo "the zones agree, dnssec-verify accepts them"
